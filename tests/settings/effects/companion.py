"""What a hook of another agent is answered at the start of a session."""

from __future__ import annotations

import shutil
from pathlib import Path

from reverie.apps.hook.run import respond
from reverie.hosts.hook_events import read_event
from reverie.memory.memory import Memory
from reverie.memory.topics.value import Topic
from reverie.settings import Settings
from reverie.settings.load import Configuration, Secrets, places
from tests.settings.effects.doors import ROOT


def hooked(settings: Settings) -> object:
    project = ROOT / "companion"
    home = ROOT / "companion-home"
    for folder in (project, home):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    configuration = Configuration(settings, {}, (), home, home, project, Secrets({}))
    with Memory.at(places(configuration), settings, project) as memory:
        memory.save_many(Topic(name=f"Rule {number}", description="d" * 60, body="b") for number in range(30))
    event = read_event("SessionStart", {"session_id": "1", "cwd": str(project)}, {}, "claude-code")
    return respond(event, configuration, spawn=lambda *_: None).replace(str(Path(ROOT)), "")
