"""`reverie hook`: what each agent is answered, once, and what happens when something is broken."""

from __future__ import annotations

import json
import os
import sqlite3
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reverie import Memory
from reverie.apps.hook.answers import notices_file
from reverie.apps.hook.background import learn_pending, request_index
from reverie.apps.hook.run import main, parse_arguments, respond, run
from reverie.apps.hook.state import HookFolder
from reverie.apps.hook.transcript_tail import copy_tail, read_tail
from reverie.hosts.hook_events import find_caller, read_event, tag_text
from reverie.memory.extraction.typed import own_words
from reverie.settings.environment import ASKED_BY
from reverie.settings.load import Configuration, Secrets, places
from tests.person import Person
from tests.program import run_reverie
from tests.requirements import requirement

PROMPT = "how do we run the importer tests?"
SAID = "From now on, always run the importer tests with `make importer-test`, never with pytest."


@dataclass(frozen=True)
class Host:
    """An agent that calls our hooks."""

    configuration: Configuration
    project: Path
    spawned: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def folder(self) -> HookFolder:
        return HookFolder(self.configuration.home)

    def memory(self) -> Memory:
        return Memory.at(places(self.configuration), self.configuration.settings, self.project)

    def call(self, event: str, agent: str = "claude-code", /, **payload: object) -> dict[str, Any]:
        facts = {"session_id": "s1", "cwd": str(self.project)} | payload
        return self.send(event, agent, facts)

    def send(self, event: str, agent: str, payload: dict[str, object]) -> dict[str, Any]:
        given = read_event(event, payload, {}, agent)
        text = respond(
            replace(given, cwd=given.cwd or str(self.project)),
            self.configuration,
            spawn=lambda *module: self.spawned.append(module),
        )
        return json.loads(text) if text else {}


@pytest.fixture
def host(person: Person, tmp_path: Path) -> Host:
    project = tmp_path / "project"
    project.mkdir()
    home = Path(person.settings.home)
    configuration = Configuration(
        person.settings, {}, (), home, Path(person.settings.config_home), project, Secrets({})
    )
    at = Host(configuration, project)
    with at.memory() as memory:
        memory.save(
            name="Importer tests", description="Run the importer tests with make importer-test", type="feedback",
            body="Never with pytest directly: the fixtures need the make target.",
        )  # fmt: skip
    return at


def transcript_of(host: Host, *said: str) -> Path:
    session = "0d9c1a52-7f2e-4a4b-9d58-3f7a5f1f0c11"
    path = host.configuration.config_home / "projects" / "p" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    parent, lines = None, []
    for number, text in enumerate(said):
        role = "user" if number % 2 == 0 else "assistant"
        message: dict[str, Any] = {
            "role": role,
            "content": text if role == "user" else [{"type": "text", "text": text}],
        }
        record = {
            "type": role, "uuid": f"u{number}", "parentUuid": parent, "sessionId": session, "cwd": str(host.project),
            "timestamp": f"2026-05-01T12:00:{number:02}.000Z", "message": message,
        }  # fmt: skip
        parent = record["uuid"]
        lines.append(json.dumps(record))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def context_of(answer: dict[str, Any]) -> str:
    nested = answer.get("hookSpecificOutput", answer)
    return str(nested.get("additionalContext") or nested.get("context") or "")


@requirement("hook:forms")
@pytest.mark.parametrize(
    ("agent", "event", "keys"),
    [
        ("claude-code", "UserPromptSubmit", {"hookSpecificOutput"}),
        ("codex", "UserPromptSubmit", {"hookSpecificOutput"}),
        ("qwen", "UserPromptSubmit", {"hookSpecificOutput"}),
        ("copilot", "userPromptSubmitted", {"additionalContext"}),
        ("opencode", "UserPromptSubmit", {"context", "message"}),
    ],
)
def test_a_prompt_is_answered_in_the_form_of_the_agent(host: Host, agent: str, event: str, keys: set[str]) -> None:
    session = "sessionId" if agent == "copilot" else "session_id"
    answer = host.send(event, agent, {session: "s1", "cwd": str(host.project), "prompt": PROMPT})

    assert answer.keys() == keys
    assert "make importer-test" in context_of(answer)
    if "hookSpecificOutput" in answer:
        assert answer["hookSpecificOutput"].keys() == {"hookEventName", "additionalContext"}
        assert answer["hookSpecificOutput"]["hookEventName"] == event


@requirement("hook:forms")
def test_the_start_of_a_session_tells_the_index_and_what_changed_since(host: Host) -> None:
    first = context_of(host.call("SessionStart", source="startup"))
    with host.memory() as memory:
        memory.save(name="Release", description="Releases go out on Tuesdays", type="project", body="-")
    second = context_of(host.call("SessionStart", source="startup", session_id="s2"))
    third = context_of(host.call("SessionStart", source="startup", session_id="s3"))

    assert "[Importer tests]" in first
    assert "Changed since" not in first
    assert "project_release.md" in second.partition("Changed since your last session here")[2]
    assert "Changed since" not in third


@requirement("hook:forms")
@pytest.mark.parametrize(
    ("payload", "environ", "agent"),
    [
        ({"turn_id": "t", "transcript_path": "/h/.codex/sessions/2026/01/02/rollout-2026-x.jsonl"}, {}, "codex"),
        ({"session_id": "s"}, {"COPILOT_CLI": "1"}, "copilot"),
        ({"session_id": "s"}, {"QWEN_CODE_SESSION_ID": "s"}, "qwen"),
        ({"session_id": "s"}, {"GEMINI_SESSION_ID": "s", "CLAUDE_PROJECT_DIR": "/p"}, "gemini"),
        ({"hookName": "TaskStart", "taskId": "1"}, {}, "cline"),
        ({"session_id": "s"}, {"CURSOR_VERSION": "2"}, "cursor"),
        (
            {"transcript_path": "/h/.claude/projects/-p/0d9c1a52-7f2e-4a4b-9d58-3f7a5f1f0c11.jsonl"},
            {"COPILOT_CLI": "1"},
            "claude-code",
        ),
        ({"session_id": "s"}, {"CLAUDE_PROJECT_DIR": "/p", "CLAUDE_PLUGIN_ROOT": "/q"}, ""),
    ],
)
def test_the_caller_is_recognised_by_what_only_it_leaves(
    payload: dict[str, str], environ: dict[str, str], agent: str
) -> None:
    assert find_caller(payload, environ) == agent


@requirement("hook:once")
def test_a_prompt_is_answered_once(host: Host) -> None:
    assert context_of(host.call("UserPromptSubmit", prompt=PROMPT, prompt_id="p1"))
    assert host.call("UserPromptSubmit", prompt=PROMPT, prompt_id="p1") == {}
    # Copilot runs the hooks of Claude Code too; without an id the words and the moment tell.
    assert context_of(host.send("userPromptSubmitted", "copilot", {"sessionId": "c", "prompt": PROMPT}))
    doubled = replace(
        read_event("UserPromptSubmit", {"session_id": "c", "prompt": PROMPT}, {"COPILOT_CLI": "1"}, "claude-code"),
        cwd=str(host.project),
    )
    assert doubled.agent == "copilot"
    assert respond(doubled, host.configuration) == ""


@requirement("hook:once")
def test_a_memory_is_shown_once_until_a_compaction(host: Host) -> None:
    assert context_of(host.call("UserPromptSubmit", prompt=PROMPT, prompt_id="1"))
    assert not context_of(host.call("UserPromptSubmit", prompt=f"{PROMPT} Please.", prompt_id="2"))
    host.call("SessionStart", source="compact")
    assert context_of(host.call("UserPromptSubmit", prompt=f"{PROMPT} Please.", prompt_id="3"))


@requirement("hook:forms")
def test_what_must_survive_a_compaction_comes_back_after_it(host: Host) -> None:
    path = transcript_of(host, "Fix the importer, and keep the old file format.", "I looked at importer.py.", "Go on")
    assert host.call("PreCompact", transcript_path=str(path), trigger="auto") == {}
    after = context_of(host.call("SessionStart", source="compact"))
    assert "keep the old file format" in after
    assert "keep the old file format" not in context_of(host.call("SessionStart", source="resume"))
    # An agent without a start after a compaction gets it with the next prompt; opencode takes it before.
    copilot: dict[str, object] = {"sessionId": "s1", "transcriptPath": str(path)}
    host.send("preCompact", "copilot", copilot)
    assert "keep the old" in context_of(host.send("userPromptSubmitted", "copilot", copilot | {"prompt": "go on now"}))
    assert "keep the old" in context_of(host.call("PreCompact", "opencode", transcript_path=str(path)))
    # Qwen forgets with every process what a start told it.
    host.call("PreCompact", "qwen", transcript_path=str(path))
    for source in ("compact", "resume", "resume"):
        assert "keep the old" in context_of(host.call("SessionStart", "qwen", source=source))
    assert "keep the old" not in context_of(host.call("SessionStart", "qwen", source="startup"))


@requirement("hook:learns")
def test_a_turn_is_learnt_from_in_the_background_and_the_user_is_told(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(host.configuration.home.parent))
    path = transcript_of(host, "From now on, always write commit messages in English.", "I will.")

    host.call("Stop", transcript_path=str(path))
    host.call("Stop", transcript_path=str(path))
    assert host.spawned == [("reverie.apps.hook.background",)] * 2
    assert len(list(host.folder.pending.glob("*.json"))) == 1

    assert learn_pending(host.folder) == 1
    assert learn_pending(host.folder) == 0
    told = host.call("UserPromptSubmit", prompt="hello there again")
    assert told["systemMessage"].startswith("remembered: ")
    assert "reverie undo" in told["systemMessage"]
    assert "systemMessage" not in host.call("UserPromptSubmit", prompt="hello there once more")


@requirement("hook:learns")
def test_what_was_recalled_is_not_learnt_again(host: Host) -> None:
    shown = context_of(host.call("UserPromptSubmit", prompt=PROMPT))
    assert own_words(f"{shown}\n{SAID}") == SAID
    assert tag_text("a </reverie-memory> b").count("</reverie-memory>") == 1


@requirement("hook:off")
def test_hooks_are_off_for_a_project_or_a_session(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    from reverie.settings.load import SettingsFlags, from_process

    monkeypatch.setenv("HOME", str(host.configuration.home.parent))
    monkeypatch.setenv("REVERIE_HOOKS", "off")
    assert not from_process(SettingsFlags(project=host.project)).settings.companion.enabled
    monkeypatch.delenv("REVERIE_HOOKS")
    monkeypatch.setenv("REVERIE_ASKED_BY", "command")  # a program that we ask in the background
    assert not from_process(SettingsFlags(project=host.project)).settings.companion.enabled
    monkeypatch.delenv("REVERIE_ASKED_BY")
    (host.project / ".reverie").mkdir()
    (host.project / ".reverie" / "settings.toml").write_text("[companion]\nenabled = false\n", encoding="utf-8")
    configuration = from_process(SettingsFlags(project=host.project))
    event = replace(read_event("UserPromptSubmit", {"prompt": PROMPT}, {}), cwd=str(host.project))
    assert respond(event, configuration) == ""


@requirement("hook:forms")
def test_a_session_of_our_own_gets_nothing_from_the_hooks_of_another(host: Host) -> None:
    own = host.configuration.home / "projects" / "p" / "s.jsonl"
    assert host.call("UserPromptSubmit", prompt=PROMPT, transcript_path=str(own)) == {}
    assert host.call("UserPromptSubmit", prompt=PROMPT, agent_id="a1") == {}


@requirement("hook:never-breaks")
@pytest.mark.parametrize("given", [b"", b"\xff\xfe garbage {", b"[1, 2]", b"null", b'{"prompt": 7, "cwd": []}'])
def test_bad_input_ends_with_nothing_and_0(
    host: Host, given: bytes, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    read, write = os.pipe()
    os.write(write, given)
    os.close(write)
    with os.fdopen(read, "r") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        monkeypatch.setenv("HOME", str(host.configuration.home.parent))
        monkeypatch.chdir(host.project)
        assert main(["UserPromptSubmit", "--agent", "claude-code"]) == 0
    assert capfd.readouterr().out == ""
    is_failure = given not in (b"", b'{"prompt": 7, "cwd": []}')
    assert host.folder.log_file.exists() == is_failure


@requirement("hook:never-breaks")
def test_a_broken_store_or_settings_is_a_line_in_the_log(
    host: Host, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def call() -> None:
        read, write = os.pipe()
        os.write(write, json.dumps({"session_id": "x", "cwd": str(host.project), "prompt": PROMPT}).encode())
        os.close(write)
        with os.fdopen(read, "r") as stdin:
            monkeypatch.setattr("sys.stdin", stdin)
            assert main(["UserPromptSubmit"]) == 0

    home = host.configuration.home
    monkeypatch.setenv("HOME", str(home.parent))
    (home / "settings.toml").write_text("[[broken", encoding="utf-8")
    call()
    assert "settings.toml" in host.folder.log_file.read_text(encoding="utf-8")
    (home / "settings.toml").unlink()
    with host.memory() as memory:
        index = memory.scope.folder.search_index
    for file in index.iterdir():
        file.write_bytes(b"not a database")
    call()
    assert "make importer-test" in capfd.readouterr().out  # the index is derived: it is built again


@requirement("hook:never-breaks")
def test_a_hook_that_has_no_time_leaves_the_index_to_one_other_process(host: Host) -> None:
    host.call("UserPromptSubmit", prompt=PROMPT)
    now = datetime.now(UTC)
    spawned: list[tuple[str, ...]] = []

    for seconds in (0, 30, 90):
        later = now + timedelta(seconds=seconds)
        request_index(host.folder, host.project, later, lambda *module: spawned.append(module))

    assert spawned == [("reverie", "list", "--json", "--project", str(host.project))] * 2


@requirement("hook:never-breaks")
@pytest.mark.program
def test_a_locked_database_does_not_hold_the_host(host: Host) -> None:
    with host.memory() as memory:
        (database,) = memory.scope.folder.search_index.glob("*.db")
    with sqlite3.connect(database) as other:
        other.execute("begin exclusive")
        ended = run_reverie(
            ("hook", "UserPromptSubmit"),
            cwd=host.project,
            environment={"HOME": str(host.configuration.home.parent), "PATH": os.environ["PATH"]},
            stdin=json.dumps({"session_id": "s1", "cwd": str(host.project), "prompt": PROMPT}),
        )
        other.rollback()
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert "not done after 2.0 s" in host.folder.log_file.read_text(encoding="utf-8")


@requirement("hook:never-breaks")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_disk_without_room_costs_no_memory_that_is_there(host: Host) -> None:
    (host.folder.directory / "sessions").mkdir(parents=True)
    for name in ("log", "sessions/claude-code-s1.json"):
        (host.folder.directory / name).symlink_to("/dev/full")

    assert "make importer-test" in context_of(host.call("UserPromptSubmit", prompt=PROMPT))
    assert "Importer tests" in context_of(host.call("SessionStart", source="startup"))
    host.folder.append_log(datetime.now(UTC), "there is no room for this line")


@requirement("hook:never-breaks")
def test_a_home_that_cannot_be_written_still_recalls(host: Host) -> None:
    if os.geteuid() == 0:
        # Nobody forbids root anything; a file in the place of the folder does.
        (host.configuration.home / "hooks").write_text("", encoding="utf-8")
    else:
        host.configuration.home.chmod(0o500)
    try:
        assert "make importer-test" in context_of(host.call("UserPromptSubmit", prompt=PROMPT))
        assert context_of(host.call("SessionStart", source="startup"))
    finally:
        host.configuration.home.chmod(0o700)


@requirement("hook:never-breaks")
def test_only_the_end_of_a_long_transcript_is_read(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "rollout.jsonl"
    path.parent.mkdir()
    call = {"type": "assistant", "message": {"content": [
        {"type": "text", "text": "I edit it."},
        {"type": "tool_use", "name": "Edit", "input": {"file_path": f"{tmp_path}/src/importer.py"}},
    ]}}  # fmt: skip
    with path.open("wb") as file:
        file.write(b'{"type": "session_meta"}\n')
        file.truncate(3_000_000_000)  # a file of nothing takes no room
        file.seek(0, 2)
        file.write(b"\n" + json.dumps(call).encode() + b"\n")

    tail = read_tail(str(path), tmp_path)
    assert (tail.files, tail.tools, tail.reply) == (("src/importer.py",), ("Edit",), "I edit it.")
    copy = copy_tail(path, tmp_path / "aside", 10_000)
    assert copy.name == path.name
    assert copy.stat().st_size < 20_000
    assert read_tail(str(tmp_path / "missing"), tmp_path).tools == ()


@requirement("hook:forms")
def test_a_command_line_names_event_and_agent() -> None:
    assert parse_arguments(["Stop", "--agent", "codex"]) == ("Stop", "codex")
    assert parse_arguments(["--agent=qwen", "Stop", "--later-flag"]) == ("Stop", "qwen")


@requirement("hook:warm")
def test_a_warm_process_answers_over_a_socket_and_ends_when_idle(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    from reverie.apps.hook.warm import WarmServer, ask_warm, is_running, socket_path

    home = host.configuration.home
    monkeypatch.setenv("HOME", str(home.parent))
    with host.memory() as memory:
        query = memory.build_query(PROMPT)
    assert ask_warm(home, host.project, query) is None
    server = threading.Thread(target=WarmServer(home, idle_seconds=0.5).serve)
    server.start()
    while not is_running(home) or not socket_path(home).exists():
        server.join(0.01)
    hits = ask_warm(home, host.project, query, timeout_seconds=20.0)
    assert hits is not None
    assert "make importer-test" in hits[0].text
    server.join(30)
    assert not server.is_alive()
    assert not is_running(home)
    assert not socket_path(home).exists()


def test_notices_lie_beside_the_memory(host: Host) -> None:
    with host.memory() as memory:
        assert notices_file(memory).parent == memory.scope.folder.state


@requirement("models:command:answers")
def test_hooks_keep_quiet_in_a_program_that_we_ask_as_a_model(monkeypatch: pytest.MonkeyPatch, host: Host) -> None:
    payload = {"session_id": "s1", "cwd": str(host.project), "prompt": PROMPT}
    monkeypatch.setenv(ASKED_BY, "command")

    assert run("UserPromptSubmit", "claude-code", payload) == ""
    assert not host.folder.calls.exists()
