"""Random small trees of files with `.gitignore` files in them, and how they get onto a disk."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "src", "docs", ".hid", "x.py", "y.py", "z.txt", "log", "A.md"])
FOLDERS = st.lists(st.sampled_from(["a", "b", "src", ".hid"]), max_size=3).map("/".join)
RULES = st.lists(
    st.sampled_from(["*.py", "/a", "a/", "!x.py", "src/*.txt", "**/b", "log", "!src/", "z.*", "# note", "", "docs/**"]),
    max_size=4,
)
LINES = st.lists(st.sampled_from(["foo", "foo bar", "bar", "FOO(x)", "", "\tbaz", "naïve foo", "a.b"]), max_size=6)
ENDS = st.sampled_from(["\n", "\r\n"])


@st.composite
def trees(draw: st.DrawFn) -> dict[str, str]:
    """Path → content; a path never goes through a file."""
    made: dict[str, str] = {}
    for _ in range(draw(st.integers(0, 10))):
        folder, name = draw(FOLDERS), draw(NAMES)
        path = f"{folder}/{name}" if folder else name
        made[path] = "".join(line + draw(ENDS) for line in draw(LINES))
    for folder in draw(st.lists(FOLDERS, max_size=2)):
        made[f"{folder}/.gitignore" if folder else ".gitignore"] = "\n".join(draw(RULES))
    return {path: text for path, text in made.items() if not any(other.startswith(f"{path}/") for other in made)}


def write_tree(root: Path, tree: dict[str, str]) -> None:
    """Put a tree on the disk."""
    for path, text in tree.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8", newline="")
