"""What could stand at the cursor."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.apps.tui.completion import Completion, complete, list_project_files, rank
from tests.requirements import requirement

COMMANDS = [("help", "h"), ("compact", "c"), ("uncompact", "u"), ("context", "x")]
FILES = ["src/", "src/app.py", "src/importer.py", "tests/test_importer.py", "README.md"]


def completed(before: str, *, first: bool = True) -> Completion:
    return complete(before, is_first_line=first, commands=COMMANDS, files=lambda: FILES)


@requirement("tui:prompt:completion")
def test_commands_that_begin_so_come_before_those_that_hold_it() -> None:
    assert [choice.label for choice in completed("/com").choices] == ["/compact", "/uncompact"]


@requirement("tui:prompt:completion")
@pytest.mark.parametrize("before", ["hello /com", "/compact now", "a@b", "", "mail me@"])
def test_nothing_is_offered_where_nothing_is_meant(before: str) -> None:
    assert completed(before).choices == ()


@requirement("tui:prompt:completion")
def test_a_slash_on_a_later_line_is_text() -> None:
    assert completed("/com", first=False).choices == ()


@requirement("tui:prompt:completion")
def test_the_name_of_a_file_counts_before_its_folder() -> None:
    assert rank("import", FILES) == ["src/importer.py", "tests/test_importer.py"]
    assert rank("rdm", FILES) == ["README.md"]
    assert rank("src/i", FILES) == ["src/importer.py"]


@requirement("tui:prompt:completion")
def test_a_folder_leads_on_and_a_file_ends_the_word() -> None:
    folder, *_ = completed("see @sr").choices
    assert (folder.text, completed("see @sr").start) == ("@src/", 4)
    assert completed("@READ").choices[0].text == "@README.md "


@requirement("tui:prompt:completion")
def test_files_are_listed_without_a_repository(tmp_path: Path) -> None:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "deep" / "a.py").write_text("", encoding="utf-8")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "b.js").write_text("", encoding="utf-8")

    assert list_project_files(tmp_path) == ["src/", "src/deep/", "src/deep/a.py"]
