"""The provider's memory tool over a real store: its texts, its commits, its walls."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.memory import Memory
from reverie.memory.store import timeline
from reverie.memory.store.topic_store import Store
from reverie.messages.blocks import Json
from reverie.messages.codec import tool_to_wire
from reverie.tools.desk import Desk
from reverie.tools.memory_files import MemoryFiles
from reverie.tools.tool import ToolAnswer, ToolMistake
from tests.memory.stores import open_store
from tests.requirements import requirement
from tests.tools.kit import call, give_memory, told


@pytest.fixture
def store(desk: Desk, tmp_path: Path) -> Iterator[Store]:
    with Memory(tmp_path / "memory", project=desk.project, settings=desk.settings, now=desk.now) as opened:
        opened.directory.mkdir()
        give_memory(desk, opened)
        yield opened.store


async def memory(store: Store, desk: Desk, command: str, **given: Json) -> ToolAnswer:
    return await call(MemoryFiles(store), desk, command=command, **given)


async def failure(store: Store, desk: Desk, command: str, **given: Json) -> str:
    answer = await memory(store, desk, command, **given)
    assert answer.is_error
    return told(answer)


@requirement("tools:memory-tool:texts")
def test_the_provider_is_told_of_its_own_kind(store: Store) -> None:
    assert tool_to_wire(MemoryFiles(store).spec) == {"type": "memory_20250818", "name": "memory"}


@requirement("tools:memory-tool:texts")
async def test_view_shows_folders_and_numbered_lines(store: Store, desk: Desk) -> None:
    await memory(store, desk, "create", path="/memories/a.md", file_text="one\ntwo\nthree\n")
    await memory(store, desk, "create", path="/memories/sub/deep/b.md", file_text="x" * 3000)

    listed = told(await memory(store, desk, "view", path="/memories"))
    whole = told(await memory(store, desk, "view", path="/memories/a.md"))
    part = told(await memory(store, desk, "view", path="/memories/a.md", view_range=[2, -1]))

    head, *rows = listed.split("\n")
    assert head == (
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:"
    )
    assert [row.split("\t")[1] for row in rows] == [
        "/memories",
        "/memories/MEMORY.md",
        "/memories/a.md",
        "/memories/sub",
        "/memories/sub/deep",
    ]
    assert rows[2].startswith("14B\t")
    assert rows[3].startswith("2.9K\t")
    assert whole == "Here's the content of /memories/a.md with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree"
    assert part.endswith("numbers:\n     2\ttwo\n     3\tthree")
    assert await failure(store, desk, "view", path="/memories/no.md") == (
        "The path /memories/no.md does not exist. Please provide a valid path."
    )


@requirement("tools:memory-tool:texts")
async def test_create_writes_exactly_what_was_given_and_only_once(store: Store, desk: Desk) -> None:
    text = "---\nname: N\n---\n\n  odd\ttext  \n\n"

    made = await memory(store, desk, "create", path="/memories/a.md", file_text=text)

    assert told(made) == "File created successfully at: /memories/a.md"
    assert (store.folder.directory / "a.md").read_text(encoding="utf-8") == text
    again = await failure(store, desk, "create", path="/memories/a.md", file_text="x")
    assert again == "Error: File /memories/a.md already exists"


@requirement("tools:memory-tool:texts")
async def test_str_replace(store: Store, desk: Desk) -> None:
    await memory(store, desk, "create", path="/memories/a.md", file_text="one\ntwo\none\n")

    done = told(await memory(store, desk, "str_replace", path="/memories/a.md", old_str="two", new_str="2\n3"))
    assert done == "The memory file has been edited.\n     1\tone\n     2\t2\n     3\t3\n     4\tone"
    assert await failure(store, desk, "str_replace", path="/memories/a.md", old_str="zzz", new_str="") == (
        "No replacement was performed, old_str `zzz` did not appear verbatim in /memories/a.md."
    )
    assert await failure(store, desk, "str_replace", path="/memories/a.md", old_str="one", new_str="") == (
        "No replacement was performed. Multiple occurrences of old_str `one` in lines: 1, 4. Please ensure it is unique"
    )
    await memory(store, desk, "str_replace", path="/memories/a.md", old_str="2\n")
    assert (store.folder.directory / "a.md").read_text(encoding="utf-8") == "one\n3\none\n"


@requirement("tools:memory-tool:texts")
async def test_insert(store: Store, desk: Desk) -> None:
    path = "/memories/a.md"
    await memory(store, desk, "create", path=path, file_text="one\ntwo")

    done = told(await memory(store, desk, "insert", path=path, insert_line=2, insert_text="three"))
    await memory(store, desk, "insert", path=path, insert_line=0, insert_text="zero\n")

    assert done == "The file /memories/a.md has been edited."
    assert (store.folder.directory / "a.md").read_text(encoding="utf-8") == "zero\none\ntwo\nthree\n"
    assert await failure(store, desk, "insert", path=path, insert_line=5, insert_text="x") == (
        "Error: Invalid `insert_line` parameter: 5. It should be within the range of lines of the file: [0, 4]"
    )
    assert await failure(store, desk, "insert", path="/memories/b.md", insert_line=0, insert_text="x") == (
        "Error: The path /memories/b.md does not exist"
    )


@requirement("tools:memory-tool:texts")
async def test_delete_and_rename_files_and_folders(store: Store, desk: Desk) -> None:
    await memory(store, desk, "create", path="/memories/sub/a.md", file_text="alpha\n")
    await memory(store, desk, "create", path="/memories/sub/b.md", file_text="beta\n")
    await memory(store, desk, "create", path="/memories/c.md", file_text="gamma\n")

    renamed = told(await memory(store, desk, "rename", old_path="/memories/sub", new_path="/memories/new"))
    assert renamed == "Successfully renamed /memories/sub to /memories/new"
    assert (store.folder.directory / "new" / "b.md").read_text(encoding="utf-8") == "beta\n"
    assert not (store.folder.directory / "sub").exists()
    assert await failure(store, desk, "rename", old_path="/memories/c.md", new_path="/memories/new/a.md") == (
        "Error: The destination /memories/new/a.md already exists"
    )
    assert await failure(store, desk, "rename", old_path="/memories/x.md", new_path="/memories/y.md") == (
        "Error: The path /memories/x.md does not exist"
    )
    assert told(await memory(store, desk, "delete", path="/memories/new")) == "Successfully deleted /memories/new"
    assert not (store.folder.directory / "new").exists()
    assert await failure(store, desk, "delete", path="/memories/new") == (
        "Error: The path /memories/new does not exist"
    )
    assert "cannot be deleted" in await failure(store, desk, "delete", path="/memories")
    assert (store.folder.directory / "c.md").exists()


@requirement("tools:memory-tool:commits")
async def test_every_write_is_a_commit_of_the_agent_that_can_be_undone(store: Store, desk: Desk) -> None:
    await memory(store, desk, "create", path="/memories/a.md", file_text="one\n")
    await memory(store, desk, "delete", path="/memories/a.md")

    latest, first = timeline.log(store)[:2]
    assert (latest.change.author, latest.change.reason) == ("agent", "memory tool: delete /memories/a.md")
    assert first.change.reason == "memory tool: create /memories/a.md"
    timeline.undo(store, latest.commit)
    assert (store.folder.directory / "a.md").read_text(encoding="utf-8") == "one\n"


@requirement("tools:memory-tool:commits")
async def test_words_of_the_model_are_never_what_the_user_said(store: Store, desk: Desk) -> None:
    text = "---\nname: N\ntrust: said\n---\nold words\n"
    store.write_files({"mine.md": text}, author="user", reason="test")

    text = text.replace("old words", "other thoughts")
    await memory(store, desk, "create", path="/memories/a.md", file_text=text)
    await memory(store, desk, "str_replace", path="/memories/mine.md", old_str="old", new_str="new")

    assert store.read("a.md").trust == "inferred"
    assert store.read("mine.md").trust == "inferred"
    assert (store.folder.directory / "a.md").read_text(encoding="utf-8") == text.replace("said", "inferred")


@requirement("tools:memory-tool:commits")
async def test_a_secret_is_refused_and_nothing_written(store: Store, desk: Desk) -> None:
    token = "ghp_" + secrets.token_hex(18)

    said = await failure(store, desk, "create", path="/memories/a.md", file_text=f"the token is {token}\n")

    assert "secret" in said
    assert token not in said
    assert not (store.folder.directory / "a.md").exists()


@requirement("tools:memory-tool:stays-inside")
@pytest.mark.parametrize(
    "path",
    [
        "/memories/../secret.md",
        "/memories/sub/../../secret.md",
        "/etc/passwd",
        "memories/a.md",
        "/memoriesX/a.md",
        "/memories/.git/config",
        "/memories/link.md",
        "/memories/door/secret.md",
        "/memories/./a.md",
        "",
    ],
)
async def test_no_path_leads_out(store: Store, desk: Desk, tmp_path: Path, path: str) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("hidden", encoding="utf-8")
    (store.folder.directory / "link.md").symlink_to(secret)
    (store.folder.directory / "door").symlink_to(tmp_path)
    commands: list[tuple[str, dict[str, Json]]] = [
        ("view", {"path": path}),
        ("create", {"path": path, "file_text": "evil"}),
        ("str_replace", {"path": path, "old_str": "hidden", "new_str": "evil"}),
        ("insert", {"path": path, "insert_line": 0, "insert_text": "evil"}),
        ("delete", {"path": path}),
        ("rename", {"old_path": path, "new_path": "/memories/taken.md"}),
    ]
    for command, given_ in commands:
        try:
            answer = await memory(store, desk, command, **given_)
        except ToolMistake:
            continue
        assert answer.is_error, command
        assert "hidden" not in told(answer).replace("is hidden and cannot", "").replace("`hidden`", "")
    assert secret.read_text(encoding="utf-8") == "hidden"
    assert not (store.folder.directory / "taken.md").exists()


@requirement("tools:memory-tool:stays-inside")
@given(st.text(st.sampled_from("/.~ab%\\\0é"), max_size=20))
def test_any_path_lies_inside_or_is_refused(path: str) -> None:
    import asyncio
    import tempfile

    from tests.tools.kit import desk_at

    async def view(folder: Path) -> ToolAnswer:
        return await memory(open_store(folder / "m", with_git=False), desk_at(folder), "view", path=f"/memories{path}")

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a").write_text("outside", encoding="utf-8")
        answer = asyncio.run(view(Path(folder)))
        assert "outside" not in told(answer)
        assert answer.is_error or set(path) <= {"/", " "}


@requirement("tools:memory-tool:texts")
async def test_what_cannot_be_a_memory_is_said(store: Store, desk: Desk) -> None:
    assert ".md" in await failure(store, desk, "create", path="/memories/a.txt", file_text="x")
    await memory(store, desk, "create", path="/memories/a.md", file_text="x")
    index = await failure(store, desk, "str_replace", path="/memories/MEMORY.md", old_str="a.md", new_str="b.md")
    assert "index" in index
    with pytest.raises(ToolMistake, match="'command' must be one of"):
        await memory(store, desk, "burn", path="/memories")
    with pytest.raises(ToolMistake, match="'file_text' is missing"):
        await memory(store, desk, "create", path="/memories/b.md")
