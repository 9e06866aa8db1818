"""Somebody else on the machine swaps a folder for a link to another one, again and again, while file tools run.

The links change at the worst moments: a path looks as it was judged whenever it is resolved, and leads outside as soon
as that has been compared.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from reverie.context.conversation import Conversation
from reverie.session.file_history import FileHistory
from reverie.tools.desk import Desk
from reverie.tools.edit import Edit
from reverie.tools.read import Read
from reverie.tools.tool import ToolMistake
from reverie.tools.write import Write
from tests.requirements import requirement
from tests.tools.kit import call


class Swapper(dict[Path, Path]):
    """What a desk knows of where paths lead; whoever asks it is past the resolving and before the opening."""

    def __init__(self, folder: Path, outside: Path) -> None:
        self.folder = folder
        self.kept = folder.with_name("kept")
        self.outside = outside
        self.rounds = 0

    def get(self, key: Path, default: Path | None = None) -> Path | None:  # type: ignore[override]
        found = super().get(key, default)
        if not self.folder.is_symlink():
            self.folder.rename(self.kept)
            self.folder.symlink_to(self.outside)
            self.rounds += 1
        return found

    def restore(self) -> None:
        if self.folder.is_symlink():
            self.folder.unlink()
            self.kept.rename(self.folder)


class SwappedDesk(Desk):
    """A desk where the folder is itself again whenever a path is about to be resolved."""

    def resolve(self, path: str) -> Path:
        if isinstance(self.leads, Swapper):
            self.leads.restore()
        return super().resolve(path)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    outside = tmp_path.resolve() / "outside"
    outside.mkdir()
    (outside / "notes.txt").write_text("private plans", encoding="utf-8")
    return outside


@pytest.fixture
def swapped(desk: Desk) -> Desk:
    (desk.project / "folder").mkdir()
    (desk.project / "folder" / "notes.txt").write_text("open plans", encoding="utf-8")
    return SwappedDesk(**{one.name: getattr(desk, one.name) for one in fields(desk)})


def begin(desk: Desk, outside: Path) -> Swapper:
    desk.leads = swapper = Swapper(desk.project / "folder", outside)
    return swapper


@requirement("tools:links:not-followed-later")
async def test_read_never_shows_what_a_swapped_link_leads_to(swapped: Desk, outside: Path) -> None:
    swapper = begin(swapped, outside)

    with pytest.raises(ToolMistake, match="was not followed"):
        await call(Read(), swapped, file_path="folder/notes.txt")

    assert swapper.rounds > 0


@requirement("tools:links:not-followed-later")
@pytest.mark.parametrize("name", ["new.txt", "deep/er/new.txt", "notes.txt"])
async def test_write_never_writes_where_a_swapped_link_leads(swapped: Desk, outside: Path, name: str) -> None:
    await call(Read(), swapped, file_path="folder/notes.txt")
    given = {"file_path": f"folder/{name}", "content": "mine"}
    tool = Write()
    tool.need(given, swapped)
    swapper = begin(swapped, outside)

    with pytest.raises(ToolMistake, match="was not followed"):
        await tool.run(given, swapped)

    assert swapper.rounds > 0
    assert {path.name: path.read_text("utf-8") for path in outside.iterdir()} == {"notes.txt": "private plans"}


@requirement("tools:links:not-followed-later")
async def test_edit_changes_nothing_where_a_swapped_link_leads(swapped: Desk, outside: Path) -> None:
    (outside / "notes.txt").write_text("open plans", encoding="utf-8")
    await call(Read(), swapped, file_path="folder/notes.txt")
    given = {"file_path": "folder/notes.txt", "old_string": "open", "new_string": "other"}
    tool = Edit()
    tool.need(given, swapped)
    begin(swapped, outside)

    with pytest.raises(ToolMistake, match="was not followed"):
        await tool.run(given, swapped)

    assert (outside / "notes.txt").read_text(encoding="utf-8") == "open plans"


@requirement("tools:links:not-followed-later")
async def test_a_link_swapped_in_just_before_the_write_neither_takes_it_nor_is_put_aside(
    swapped: Desk, outside: Path
) -> None:
    log = Conversation(session="session-1", now=swapped.now, new_id=lambda: "id")
    history = FileHistory(log, lambda session: swapped.scratch / session, swapped.now)
    await call(Read(), swapped, file_path="folder/notes.txt")
    swapper = Swapper(swapped.project / "folder", outside)

    def changing(path: Path, after: bytes | None) -> None:
        swapper.get(path)
        history.note(path, after)

    swapped.changing = changing
    await call(Write(), swapped, file_path="folder/notes.txt", content="mine")
    swapper.restore()

    assert (swapped.project / "folder" / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert (outside / "notes.txt").read_text(encoding="utf-8") == "private plans"
    kept = [path.read_bytes() for path in swapped.scratch.rglob("*") if path.is_file()]
    assert b"private plans" not in kept
