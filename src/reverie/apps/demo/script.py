"""The sessions of the story as people can read them: `story/*.md`.

`@@ session DAY TIME` tells when it was held (days since the first Monday), then `@@ user`, `@@ agent` and
`@@ call TOOL INPUT` follow, each with its text. What tools answer is not written down: they run. A number after
`@@ user` is how many minutes later it was typed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import time
from importlib.resources import files
from pathlib import Path

from reverie.values import value
from reverie_simulator.script import ScriptAction, ToolCall


@dataclass(slots=True)
class ScriptedTurn:
    """What the user types, and what the model does until it is done."""

    text: str
    minutes: int = 0
    """How long after the turn before."""
    actions: list[ScriptAction] = field(default_factory=list)


@value
class ScriptedSession:
    """One session."""

    name: str
    day: int
    """Since the first Monday."""
    at: time
    turns: tuple[ScriptedTurn, ...]


def read_story(project: Path) -> list[ScriptedSession]:
    """All sessions of the story, in order."""
    folder = files("reverie.apps.demo") / "story"
    scripts = sorted(each.name for each in folder.iterdir() if each.name.endswith(".md"))
    return [_read_script(name, (folder / name).read_text(encoding="utf-8"), project) for name in scripts]


def sample_key() -> str:
    """Something that looks like a secret, made here so that none stands in a file."""
    return "-".join(("sk", "ant", "api03", "Qm7" * 31 + "AA"))


def _read_script(name: str, text: str, project: Path) -> ScriptedSession:
    text = text.replace("{key}", sample_key()).replace("{project}", json.dumps(str(project))[1:-1])
    head, *parts = text.split("@@ ")[1:]
    _, day, at = head.split()
    return ScriptedSession(name.removesuffix(".md"), int(day), time.fromisoformat(at), tuple(_read_turns(parts)))


def _read_turns(parts: list[str]) -> Iterator[ScriptedTurn]:
    turn: ScriptedTurn | None = None
    text = ""
    for part in parts:
        head, _, body = part.partition("\n")
        kind, _, rest = head.partition(" ")
        match kind:
            case "user":
                if turn is not None:
                    turn.actions.append(ScriptAction(text=text))
                    yield turn
                turn, text = ScriptedTurn(body.strip(), int(rest or 0)), ""
            case "agent":
                text = body.strip()
            case "call":
                assert turn is not None, "a call belongs to a turn"
                tool, _, arguments = rest.partition(" ")
                turn.actions.append(
                    ScriptAction(text=text or None, tool_calls=(ToolCall(tool, json.loads(arguments)),))
                )
                text = ""
            case _:
                raise ValueError(f"{head!r} is no part of a script")
    assert turn is not None, "a session has a turn"
    turn.actions.append(ScriptAction(text=text))
    yield turn
