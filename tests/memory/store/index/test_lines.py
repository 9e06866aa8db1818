from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.store.index.memory_md import LINE_CHARS, IndexEntry, ProseLine, generate_line, parse_index
from tests.memory.topic_strategies import lines
from tests.requirements import requirement

names = lines.map(lambda text: " ".join(text.split())).filter(bool)


@given(st.text() | st.text("-[]()\n\r ab.md#`~<!->—", max_size=60))
def test_the_lines_of_an_index_joined_are_the_index(text: str) -> None:
    assert "\n".join(line.text for line in parse_index(text)) == text


@requirement("memory:index:line")
@given(names, names, st.sampled_from(["a.md", "team/a b.md", "工具_测试.md", "odd(1)#x%20.md"]))
def test_an_item_is_read_as_it_was_written(name: str, hook: str, path: str) -> None:
    (line,) = parse_index(generate_line(path, name, (hook,)))

    assert isinstance(line, IndexEntry)
    assert (line.title, line.path, line.hook, line.lead) == (name, path, hook, "- ")


@requirement("memory:index:line")
@given(st.text("abc ", min_size=1, max_size=300), st.text("abc ", max_size=400))
def test_an_item_is_cut_to_its_length(name: str, hook: str) -> None:
    line = generate_line("feedback_testing.md", " ".join(name.split()) or "x", (" ".join(hook.split()),))

    assert len(line) <= LINE_CHARS


def test_the_first_hook_that_fits_is_taken_and_else_the_last_is_cut() -> None:
    assert generate_line("a.md", "A", ("x" * 200, "short", "other")) == "- [A](a.md) — short"
    assert generate_line("a.md", "A", ("x" * 200, "word " * 60)).endswith("word…")


@pytest.mark.parametrize(
    ("line", "title", "path", "hook"),
    [
        ("- [T](a.md)", "T", "a.md", ""),
        ("* [T](./a.md) - hook", "T", "a.md", "hook"),
        ("+ [T](a.md): hook: more", "T", "a.md", "hook: more"),
        ("  - [T](<a b.md>) – hook", "T", "a b.md", "hook"),
        (r"- [a \[b\]](a.md) — x", "a [b]", "a.md", "x"),
        ("- **[T](a.md)** — x", "T", "a.md", "x"),
        ("- [T](a.md#part) — x\r", "T", "a.md", "x"),
    ],
)
def test_items_by_other_hands_are_understood(line: str, title: str, path: str, hook: str) -> None:
    (found,) = parse_index(line)

    assert isinstance(found, IndexEntry)
    assert (found.title, found.path, found.hook) == (title, path, hook)


@pytest.mark.parametrize(
    "line",
    [
        "See [T](a.md) for more",
        "- see [T](a.md)",
        "- [T](a.md) and [U](b.md) belong together",
        "- [T](https://acme.dev/a.md)",
        "- [T](/etc/a.md)",
        "- [T](../a.md)",
        "- [T](a.txt)",
        "- **[T](a.md) — x",
        "```\n- [T](a.md)\n```",
        "<!--\n- [T](a.md)\n-->",
        "---\nlist:\n- [T](a.md)\n---",
    ],
)
def test_what_is_not_an_item_is_prose(line: str) -> None:
    assert all(isinstance(found, ProseLine) for found in parse_index(line))
