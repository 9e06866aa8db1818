"""Validates the input of a tool call against its schema, and reads its fields with types.

Knows the part of JSON Schema that tools use: type, required, properties, items, enum, bounds and unknown fields. Other
keywords (a remote tool may have any) are taken as kept. What the values mean is the tool's matter.
"""

from __future__ import annotations

from collections.abc import Mapping

from reverie.messages.blocks import Json, JsonObject
from reverie.tools.tool import ToolMistake

_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def check(arguments: JsonObject, schema: JsonObject, tool: str) -> None:
    """Raise `ToolMistake` with the first field that is wrong."""
    problem = find_problem(arguments, schema)
    if problem is not None:
        raise ToolMistake(f"{tool} was not run: {problem}. Call it again with this mended.")


def find_problem(value: object, schema: JsonObject, where: str = "") -> str | None:
    """What is wrong with a value, naming the field; None when nothing is."""
    kinds = schema.get("type")
    allowed = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    if allowed and not any(_is(value, str(kind)) for kind in allowed):
        expected = " or ".join(_WORDS.get(str(kind), str(kind)) for kind in allowed)
        return f"{_describe_place(where)} must be {expected}, not {_kind_of(value)}"
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        return f"{_describe_place(where)} must be one of {', '.join(map(repr, choices))}, not {value!r}"
    if isinstance(value, Mapping):
        return _problem_inside(value, schema, where)
    if isinstance(value, list):
        return _problem_in_items(value, schema, where)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _problem_of_size(value, schema, where)
    if isinstance(value, str) and len(value) < _bound(schema, "minLength", 0):
        return f"{_describe_place(where)} must not be empty"
    return None


def text(arguments: JsonObject, name: str, default: str = "") -> str:
    """A field that is text."""
    value = arguments.get(name)
    return value if isinstance(value, str) else default


def texts(arguments: JsonObject, name: str) -> tuple[str, ...]:
    """A field that is a list of texts."""
    values = arguments.get(name)
    return tuple(value for value in values if isinstance(value, str)) if isinstance(values, list) else ()


def number(arguments: JsonObject, name: str, default: int) -> int:
    """A field that is a whole number."""
    value = arguments.get(name)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else default


def flag(arguments: JsonObject, name: str, *, default: bool = False) -> bool:
    """A field that is true or false."""
    value = arguments.get(name)
    return value if isinstance(value, bool) else default


def _problem_inside(value: Mapping[str, object], schema: JsonObject, where: str) -> str | None:
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if name not in value:
            return f"{_describe_place(_below(where, str(name)))} is missing"
    properties = schema.get("properties")
    rules: JsonObject = properties if isinstance(properties, dict) else {}
    for name, inner in value.items():
        rule = rules.get(name)
        if isinstance(rule, dict):
            problem = find_problem(inner, rule, _below(where, name))
            if problem is not None:
                return problem
        elif name not in rules and schema.get("additionalProperties") is False:
            return f"there is no field {_below(where, name)!r}; there are {', '.join(rules) or 'none'}"
    return None


def _problem_in_items(value: list[object], schema: JsonObject, where: str) -> str | None:
    rule = schema.get("items")
    if not isinstance(rule, dict):
        return None
    problems = (find_problem(item, rule, f"{where}[{place}]") for place, item in enumerate(value))
    return next((problem for problem in problems if problem is not None), None)


def _problem_of_size(value: float, schema: JsonObject, where: str) -> str | None:
    if value < _bound(schema, "minimum", float("-inf")):
        return f"{_describe_place(where)} must be at least {schema['minimum']}, not {value}"
    if value > _bound(schema, "maximum", float("inf")):
        return f"{_describe_place(where)} must be at most {schema['maximum']}, not {value}"
    return None


def _bound(schema: JsonObject, name: str, default: float) -> float:
    value = schema.get(name)
    return value if isinstance(value, int | float) else default


def _is(value: object, kind: str) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return not isinstance(value, bool) and (
                isinstance(value, int) or (isinstance(value, float) and value.is_integer())
            )
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, Mapping)
        case "null":
            return value is None
    return True


def _kind_of(value: Json | object) -> str:
    return next((_WORDS[kind] for kind in _WORDS if kind != "number" and _is(value, kind)), "a number")


def _below(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _describe_place(where: str) -> str:
    return f"the field {where!r}" if where else "the input"
