from __future__ import annotations

import hashlib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.topics.anchors import (
    MAX_DERIVED,
    AnchorState,
    CommitAnchor,
    FileAnchor,
    SymbolAnchor,
    UrlAnchor,
    read_anchor_state,
    read_anchors,
)
from tests.requirements import requirement

CODE = "def load_rows(path):\n    return open(path)\n"


def project(folder: Path) -> Path:
    root = folder / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "importer.py").write_text(CODE, encoding="utf-8")
    (folder / "secret.txt").write_text("outside", encoding="utf-8")
    return root


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@requirement("memory:anchors:checked")
def test_a_file_is_fresh_changed_or_broken(tmp_path: Path) -> None:
    root = project(tmp_path)

    assert read_anchor_state(FileAnchor("src/importer.py", sha256(CODE)), root) is AnchorState.fresh
    assert read_anchor_state(FileAnchor("src/importer.py", sha256("other")), root) is AnchorState.changed
    assert read_anchor_state(FileAnchor("src/importer.py"), root) is AnchorState.fresh
    assert read_anchor_state(FileAnchor("src"), root) is AnchorState.fresh
    assert read_anchor_state(FileAnchor("src/gone.py", sha256(CODE)), root) is AnchorState.broken


@requirement("memory:anchors:checked")
def test_a_symbol_is_found_as_a_whole_word_in_its_file_or_by_asking(tmp_path: Path) -> None:
    root = project(tmp_path)

    assert read_anchor_state(SymbolAnchor("load_rows", "src/importer.py"), root) is AnchorState.fresh
    assert read_anchor_state(SymbolAnchor("load_row", "src/importer.py"), root) is AnchorState.broken
    assert read_anchor_state(SymbolAnchor("load_rows", "src/gone.py"), root) is AnchorState.broken
    assert read_anchor_state(SymbolAnchor("load_rows"), root) is AnchorState.unchecked
    assert read_anchor_state(SymbolAnchor("load_rows"), root, has_word={"load_rows"}.__contains__) is AnchorState.fresh


@requirement("memory:anchors:checked")
def test_commits_are_asked_for_and_urls_never_fetched(tmp_path: Path) -> None:
    known = {"3f2a91c"}.__contains__

    assert read_anchor_state(CommitAnchor("3f2a91c"), tmp_path, has_commit=known) is AnchorState.fresh
    assert read_anchor_state(CommitAnchor("0000000"), tmp_path, has_commit=known) is AnchorState.broken
    assert read_anchor_state(CommitAnchor("3f2a91c"), tmp_path) is AnchorState.unchecked
    assert read_anchor_state(UrlAnchor("https://acme.dev"), tmp_path) is AnchorState.unchecked


@requirement("memory:anchors:inside-project")
def test_no_anchor_reaches_outside_the_project(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")

    for path in ("../secret.txt", str(tmp_path / "secret.txt"), "link.txt", "src/../../secret.txt"):
        assert read_anchor_state(FileAnchor(path), root) is AnchorState.broken
        assert read_anchor_state(SymbolAnchor("outside", path), root) is AnchorState.broken
    assert read_anchors("see ../secret.txt and link.txt", root) == ()


@requirement("memory:anchors:derived")
def test_a_text_is_tied_to_what_it_names_and_the_project_has(tmp_path: Path) -> None:
    root = project(tmp_path)
    text = (
        "`load_rows()` in src/importer.py:1 reads everything (since 3f2a91c, not deadbee1); `missing_name` is gone, "
        "so is src/other.py. Background: https://acme.dev/wiki/import.html."
    )

    assert read_anchors(text, root, has_commit={"3f2a91c"}.__contains__) == (
        FileAnchor("src/importer.py", sha256(CODE)),
        SymbolAnchor("load_rows", "src/importer.py"),
        CommitAnchor("3f2a91c"),
        UrlAnchor("https://acme.dev/wiki/import.html"),
    )


@requirement("memory:anchors:derived")
def test_what_was_derived_is_fresh_until_the_file_changes(tmp_path: Path) -> None:
    root = project(tmp_path)
    (anchor,) = read_anchors("look at src/importer.py", root)

    assert read_anchor_state(anchor, root) is AnchorState.fresh
    (root / "src" / "importer.py").write_text(CODE + "# more\n", encoding="utf-8")
    assert read_anchor_state(anchor, root) is AnchorState.changed


@given(st.text())
def test_any_text_can_be_searched_for_anchors(text: str) -> None:
    assert len(read_anchors(text, Path(__file__).parent)) <= MAX_DERIVED
