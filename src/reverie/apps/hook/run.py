"""`reverie hook EVENT`: from the JSON on standard input to the answer on standard output.

The host waits for this process, so it never breaks the host: whatever fails, the exit code is 0 and a line goes to the
log, and after `HARD_LIMIT_SECONDS` the process ends whatever it is doing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reverie.apps.hook.answers import AskWarm
    from reverie.apps.hook.state import HookFolder
    from reverie.hosts.hook_events import HookEvent
    from reverie.memory.memory import Memory
    from reverie.memory.search.document import Query
    from reverie.memory.search.render import Hit
    from reverie.settings.load import Configuration

HARD_LIMIT_SECONDS = 2.0
_LOG_SECONDS = 0.2
"""Of these, how many are left for the line in the log."""
_MOST_INPUT_BYTES = 16_000_000


def main(arguments: Sequence[str]) -> int:
    """Answer the event that these arguments name; always 0."""
    done = _end_after_limit()
    try:
        text = run(*parse_arguments(arguments), read_input())
        if text:
            os.write(1, f"{text}\n".encode("utf-8", "replace"))
    except Exception as problem:  # noqa: BLE001 - the host must not notice
        log_failure(arguments, problem)
    finally:
        done.set()
    return 0


def parse_arguments(arguments: Sequence[str]) -> tuple[str, str]:
    """The event and the agent that a command line names; empty where it names none."""
    event, agent = "", ""
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--agent" and rest:
            agent = rest.pop(0)
        elif word.startswith("--agent="):
            agent = word.removeprefix("--agent=")
        elif not word.startswith("-") and not event:
            event = word
    return event, agent


def read_input() -> Mapping[str, Any]:
    """The event as the host wrote it; empty when it is not a JSON object."""
    import json

    if sys.stdin is None or sys.stdin.isatty():
        return {}
    data = sys.stdin.buffer.read(_MOST_INPUT_BYTES)
    document = json.loads(data.decode("utf-8", "replace")) if data.strip() else {}
    if not isinstance(document, dict):
        raise ValueError("the event on standard input is not a JSON object")
    return document


def run(name: str, named_agent: str, payload: Mapping[str, Any]) -> str:
    """The answer to an event in the form of the agent that sent it; may be empty."""
    from dataclasses import replace

    from reverie.hosts.hook_events import read_event
    from reverie.settings.environment import ASKED_BY
    from reverie.settings.load import SettingsFlags, from_process, process_environment

    environment = process_environment()
    event = read_event(name, payload, environment, named_agent)
    if event.moment is None or ASKED_BY in environment:
        return ""
    directory = Path(event.cwd) if event.cwd and Path(event.cwd).is_dir() else Path.cwd()
    return respond(replace(event, cwd=str(directory)), from_process(SettingsFlags(project=directory)))


def respond(event: HookEvent, configuration: Configuration, *, spawn: Callable[..., None] | None = None) -> str:
    """As `run`, with the event read and the settings loaded; `spawn` starts a module of ours, detached."""
    settings = configuration.settings
    is_ours = event.transcript.startswith(f"{configuration.home}{os.sep}")
    if not settings.companion.enabled or is_ours:
        return ""  # a session of ours, which may run the hooks of Claude Code too, has its memory anyway
    from dataclasses import replace

    from reverie.apps.hook.state import HookFolder
    from reverie.apps.hook.transcript_tail import find_transcript
    from reverie.hosts.hook_events import HookMoment, render_answer
    from reverie.settings.load import places, system_now

    event = replace(event, transcript=event.transcript or find_transcript(event, configuration))
    folder = HookFolder(configuration.home)
    folder.note_call(event.agent, event.named_agent)
    if event.moment in (HookMoment.STOP, HookMoment.END):
        from reverie.apps.hook.background import request_learning, spawn_detached

        is_wanted = settings.extraction.enabled and settings.memory.enabled and not settings.remote.mode
        if is_wanted and event.transcript and not event.is_subagent:
            request_learning(folder, event, spawn or spawn_detached)
        if event.moment is HookMoment.END:
            return ""
    from reverie.apps.hook.answers import answer_event
    from reverie.memory.memory import Memory

    directory = Path(event.cwd)
    with Memory.at(places(configuration), settings, directory) as memory:
        if event.moment is HookMoment.START:
            _prepare_session(memory, folder, configuration.home, spawn)
        ask_warm = _warm_asker(memory, configuration.home, directory)
        return render_answer(event, answer_event(event, memory, folder, system_now(), ask_warm))


def _prepare_session(memory: Memory, folder: HookFolder, home: Path, spawn: Callable[..., None] | None) -> None:
    """Start the process that holds the vectors, where there are any, and clear away what old sessions left."""
    from reverie.hosts.install.launcher import renew_launchers
    from reverie.settings.load import system_now

    folder.remove_old(system_now())
    renew_launchers(home, Path.home())
    if memory.has_vectors:
        from reverie.apps.hook.background import spawn_detached
        from reverie.apps.hook.warm import is_running

        if not is_running(home):
            (spawn or spawn_detached)("reverie.apps.hook.warm", str(home))


def _warm_asker(memory: Memory, home: Path, directory: Path) -> AskWarm:
    """What asks the process that holds the vectors; without vectors nobody is asked."""

    def ask(query: Query) -> Sequence[Hit] | None:
        if not memory.has_vectors:
            return None
        from reverie.apps.hook.warm import ask_warm

        return ask_warm(home, directory, query)

    return ask


def log_failure(arguments: Sequence[str], problem: Exception) -> None:
    """Write a line to the log of the hooks; where that fails too, nothing is left to do."""
    try:
        from reverie.apps.hook.state import HookFolder
        from reverie.settings.load import hook_home, system_now

        where = f"{type(problem).__name__}: {problem}"
        HookFolder(hook_home()).append_log(system_now(), f"hook {' '.join(arguments)} failed: {where}")
    except Exception:  # noqa: BLE001 - the host must not notice
        return


def _leave_late() -> None:
    log_failure(sys.argv[2:], TimeoutError(f"not done after {HARD_LIMIT_SECONDS} s"))
    try:
        from reverie.apps.hook.background import request_index, spawn_detached
        from reverie.apps.hook.state import HookFolder
        from reverie.settings.load import hook_home, system_now

        request_index(HookFolder(hook_home()), Path.cwd(), system_now(), spawn_detached)
    except Exception:  # noqa: BLE001 - the host must not notice
        return


def _end_after_limit() -> Any:
    """Watch the clock from a thread of its own: a disk that hangs must not keep the host waiting."""
    import threading

    done = threading.Event()

    def watch() -> None:
        if not done.wait(HARD_LIMIT_SECONDS - _LOG_SECONDS):
            late = threading.Thread(target=_leave_late, daemon=True)
            late.start()
            late.join(_LOG_SECONDS)
            os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
    return done
