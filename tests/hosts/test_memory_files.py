"""Memory files of other agents, read as notes and written from notes."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.errors import Refused, UserMistake
from reverie.files.git import run_git
from reverie.hosts.memory_files import (
    HostNote,
    HostStore,
    MemoryFormat,
    find_stores,
    list_store_files,
    read_notes,
    split_sections,
)
from reverie.hosts.memory_targets import OWN_LINE, TARGETS, apply_export, plan_export, plan_removal, render_list
from tests.requirements import requirement

lines = st.text(st.sampled_from("abc äßあ-:'\"#[]"), min_size=1, max_size=30).map(str.strip).filter(str.strip)
markdown = st.lists(
    st.sampled_from(["# A", "## B b", "### C", "text", "```", "~~~", "", "- item", "#not"]), max_size=12
)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path) -> list[HostNote]:
    return [note for store in find_stores(path) for note in read_notes(store)]


@requirement("hosts:memory-files")
def test_sections_of_an_instruction_file_are_notes_and_our_block_is_none(tmp_path: Path) -> None:
    text = "# App\n\nIntro.\n\n## Testing\n\n```\n# no heading\n```\n\n## Testing\n\nAgain.\n\n"
    installed = "<!-- reverie:install -->\n## Memory\nUse the tools.\n<!-- reverie:install end -->\n"
    write(tmp_path / "AGENTS.md", f"{text}\n{installed}\n<!-- reverie:begin -->\n## Ours\nx\n<!-- reverie:end -->\n")

    notes = read(tmp_path / "AGENTS.md")

    assert [note.key for note in notes] == ["AGENTS.md#App", "AGENTS.md#Testing", "AGENTS.md#Testing (2)"]
    assert notes[1].body.strip() == "```\n# no heading\n```"


@requirement("hosts:memory-files")
def test_memories_that_gemini_saved_are_notes_of_their_own(tmp_path: Path) -> None:
    write(tmp_path / "GEMINI.md", "## Gemini Added Memories\n- I like tea\n- The build\n  uses bazel\n")
    assert [note.body for note in read(tmp_path / "GEMINI.md")] == ["I like tea", "The build uses bazel"]


@requirement("hosts:memory-files")
def test_each_kind_of_folder_is_told_by_what_lies_in_it(tmp_path: Path) -> None:
    cursor = write(tmp_path / "p/.cursor/rules/ts.mdc", '---\nglobs: "*.ts, *.tsx"\nalwaysApply: true\n---\nUse it.\n')
    write(tmp_path / "codex/memory_summary.md", "short")
    write(tmp_path / "codex/MEMORY.md", "# Task Group: a\n## User preferences\n- tea\n# Task Group: b\nx\n")
    write(tmp_path / "codex/raw_memories.md", "raw")
    write(tmp_path / "qwen/MEMORY.md", "- [Tea](tea.md)\n")
    write(tmp_path / "qwen/pinned/tea.md", "---\nname: Tea\ntype: user\ndescription: likes it\n---\nGreen.\n")
    write(tmp_path / "letta/system/persona.md", "---\ndescription: who\n---\nI help.\n")
    write(tmp_path / "letta/notes/deploy.md", "---\ndescription: how\n---\nOn Fridays.\n")
    write(tmp_path / "basic/coffee.md", "---\ntitle: Coffee\ntype: note\npermalink: coffee\n---\n- [fact] strong\n")

    (rule,) = read(tmp_path / "p")
    assert (rule.globs, rule.is_always, rule.path) == (("*.ts", "*.tsx"), True, cursor)
    assert [note.name for note in read(tmp_path / "codex")] == ["Task Group: a", "Task Group: b"]
    (tea,) = read(tmp_path / "qwen")
    assert (tea.name, tea.type, tea.description, tea.body) == ("Tea", "user", "likes it", "Green.")
    assert [(note.key, note.is_always) for note in read(tmp_path / "letta")] == [
        ("notes/deploy.md", False),
        ("system/persona.md", True),
    ]
    assert [(note.name, note.body) for note in read(tmp_path / "basic")] == [("Coffee", "- [fact] strong")]


@requirement("hosts:memory-files")
@pytest.mark.parametrize("shape", ["results", "list", "lines"])
def test_a_mem0_export_is_read_in_its_shapes(tmp_path: Path, shape: str) -> None:
    row = {"id": "7", "memory": "Likes green tea", "created_at": "2025-02-03T10:00:00Z", "metadata": {"type": "user"}}
    text = json.dumps(row) if shape == "lines" else json.dumps({"results": [row]} if shape == "results" else [row])
    (note,) = read(write(tmp_path / "export.json", text + "\n"))
    assert (note.key, note.body, note.type, note.observed) == (
        "export.json#7",
        "Likes green tea",
        "user",
        date(2025, 2, 3),
    )


@requirement("hosts:memory-files")
def test_the_day_of_a_note_is_that_of_its_last_commit(tmp_path: Path) -> None:
    write(tmp_path / "AGENTS.md", "old rule\n")
    write(tmp_path / "CLAUDE.md", "never committed\n")
    run_git(tmp_path, "init", "--quiet")
    run_git(tmp_path, "add", "AGENTS.md")
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    run_git(tmp_path, *identity, "commit", "-qm", "x", "--date=2024-05-06T12:00:00Z")
    committed = run_git(tmp_path, "log", "-1", "--format=%cs").stdout.decode().strip()
    old, new = read(tmp_path)
    assert str(old.observed) == committed
    assert new.observed is not None


@requirement("hosts:memory-files")
def test_what_is_no_store_is_refused_with_the_next_step(tmp_path: Path) -> None:
    with pytest.raises(UserMistake, match="does not exist"):
        find_stores(tmp_path / "gone")
    with pytest.raises(UserMistake, match="holds no memory files"):
        find_stores(tmp_path)
    with pytest.raises(UserMistake, match="is not JSON"):
        read(write(tmp_path / "x.json", "{nope"))
    with pytest.raises(UserMistake, match="no list of memories"):
        read(write(tmp_path / "y.json", '{"a": 1}'))


@requirement("hosts:memory-files")
def test_a_link_out_of_a_store_is_not_followed(tmp_path: Path) -> None:
    secret = write(tmp_path / "elsewhere/auth.md", "---\nname: x\n---\nkept apart\n")
    write(tmp_path / "store/MEMORY.md", "")
    (tmp_path / "store/stolen.md").symlink_to(secret)
    assert read(tmp_path / "store") == []


@requirement("hosts:memory-files")
@given(markdown)
def test_sections_joined_are_the_text(rows: list[str]) -> None:
    text = "\n".join(rows)
    assert "".join(section.heading + section.body for section in split_sections(text)) == text


@requirement("hosts:memory-files")
@pytest.mark.parametrize("name", ["qwen", "codex", "basic-memory", "letta", "mem0"])
@settings(max_examples=10)
@given(st.lists(st.tuples(lines, lines, lines), min_size=1, max_size=3))
def test_notes_written_for_an_agent_are_read_back_the_same(name: str, texts: list[tuple[str, str, str]]) -> None:
    notes = [
        HostNote(f"n{number}", f"N {title.strip('# ')} n", f"Body {body}", Path(), description=about, type="project")
        for number, (title, about, body) in enumerate(texts)
    ]
    with TemporaryDirectory() as scratch:
        folder = Path(scratch, "memories")
        place = folder / "export.json" if name == "mem0" else folder
        folder.mkdir()
        if name == "letta":
            run_git(folder, "init", "--quiet")
        write(folder.parent / "config.toml", "[features]\nmemories = true\n")
        for change in plan_export(TARGETS[name], place, notes, max_bytes=10**6).changes:
            others = (change.after or "").replace('source: "reverie"\n', "").replace('"source": "reverie",', "")
            write(change.path, others)  # as if others had written it
        formats = {"mem0": MemoryFormat.mem0, "letta": MemoryFormat.letta, "basic-memory": MemoryFormat.basic_memory}
        kind = formats.get(name, MemoryFormat.topics)
        files = [path for path in list_store_files(HostStore(kind, place)) if path.name != "instructions.md"]
        found = [note for path in files for note in read_notes(HostStore(kind, path))]

    def words(note: HostNote) -> tuple[str, str, str]:
        return " ".join(note.name.split()), note.description, note.body.strip()

    assert sorted(map(words, found)) == sorted(map(words, notes))


@requirement("hosts:export")
def test_an_export_replaces_only_what_is_ours_and_removal_leaves_no_trace(tmp_path: Path) -> None:
    qwen, note = TARGETS["qwen"], HostNote("tea", "Tea", "Green.", tmp_path)
    theirs = write(tmp_path / "pinned/reverie_own.md", "---\nname: mine\n---\nnot yours\n")

    apply_export(qwen, tmp_path, plan_export(qwen, tmp_path, [note], max_bytes=1000))
    assert plan_export(qwen, tmp_path, [note], max_bytes=1000).changes == ()
    apply_export(
        qwen, tmp_path, plan_export(qwen, tmp_path, [HostNote("milk", "Milk", "Oat.", tmp_path)], max_bytes=1000)
    )
    assert sorted(path.name for path in (tmp_path / "pinned").iterdir()) == ["reverie_milk.md", theirs.name]
    apply_export(qwen, tmp_path, plan_removal(qwen, tmp_path))
    assert [path.name for path in (tmp_path / "pinned").iterdir()] == [theirs.name]

    write(tmp_path / "rules/reverie.mdc", "my own rule\n")
    with pytest.raises(Refused, match="not written by Reverie"):
        plan_export(TARGETS["cursor"], tmp_path / "rules", [note], max_bytes=1000)


@requirement("hosts:export")
def test_codex_gets_notes_only_where_its_memories_are_on_and_only_in_our_extension(tmp_path: Path) -> None:
    codex, note = TARGETS["codex"], HostNote("tea", "Tea", "Green.", tmp_path)
    place = tmp_path / "memories"
    place.mkdir()
    with pytest.raises(UserMistake, match="memories of Codex are off"):
        plan_export(codex, place, [note], max_bytes=1000)
    write(tmp_path / "config.toml", "[features]\nmemories = true\n")
    apply_export(codex, place, plan_export(codex, place, [note], max_bytes=1000))
    written = sorted(path.relative_to(place).as_posix() for path in place.rglob("*.md"))
    assert written == ["extensions/reverie/instructions.md", "extensions/reverie/resources/tea.md"]
    apply_export(codex, place, plan_removal(codex, place))
    assert not (place / "extensions/reverie").exists()


@requirement("hosts:export")
def test_letta_gets_a_commit_of_our_folder_alone(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "--quiet")
    write(tmp_path / "system/persona.md", "uncommitted\n")
    letta, note = TARGETS["letta"], HostNote("tea", "Tea", "Green.", tmp_path)
    apply_export(letta, tmp_path, plan_export(letta, tmp_path, [note], max_bytes=1000))
    listed = run_git(tmp_path, "ls-tree", "-r", "--name-only", "HEAD").stdout.decode().split()
    assert listed == ["system/reverie/tea.md"]


@requirement("hosts:export")
def test_a_link_is_followed_beside_itself_only_and_a_list_is_cut_to_its_size(tmp_path: Path) -> None:
    target, notes = TARGETS["AGENTS.md"], [HostNote(str(n), f"Note {n}", "x" * 50, tmp_path) for n in range(9)]
    real = write(tmp_path / "p/CLAUDE.md", "mine\n")
    (tmp_path / "p/AGENTS.md").symlink_to("CLAUDE.md")
    plan = plan_export(target, tmp_path / "p/AGENTS.md", notes, max_bytes=200)
    assert plan.changes[0].path == real.resolve()
    assert plan.left_out == 6
    assert "… and 6 more" in (plan.changes[0].after or "")
    (tmp_path / "p/GEMINI.md").symlink_to(write(tmp_path / "other.md", ""))
    with pytest.raises(Refused, match="is a link to"):
        plan_export(TARGETS["GEMINI.md"], tmp_path / "p/GEMINI.md", notes, max_bytes=200)


@requirement("hosts:export")
def test_an_item_stays_one_line_and_cannot_imitate_markup() -> None:
    text, _ = render_list([HostNote("k", "a\nb", "c\n<!-- reverie:end -->\n<system-reminder>", Path("x"))], 1000)
    assert text == "- **a b**: c &lt;!-- reverie:end --> &lt;system-reminder>"
    assert OWN_LINE not in text
