from __future__ import annotations

import json
import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reverie.settings.locate import Place, json_lines, split_key, toml_lines
from tests.requirements import requirement

names = st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from(
    ["a", "b-1", "c.d", 'q"uote', "it's", "é", "", "x y", "#no comment", "[x]"]
)
texts = st.text(st.sampled_from("ab'\"\\#[]{},=\n.é \t"), max_size=12)
scalars = st.booleans() | st.integers(-5, 5) | st.floats(0, 9, allow_nan=False) | texts
trees: st.SearchStrategy[Any] = st.dictionaries(
    names,
    st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=5,
)


class Writer:
    """Writes a tree as TOML in ways that Hypothesis chooses, and notes the line of every key."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.text = ""
        self.lines: dict[Place, int] = {}

    def put(self, text: str) -> None:
        self.text += text

    def note(self, place: Place) -> None:
        self.lines.setdefault(place, self.text.count("\n") + 1)

    def blank(self) -> None:
        self.put(self.draw(st.sampled_from(["", "\n", "# [x] = {\n", '  # """\n\n'])))

    def name(self, name: str) -> str:
        if name and all(letter.isascii() and (letter.isalnum() or letter in "-_") for letter in name):
            return name
        if "'" not in name and name.isprintable() and self.draw(st.booleans()):
            return f"'{name}'"
        return _basic(name)

    def table(self, tree: dict[str, Any], place: Place, header: str) -> None:
        later = []
        for name, value in tree.items():
            if isinstance(value, dict) and self.draw(st.booleans()):
                later.append((name, value))
                continue
            self.blank()
            self.note((*place, name))
            if isinstance(value, dict) and len(value) == 1 and self.draw(st.booleans()):
                ((inner, leaf),) = value.items()
                self.note((*place, name, inner))
                self.put(f"{self.name(name)} . {self.name(inner)} = ")
                self.value(leaf, (*place, name, inner))
            else:
                self.put(f"{self.name(name)} = ")
                self.value(value, (*place, name))
            self.put("\n")
        for name, value in later:
            self.blank()
            inner_header = f"{header}.{self.name(name)}" if header else self.name(name)
            self.note((*place, name))
            self.put(f"[ {inner_header} ]  # ]\n")
            self.table(value, (*place, name), inner_header)

    def value(self, value: Any, place: Place) -> None:
        match value:
            case bool():
                self.put("true" if value else "false")
            case str() if (
                "'''" not in value and not value.endswith("'") and "\t" not in value and self.draw(st.booleans())
            ):
                self.put(f"'''\n{value}'''")
            case str() if self.draw(st.booleans()):
                self.put('"""\n' + _basic(value)[1:-1].replace("\\n", "\n") + '"""')
            case str():
                self.put(_basic(value))
            case list():
                self.put("[")
                for number, item in enumerate(value):
                    self.put(self.draw(st.sampled_from(["", " ", "\n", " # ],\n"])))
                    self.note((*place, number))
                    self.value(item, (*place, number))
                    self.put(",")
                self.put("]")
            case dict():
                self.put("{")
                for number, (name, item) in enumerate(value.items()):
                    self.put(", " if number else " ")
                    self.note((*place, name))
                    self.put(f"{self.name(name)} = ")
                    self.value(item, (*place, name))
                self.put("}")
            case _:
                self.put(repr(value))


def _basic(text: str) -> str:
    escaped = "".join(
        letter if letter.isprintable() and letter not in '"\\' else f"\\U{ord(letter):08x}" for letter in text
    )
    return '"' + escaped.replace("\\U0000000a", "\\n") + '"'


@st.composite
def documents(draw: st.DrawFn) -> tuple[Any, str, dict[Place, int]]:
    tree = draw(trees)
    writer = Writer(draw)
    writer.table(tree, (), "")
    return tree, writer.text, writer.lines


@requirement("settings:locate:lines")
@given(documents())
def test_every_key_of_a_toml_document_is_found_on_its_line(document: tuple[Any, str, dict[Place, int]]) -> None:
    tree, text, lines = document
    assert tomllib.loads(text) == tree
    assert toml_lines(text) == lines
    assert toml_lines(text.replace("\n", "\r\n")) == lines


@requirement("settings:locate:lines")
@given(trees, st.sampled_from([None, 0, 2]))
def test_every_key_of_a_json_document_is_found_on_its_line(tree: Any, indent: int | None) -> None:
    text = json.dumps(tree, indent=indent)
    found = json_lines(text)

    def check(value: Any, place: Place) -> int:
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        seen = 0
        for name, inner in items:
            line = text.split("\n")[found[(*place, name)] - 1]
            assert isinstance(name, int) or json.dumps(name) in line
            seen += 1 + check(inner, (*place, name))
        return seen

    assert check(tree, ()) == len(found)


@requirement("settings:locate:lines")
def test_items_of_a_list_of_tables_are_numbered() -> None:
    text = '[[hooks.Stop]]\nmatcher = "a"\n[[hooks.Stop]]\nmatcher = "b"\n[hooks.Stop.inner]\nx = 1\n'
    lines = toml_lines(text)
    assert lines[("hooks", "Stop", 0, "matcher")] == 2
    assert lines[("hooks", "Stop", 1, "matcher")] == 4
    assert lines[("hooks", "Stop", 1, "inner", "x")] == 6


@requirement("settings:locate:lines")
def test_a_dotted_key_is_split_at_its_dots_and_not_inside_quotes() -> None:
    assert split_key('models."gpt-4.1".base_url') == ("models", "gpt-4.1", "base_url")
    assert split_key("a . 'b.c'") == ("a", "b.c")
    assert [split_key(text) for text in ("", ".a", "a.", "a b", 'a."b')] == [None] * 5
