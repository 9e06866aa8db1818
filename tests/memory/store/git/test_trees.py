from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.store.git.objects import Objects
from reverie.memory.store.git.trees import GitTree

_paths = st.lists(st.sampled_from(["a", "a.b", "a0", "b", "ü"]), min_size=1, max_size=3).map(
    lambda parts: "/".join(parts) + ".md"
)
_oids = st.integers(0, 255).map(lambda number: bytes([number]) * 20)


@given(st.dictionaries(_paths, _oids, max_size=8), st.lists(st.tuples(_paths, st.none() | _oids), max_size=12))
def test_a_tree_changed_path_by_path_is_the_tree_made_anew(
    files: dict[str, bytes], changes: list[tuple[str, bytes | None]]
) -> None:
    tree = GitTree(files.items())
    tree.add_to(Objects())
    for path, oid in changes:
        tree.put(path, oid)
        files.pop(path, None)
        if oid is not None:
            files[path] = oid
        assert tree.add_to(Objects()) == GitTree(files.items()).add_to(Objects())
