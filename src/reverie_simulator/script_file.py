"""Scripts as JSON files. A mistake names the file, the rule and the field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from reverie.errors import UserMistake
from reverie.messages.blocks import Json, JsonObject
from reverie.values import value
from reverie_simulator.script import FAULTS, Condition, Fault, RuleScript, ScriptAction, ScriptRule, ToolCall

RULE_FIELDS = ("name", "when", "then", "times")
WHEN_FIELDS = (
    "last_user",
    "system",
    "tool_result",
    "model",
    "request",
    "has_tool_results",
    "answers_tool",
    "offers_tool",
    "streams",
    "headers",
)
THEN_FIELDS = (
    "text",
    "thinking",
    "tool_calls",
    "blocks",
    "stop_reason",
    "summary",
    "fault",
    "delay_ms",
    "event_delay_ms",
)
CALL_FIELDS = ("name", "input", "id")
FAULT_FIELDS = ("kind", "status", "message", "retry_after", "after_events")


def read_script(path: Path) -> RuleScript:
    """Read a script file. Raises `UserMistake`."""
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise UserMistake(f"The script {path} cannot be read: {problem.strerror}. Name a JSON file.") from problem
    try:
        value: Json = msgspec.json.decode(content)
    except msgspec.DecodeError as problem:
        raise UserMistake(f"The script {path} is not valid JSON: {problem}. Correct the file.") from problem
    return script_from_json(value, str(path))


def script_from_json(value: Json, source: str) -> RuleScript:
    """A script from `{"rules": […]}` or from the bare list; `source` names it in mistakes."""
    here = _Place(source, "")
    if isinstance(value, dict):
        here.only(value, ("rules",))
        value = value.get("rules")
        here = here.at("rules")
    if not isinstance(value, list):
        raise here.mistake("must be a list of rules")
    return RuleScript(_rule(entry, here.at(str(number))) for number, entry in enumerate(value))


def action_from_json(value: Json, source: str) -> ScriptAction:
    """One action; `source` names it in mistakes."""
    return _action(value, _Place(source, ""))


@value
class _Place:
    """Where in which file something stands."""

    source: str
    path: str

    def at(self, key: str) -> _Place:
        return _Place(self.source, f"{self.path}.{key}" if self.path else key)

    def mistake(self, problem: str) -> UserMistake:
        return UserMistake(f"The script {self.source} has a mistake: {self.path or 'the whole file'} {problem}.")

    def only(self, value: JsonObject, allowed: tuple[str, ...]) -> None:
        for key in value:
            if key not in allowed:
                raise self.at(key).mistake(f"is not a known field; there are {', '.join(allowed)}")

    def object(self, value: Json) -> JsonObject:
        if not isinstance(value, dict):
            raise self.mistake("must be an object")
        return value

    def text(self, value: Json) -> str:
        if not isinstance(value, str):
            raise self.mistake("must be a string")
        return value

    def flag(self, value: Json) -> bool:
        if not isinstance(value, bool):
            raise self.mistake("must be true or false")
        return value

    def whole(self, value: Json, at_least: int = 0) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < at_least:
            raise self.mistake(f"must be a whole number of at least {at_least}")
        return value

    def number(self, value: Json) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
            raise self.mistake("must be a number of at least 0")
        return float(value)

    def pattern(self, value: Json) -> re.Pattern[str]:
        try:
            return re.compile(self.text(value), re.IGNORECASE | re.DOTALL)
        except re.error as problem:
            raise self.mistake(f"is not a regular expression: {problem}") from problem


def _rule(value: Json, here: _Place) -> ScriptRule:
    fields = here.object(value)
    here.only(fields, RULE_FIELDS)
    if "then" not in fields:
        raise here.at("then").mistake("is missing: it says what happens")
    then = fields["then"]
    steps = then if isinstance(then, list) else [then]
    if not steps:
        raise here.at("then").mistake("must not be empty")
    several = isinstance(then, list)
    actions = tuple(
        _action(step, here.at("then").at(str(number)) if several else here.at("then"))
        for number, step in enumerate(steps)
    )
    times = fields.get("times")
    return ScriptRule(
        then=actions,
        when=_condition(fields.get("when", {}), here.at("when")),
        times=here.at("times").whole(times, 1) if times is not None else (len(actions) if several else None),
        name=here.at("name").text(fields.get("name", "")),
    )


def _condition(value: Json, here: _Place) -> Condition:
    fields = here.object(value)
    here.only(fields, WHEN_FIELDS)

    def pattern(key: str) -> re.Pattern[str] | None:
        return here.at(key).pattern(fields[key]) if key in fields else None

    def name(key: str) -> str | None:
        return here.at(key).text(fields[key]) if key in fields else None

    def flag(key: str) -> bool | None:
        return here.at(key).flag(fields[key]) if key in fields else None

    headers = here.at("headers").object(fields.get("headers", {}))
    return Condition(
        last_user=pattern("last_user"),
        system=pattern("system"),
        tool_result=pattern("tool_result"),
        model=pattern("model"),
        request=here.at("request").whole(fields["request"], 1) if "request" in fields else None,
        has_tool_results=flag("has_tool_results"),
        answers_tool=name("answers_tool"),
        offers_tool=name("offers_tool"),
        streams=flag("streams"),
        headers=tuple((key.lower(), here.at("headers").at(key).pattern(entry)) for key, entry in headers.items()),
    )


def _action(value: Json, here: _Place) -> ScriptAction:
    if isinstance(value, str):
        return ScriptAction(text=value)
    fields = here.object(value)
    here.only(fields, THEN_FIELDS)

    def text(key: str) -> str | None:
        return here.at(key).text(fields[key]) if key in fields else None

    def seconds(key: str) -> float:
        return here.at(key).number(fields.get(key, 0)) / 1000

    return ScriptAction(
        text=text("text"),
        thinking=text("thinking"),
        tool_calls=tuple(_call(entry, place) for entry, place in _entries(fields, "tool_calls", here)),
        blocks=tuple(place.object(entry) for entry, place in _entries(fields, "blocks", here)),
        stop_reason=text("stop_reason"),
        summary=text("summary"),
        fault=_fault(fields["fault"], here.at("fault")) if "fault" in fields else None,
        delay_seconds=seconds("delay_ms"),
        event_delay_seconds=seconds("event_delay_ms"),
    )


def _entries(fields: JsonObject, key: str, here: _Place) -> list[tuple[Json, _Place]]:
    entries = fields.get(key, [])
    if not isinstance(entries, list):
        raise here.at(key).mistake("must be a list")
    return [(entry, here.at(key).at(str(number))) for number, entry in enumerate(entries)]


def _call(value: Json, here: _Place) -> ToolCall:
    fields = here.object(value)
    here.only(fields, CALL_FIELDS)
    if "name" not in fields:
        raise here.at("name").mistake("is missing: it says which tool is called")
    return ToolCall(
        name=here.at("name").text(fields["name"]),
        input=here.at("input").object(fields.get("input", {})),
        id=here.at("id").text(fields["id"]) if "id" in fields else None,
    )


def _fault(value: Json, here: _Place) -> Fault:
    fields: Mapping[str, Json] = {"kind": value} if isinstance(value, str) else here.object(value)
    here.only(fields, FAULT_FIELDS)
    kind = here.at("kind").text(fields.get("kind"))
    if kind not in FAULTS:
        raise here.at("kind").mistake(f"is {kind!r}; there are {', '.join(FAULTS)}")
    return Fault(
        kind=kind,
        status=here.at("status").whole(fields["status"], 400) if "status" in fields else None,
        message=here.at("message").text(fields["message"]) if "message" in fields else None,
        retry_after_seconds=here.at("retry_after").number(fields["retry_after"]) if "retry_after" in fields else None,
        after_events=here.at("after_events").whole(fields["after_events"]) if "after_events" in fields else None,
    )
