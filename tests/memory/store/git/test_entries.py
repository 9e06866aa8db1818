from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.memory.store.git.entries import (
    entry_oid,
    is_as_seen,
    pack_entry,
    read_entries,
    sorted_entries,
    write_entries,
)
from reverie.memory.store.git.objects import Objects, object_id
from reverie.memory.store.git.trees import GitTree
from tests.memory.stores import git
from tests.requirements import requirement

_names = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="/\0\n"), min_size=1, max_size=20)
_paths = st.lists(_names.filter(lambda name: name not in {".", "..", ".git"}), min_size=1, max_size=3).map("/".join)
_seen = st.tuples(*[st.integers(0, 2**62)] * 2, *[st.integers(0, 2**40)] * 3)


@settings(deadline=None)
@given(st.dictionaries(_paths, st.tuples(_seen, st.binary(min_size=20, max_size=20)), max_size=10))
def test_entries_survive_the_index_file(tmp_path_factory: object, files: dict[str, tuple[object, bytes]]) -> None:
    path = tmp_path_factory.mktemp("index") / "index"  # type: ignore[attr-defined]
    entries = {name: pack_entry(name, seen, oid) for name, (seen, oid) in files.items()}  # type: ignore[arg-type]
    checksum = write_entries(path, sorted_entries(entries))
    assert read_entries(path) == (entries, checksum)
    for name, (seen, oid) in files.items():
        assert entry_oid(entries[name]) == oid
        assert is_as_seen(entries[name], seen)  # type: ignore[arg-type]


@requirement("store:git:ordinary")
def test_git_agrees_on_trees_and_blobs(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    contents = {"a.md": b"a", "a/b.md": b"b", "a.b/c.md": b"", "a0.md": b"d\r\n", "z/ü/数.md": "ü".encode()}
    for path, content in contents.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    git(tmp_path, "-c", "core.autocrlf=false", "add", "-A")
    ours = GitTree((path, object_id("blob", content)) for path, content in contents.items()).add_to(Objects())
    assert ours.hex() == git(tmp_path, "write-tree").strip()
    entries, _ = read_entries(tmp_path / ".git" / "index")
    assert {path: entry_oid(entry) for path, entry in entries.items()} == {
        path: object_id("blob", content) for path, content in contents.items()
    }


def test_a_held_index_is_left_to_its_holder(tmp_path: Path) -> None:
    (tmp_path / "index.lock").write_text("", encoding="ascii")
    assert write_entries(tmp_path / "index", sorted_entries({})) == b""
    assert not (tmp_path / "index").exists()
