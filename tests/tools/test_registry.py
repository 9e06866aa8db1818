"""The registry, the standard tools and the check of inputs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.context.spans import Span
from reverie.messages.blocks import Json
from reverie.messages.codec import encode_json, tool_to_wire
from reverie.settings import Settings
from reverie.tools.desk import Desk
from reverie.tools.read import Read
from reverie.tools.registry import Registry
from reverie.tools.schema import find_problem
from reverie.tools.shells import Shells
from reverie.tools.standard import standard_tools
from reverie.tools.tool import ToolMistake
from tests.memory.stores import open_store
from tests.requirements import requirement

JSON: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def all_tools(folder: Path) -> Registry:
    settings = Settings()
    settings = replace(settings, tools=replace(settings.tools, web_fetch=True))
    return Registry(
        standard_tools(
            settings,
            Shells(),
            memory_store=open_store(folder / "memory", with_git=False),
            read_span=lambda **_: Span("", None, None, 0),
        )
    )


@requirement("tools:registry:stable")
def test_the_order_and_the_bytes_are_always_the_same(tmp_path: Path) -> None:
    registry = all_tools(tmp_path)

    assert [spec.name for spec in registry.specs] == [
        "Bash", "BashOutput", "KillShell", "Read", "Write", "Edit", "Glob", "Grep", "TodoWrite", "ExitPlanMode",
        "WebFetch", "recall_span", "memory",
    ]  # fmt: skip
    once, again = ([encode_json(tool_to_wire(spec)) for spec in each.specs] for each in (registry, all_tools(tmp_path)))
    assert once == again
    assert all(spec.description for spec in registry.specs if spec.name != "memory")


@requirement("tools:registry:stable")
def test_tools_are_found_and_added_behind(tmp_path: Path) -> None:
    registry = all_tools(tmp_path)

    assert registry.find("Read").spec.name == "Read"
    assert [spec.name for spec in Registry([registry.find("Grep")]).with_tools([Read()]).specs] == ["Grep", "Read"]
    with pytest.raises(ToolMistake, match=r"no tool 'Fly'; there are Bash, .*Grep"):
        registry.find("Fly")
    with pytest.raises(ValueError, match="two tools named 'Read'"):
        registry.with_tools([Read()])


@requirement("tools:web:off")
def test_pages_are_fetched_only_when_it_is_switched_on() -> None:
    assert "WebFetch" not in Registry(standard_tools(Settings(), Shells()))


@requirement("tools:schema:names-the-field")
@pytest.mark.parametrize(
    ("tool", "given_", "problem"),
    [
        ("Read", {}, "the field 'file_path' is missing"),
        ("Read", {"file_path": 3}, "the field 'file_path' must be text, not a whole number"),
        ("Read", {"file_path": ""}, "the field 'file_path' must not be empty"),
        ("Read", {"file_path": "x", "limit": 0}, "the field 'limit' must be at least 1, not 0"),
        ("Read", {"file_path": "x", "limit": True}, "the field 'limit' must be a whole number, not true or false"),
        ("Read", {"file_path": "x", "lines": 3}, "there is no field 'lines'; there are file_path, offset, limit"),
        ("Bash", {"command": "x", "timeout": 700_000}, "the field 'timeout' must be at most 600000, not 700000"),
        ("Grep", {"pattern": "x", "output_mode": "all"}, "the field 'output_mode' must be one of"),
        ("Edit", {"file_path": "x", "old_string": "a", "new_string": None}, "'new_string' must be text, not null"),
    ],
)
def test_a_wrong_input_names_the_field(
    tmp_path: Path, desk: Desk, tool: str, given_: dict[str, Json], problem: str
) -> None:
    found = all_tools(tmp_path).find(tool)

    with pytest.raises(ToolMistake) as mistake:
        found.need(given_, desk)

    assert problem in str(mistake.value)
    assert not found.is_concurrent(given_, desk)


@requirement("tools:schema:names-the-field")
@given(value=st.dictionaries(st.sampled_from(["a", "b", "c"]), JSON))
def test_what_the_check_lets_through_has_the_types(value: dict[str, Json]) -> None:
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "minimum": 0},
            "b": {"type": "array", "items": {"type": ["string", "null"]}},
        },
        "required": ["a"],
        "additionalProperties": False,
    }

    if find_problem(value, schema) is None:
        assert set(value) <= {"a", "b"}
        a, b = value["a"], value.get("b", [])
        assert not isinstance(a, bool)
        assert isinstance(a, int | float)
        assert a == int(a) >= 0
        assert isinstance(b, list)
        assert all(each is None or isinstance(each, str) for each in b)
    else:
        assert find_problem({"a": 1, "b": ["x", None]}, schema) is None


@requirement("tools:schema:names-the-field")
@given(value=st.dictionaries(st.text(max_size=5), JSON))
def test_no_tool_breaks_on_a_strange_input(value: dict[str, Json], tmp_path_factory: pytest.TempPathFactory) -> None:
    from tests.tools.kit import desk_at

    folder = tmp_path_factory.getbasetemp()
    desk = desk_at(folder)
    for tool in all_tools(folder):
        tool.is_concurrent(value, desk)
        try:
            tool.need(value, desk)
        except ToolMistake:
            continue
