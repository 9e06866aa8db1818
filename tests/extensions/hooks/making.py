"""Declarations and hooks for tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from reverie.extensions.hooks import Declared, Effects, HookContext, Hooks, parse_declaration
from reverie.files.trust import TrustAnswers
from reverie.messages.blocks import JsonObject
from reverie.settings import Declaration
from reverie.settings import HookSettings as Limits

ENVIRONMENT = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": "/nonexistent"}
REAL = Effects()
NO_TRUST = TrustAnswers()


def command(text: str, **more: object) -> dict[str, object]:
    return {"type": "command", "command": text, **more}


def declaration(
    hooks: Mapping[str, object], *, source: str = "user", place: str = "settings.json:1", committed: bool = False
) -> Declaration:
    return Declaration(source=source, place=place, committed=committed, text=json.dumps(hooks))


def on(event: str, *entries: object, matcher: str = "", source: str = "user", committed: bool = False) -> Declared:
    block = {event: [{"matcher": matcher, "hooks": list(entries)}]}
    return parse_declaration(declaration(block, source=source, place=f"{source}.json:1", committed=committed))


def hooks_in(
    project: Path,
    *declared: Declared,
    effects: Effects = REAL,
    trust: TrustAnswers = NO_TRUST,
    spills: Path | None = None,
    env_file: Path | None = None,
    environment: Mapping[str, str] = ENVIRONMENT,
    facts: JsonObject | None = None,
    wake: Callable[[], None] = lambda: None,
    **limits: object,
) -> Hooks:
    return Hooks(
        declared,
        limits=replace(Limits(), **limits),  # type: ignore[arg-type]
        context=HookContext(project, environment, env_file),
        facts=lambda: facts if facts is not None else {"session_id": "s", "cwd": str(project)},
        trust=trust,
        spills=spills,
        effects=effects,
        wake=wake,
    )
