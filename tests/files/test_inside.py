from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.errors import Refused, UserMistake
from reverie.files import check_name, is_inside, open_real, read_small, safe_join, write_real
from tests.requirements import requirement


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory folder with links that stay, links that leave, and a neighbour whose name begins alike."""
    base = tmp_path_factory.mktemp("inside")
    root = base / "memory"
    (root / "team").mkdir(parents=True)
    (base / "memory-of-others").mkdir()
    (base / "secret").write_text("secret", encoding="utf-8")
    (root / "topic.md").write_text("topic", encoding="utf-8")
    (root / "stays").symlink_to(root / "team")
    (root / "leaves").symlink_to(base)
    (root / "leaves-too").symlink_to("../secret")
    (root / "loop").symlink_to("loop")
    return root


PARTS = st.lists(
    st.one_of(
        st.sampled_from(["..", ".", "", "team", "stays", "leaves", "leaves-too", "loop", "topic.md", "secret"]),
        st.sampled_from(["../memory-of-others", "team/../../secret", "/etc/passwd", "a\0b", "\\\\server", "~"]),
        st.text(max_size=12),
    ),
    max_size=6,
)


@requirement("files:join:no-escape")
@settings(deadline=None)
@given(parts=PARTS)
def test_a_joined_path_stays_below_the_root_or_is_refused(parts: list[str], root: Path) -> None:
    try:
        joined = safe_join(root, *parts)
    except Refused:
        return
    real_root = os.path.realpath(root)
    assert str(joined) == real_root or str(joined).startswith(real_root + os.sep)
    assert str(joined) == os.path.realpath(joined)
    assert is_inside(root, joined)


@requirement("files:join:no-escape")
@pytest.mark.parametrize(
    "parts",
    [
        ("..",),
        ("../memory-of-others/x.md",),
        ("team", "..", "..", "secret"),
        ("leaves", "secret"),
        ("leaves-too",),
        ("/etc/passwd",),
        ("team", "/etc/passwd"),
        ("\\\\server\\share",),
        ("topic.md\0",),
        ("\ud800",),
    ],
)
def test_an_escape_is_refused(parts: tuple[str, ...], root: Path) -> None:
    with pytest.raises(Refused) as caught:
        safe_join(root, *parts)
    assert caught.value.by == "path check"


def test_a_path_that_stays_is_joined_and_its_links_resolved(root: Path) -> None:
    real_root = Path(os.path.realpath(root))

    assert safe_join(root, "stays", "new.md") == real_root / "team" / "new.md"
    assert safe_join(root, "team/../topic.md") == real_root / "topic.md"
    assert safe_join(root) == real_root


def test_a_neighbour_whose_name_begins_alike_is_not_inside(root: Path) -> None:
    assert is_inside(root, root)
    assert is_inside(root, root / "not" / "yet" / "there")
    assert not is_inside(root, root.parent / "memory-of-others")
    assert not is_inside(root, root / "leaves" / "secret")
    assert not is_inside(root, Path("a\0b"))


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".hidden", "a/b", "a\\b", "a\0b", "a\nb", "\ud800", "n" * 129, "é" * 65]
)
def test_a_name_that_is_no_single_part_of_a_path_is_refused(name: str) -> None:
    with pytest.raises(Refused, match="session id"):
        check_name(name, what="session id")


def test_ordinary_ids_are_fit_for_a_path() -> None:
    for name in ("0ccf1a04-1b4c-43b6-8aa5-79e41db43a68", "toolu_01Abc", "functions.bash:0", "Größe", "a..b"):
        assert check_name(name, what="tool id") == name


@requirement("files:open:no-links")
def test_a_file_is_opened_by_its_real_path_and_through_no_link(root: Path) -> None:
    real_root = Path(os.path.realpath(root))

    with os.fdopen(open_real(real_root / "topic.md")) as file:
        assert file.read() == "topic"
    for path in ("leaves/secret", "leaves-too", "loop", "stays/topic.md"):
        with pytest.raises(OSError, match="symbolic links"):
            open_real(real_root / path)
    for path in ("missing/topic.md", "topic.md/below"):
        with pytest.raises((FileNotFoundError, NotADirectoryError)):
            open_real(real_root / path)


@requirement("files:open:no-links")
def test_a_file_is_written_by_its_real_path_and_through_no_link(tmp_path: Path) -> None:
    root, outside = Path(os.path.realpath(tmp_path)) / "project", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "door").symlink_to(outside)
    (root / "link").symlink_to(outside / "file")

    write_real(root / "new" / "file", b"1", mode=0o640)
    write_real(root / "new" / "file", b"2")
    write_real(root / "link", b"3")
    with pytest.raises(UserMistake, match="symbolic links"):
        write_real(root / "door" / "file", b"4")

    assert (root / "new" / "file").read_bytes() == b"2"
    assert (root / "new" / "file").stat().st_mode & 0o777 == 0o640
    assert not (root / "link").is_symlink()
    assert list(outside.iterdir()) == []
    assert [path.name for path in (root / "new").iterdir()] == ["file"]


@requirement("files:open:no-links")
def test_a_folder_that_may_be_passed_but_not_listed_is_passed(tmp_path: Path) -> None:
    folder = Path(os.path.realpath(tmp_path)) / "closed"
    write_real(folder / "open" / "file", b"1")
    folder.chmod(0o100)
    try:
        os.close(open_real(folder / "open" / "file"))
    finally:
        folder.chmod(0o700)


@requirement("files:open:no-links")
def test_a_pipe_neither_blocks_nor_is_read(tmp_path: Path) -> None:
    pipe = Path(os.path.realpath(tmp_path)) / "pipe"
    os.mkfifo(pipe)

    os.close(open_real(pipe))
    assert read_small(pipe) is None
    assert read_small(Path("/dev/zero")) is None


def test_a_small_file_is_read_and_anything_else_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")

    assert read_small(tmp_path / "file", limit_bytes=5) == b"12345"
    assert read_small(tmp_path / "file", limit_bytes=4) is None
    assert read_small(tmp_path / "missing") is None
    assert read_small(tmp_path / "file" / "below") is None
    assert read_small(Path("a\0b")) is None
