from __future__ import annotations

from pathlib import Path

from reverie.session.output_style import OutputStyle, list_output_styles, read_output_style
from tests.requirements import requirement


@requirement("prompt:styles")
def test_a_style_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "teacher.md"
    path.write_text(
        "---\nname: Teacher\ndescription: Explains\nkeep-coding-instructions: yes\nforce-for-plugin: false\n---\n"
        "\nExplain.\n",
        encoding="utf-8",
    )

    assert read_output_style(path) == OutputStyle("Teacher", "Explain.", "Explains", keeps_coding=True)


@requirement("prompt:styles")
def test_a_file_without_front_matter_is_named_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / "terse.md"
    path.write_text("Be terse.\n", encoding="utf-8")

    assert read_output_style(path) == OutputStyle("terse", "Be terse.")


@requirement("prompt:styles")
def test_the_nearer_folder_stands_and_broken_files_are_left_out(tmp_path: Path) -> None:
    user, project = tmp_path / "user", tmp_path / "project"
    for folder, text in ((user, "far"), (project, "near")):
        folder.mkdir()
        (folder / "same.md").write_text(f"---\nname: Same\n---\n{text}", encoding="utf-8")
    (user / "empty.md").write_text("---\nname: Empty\n---\n", encoding="utf-8")
    (user / "broken.md").write_text("---\nname: [\n---\ntext", encoding="utf-8")
    (user / "folder.md").mkdir()

    assert list_output_styles([user, project, tmp_path / "nowhere"]) == (OutputStyle("Same", "near"),)
