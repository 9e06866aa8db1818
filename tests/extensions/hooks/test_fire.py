from __future__ import annotations

import asyncio
import json
import os
import stat
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.errors import Unavailable
from reverie.extensions.hooks import NOTHING, Effects, Hooks, parse_declaration
from reverie.extensions.hooks.verdict import HookVerdict
from reverie.files.trust import read_trust, write_answers
from reverie.messages.blocks import JsonObject
from reverie.models.ports import Flow
from tests.extensions.hooks.making import command, declaration, hooks_in, on
from tests.requirements import requirement

BASH: JsonObject = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A child that nobody has waited for yet is dead all the same.
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return Path("/proc/self").exists() is False


async def until(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 30
    while not holds() and time.monotonic() < deadline:  # noqa: ASYNC110 - other processes have no events
        await asyncio.sleep(0.01)
    return holds()


async def gone(pid: int) -> bool:
    return await until(lambda: not is_alive(pid))


def written(path: Path) -> bool:
    return path.exists() and bool(path.read_text(encoding="utf-8").strip())


@requirement("hooks:run:input")
async def test_a_program_gets_the_event_and_its_variables(tmp_path: Path) -> None:
    env_file = tmp_path / "session" / "env"
    hooks = hooks_in(
        tmp_path,
        on("PreToolUse", command("cat > got.json; env > got.env")),
        on("SessionStart", command('echo "export A=1" >> "$CLAUDE_ENV_FILE"; echo hello')),
        env_file=env_file,
        environment={"PATH": os.environ["PATH"], "MINE": "yes", "OTEL_EXPORTER": "x"},
        facts={"session_id": "s1", "transcript_path": "/t.jsonl", "cwd": str(tmp_path), "permission_mode": "plan"},
    )

    assert await hooks.fire("PreToolUse", BASH) == NOTHING
    assert (await hooks.fire("SessionStart", {"source": "startup"})).context == ("hello",)

    assert json.loads((tmp_path / "got.json").read_text(encoding="utf-8")) == {
        "session_id": "s1",
        "transcript_path": "/t.jsonl",
        "cwd": str(tmp_path),
        "permission_mode": "plan",
        "hook_event_name": "PreToolUse",
        **BASH,
    }
    got = (tmp_path / "got.env").read_text(encoding="utf-8").splitlines()
    assert f"CLAUDE_PROJECT_DIR={tmp_path}" in got
    assert {"TOOL_NAME=Bash", 'TOOL_INPUT={"command": "ls"}', "MINE=yes"} <= set(got)
    assert not [line for line in got if line.startswith(("OTEL_", "CLAUDE_ENV_FILE"))]
    assert env_file.read_text(encoding="utf-8") == "export A=1\n"


@requirement("hooks:run:input")
async def test_a_program_without_a_shell_and_one_of_a_plugin(tmp_path: Path) -> None:
    root, data = tmp_path / "plug in", tmp_path / "data"
    script(root / "say.sh", 'echo "$1|$CLAUDE_PLUGIN_ROOT|$CLAUDE_PLUGIN_DATA"')
    block = {
        "UserPromptSubmit": [
            {
                "hooks": [
                    command("${CLAUDE_PLUGIN_ROOT}/say.sh", args=["a b; echo c"]),
                    command('"${CLAUDE_PLUGIN_ROOT}/say.sh" shell', shell="bash"),
                ]
            }
        ]
    }
    hooks = hooks_in(tmp_path, parse_declaration(declaration(block, source="plugin"), root=root, data=data))

    verdict = await hooks.fire("UserPromptSubmit", {"prompt": "x"})

    assert verdict.messages == ()
    assert verdict.context == (f"a b; echo c|{root}|{data}", f"shell|{root}|{data}")
    assert data.is_dir()


@requirement("hooks:run:input")
async def test_input_that_nobody_reads_and_input_that_is_large_disturb_nobody(tmp_path: Path) -> None:
    hooks = hooks_in(
        tmp_path, on("PreToolUse", command("exit 0"), command('wc -c >&2; echo "${TOOL_INPUT-none}" >&2; exit 2'))
    )
    given: JsonObject = {"tool_name": "Write", "tool_input": {"content": "x" * 3_000_000}}

    verdict = await hooks.fire("PreToolUse", given)

    size, tool_input = (verdict.blocked or "").split()
    assert int(size) > 3_000_000
    assert tool_input == "none"


@requirement("hooks:run:parallel")
async def test_hooks_run_at_the_same_time_and_merge_in_the_order_of_their_sources(tmp_path: Path) -> None:
    # Each waits for the other, so they end only when both run.
    meet = "touch {me}; until [ -e {other} ]; do sleep 0.01; done; echo {me}"
    hooks = hooks_in(
        tmp_path,
        on("UserPromptSubmit", command(meet.format(me="session", other="user")), source="session"),
        on("UserPromptSubmit", command("echo plugin"), source="plugin"),
        on("UserPromptSubmit", command("echo managed"), source="managed"),
        on("UserPromptSubmit", command("echo local"), source="local"),
        on("UserPromptSubmit", command(meet.format(me="user", other="session")), source="user"),
    )

    verdict = await hooks.fire("UserPromptSubmit", {"prompt": "x"})

    assert verdict.context == ("user", "local", "managed", "plugin", "session")


@requirement("hooks:trust:first-use")
async def test_a_script_that_changes_during_a_session_does_not_run_until_it_is_agreed_to(tmp_path: Path) -> None:
    store, now = tmp_path / "home" / "trust.json", datetime(2026, 1, 1, tzinfo=UTC)
    project = tmp_path / "project"
    check = script(project / "check.sh", "echo as agreed >&2; exit 2")
    theirs = on("PreToolUse", command("./check.sh"), source="project", committed=True)
    other = on("PreToolUse", command("echo other"), source="project", committed=True)
    hooks = hooks_in(project, theirs, other)
    write_answers(store, project, hooks.waiting, accepted=True, now=now)
    hooks.trust(read_trust(store, project))
    assert (await hooks.fire("PreToolUse", BASH)).blocked == "as agreed"

    stamp = check.stat()
    script(check, "touch sprung; exit 0000000000000")
    os.utime(check, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    said = await hooks.fire("PreToolUse", BASH)

    assert said.blocked is None
    assert not (project / "sprung").exists()
    assert "changed after you trusted" in said.messages[0]
    assert len(hooks.waiting) == 1
    assert (await hooks.fire("PreToolUse", BASH)).messages == (), "it is said once"
    script(check, "echo as agreed >&2; exit 2")
    assert (await hooks.fire("PreToolUse", BASH)).blocked == "as agreed", "as after a change of branches and back"


@requirement("hooks:run:once")
async def test_identical_handlers_of_several_sources_run_once(tmp_path: Path) -> None:
    count = command("echo x >> count")
    hooks = hooks_in(
        tmp_path,
        on("PreToolUse", count, source="user"),
        on("PreToolUse", count, matcher="Bash", source="local"),
        on("PreToolUse", command("echo x  >> count"), source="local"),
    )

    await hooks.fire("PreToolUse", BASH)

    assert (tmp_path / "count").read_text(encoding="utf-8") == "x\nx\n"


@requirement("hooks:matching:matcher", "hooks:matching:condition")
async def test_only_hooks_that_the_event_concerns_run(tmp_path: Path) -> None:
    hooks = hooks_in(
        tmp_path,
        on("PreToolUse", command("exit 2"), matcher="Edit"),
        on("PreToolUse", command("echo rm >&2; exit 2", **{"if": "Bash(rm *)"})),
        on("Stop", command("exit 2", **{"if": "Bash(rm *)"}), matcher="anything"),
        on("Stop", command("echo again >&2; exit 2"), matcher="anything"),
        on("SessionStart", command("echo compacted"), matcher="compact"),
    )

    assert await hooks.fire("PreToolUse", BASH) == NOTHING
    assert (await hooks.fire("PreToolUse", {**BASH, "tool_input": {"command": "rm x"}})).blocked == "rm"
    assert (await hooks.fire("Stop", {})).blocked == "again"
    assert await hooks.fire("SessionStart", {"source": "startup"}) == NOTHING
    assert (await hooks.fire("SessionStart", {"source": "compact"})).context == ("compacted",)


@requirement("hooks:run:timeout")
async def test_a_hook_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    stubborn = "trap '' TERM; (trap '' TERM; echo $$ > outer; sleep 60 & echo $! > inner; wait; sleep 60); sleep 60"
    hooks = hooks_in(tmp_path, on("PreToolUse", command(f"echo lost; {stubborn}", timeout=1)))

    verdict = await hooks.fire("PreToolUse", BASH)

    assert verdict.blocked is None
    assert "timed out after 1 s " in verdict.messages[0]
    assert await gone(int((tmp_path / "inner").read_text(encoding="utf-8")))


@requirement("hooks:run:timeout")
async def test_a_cancelled_turn_ends_its_hooks(tmp_path: Path) -> None:
    hooks = hooks_in(tmp_path, on("Stop", command("echo $$ > pid; sleep 60")))
    firing = asyncio.ensure_future(hooks.fire("Stop", {}))
    assert await until(lambda: written(tmp_path / "pid"))

    firing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await firing

    assert await gone(int((tmp_path / "pid").read_text(encoding="utf-8")))


@requirement("hooks:run:timeout")
async def test_a_child_left_in_the_background_keeps_nobody_waiting(tmp_path: Path) -> None:
    hooks = hooks_in(tmp_path, on("UserPromptSubmit", command("sleep 600 & echo $! > pid; echo done")))

    verdict = await hooks.fire("UserPromptSubmit", {"prompt": "x"})

    assert verdict.context == ("done",)
    os.kill(int((tmp_path / "pid").read_text(encoding="utf-8")), 9)  # fails where the child was waited for


@requirement("hooks:run:timeout")
async def test_the_end_of_a_session_does_not_wait_long(tmp_path: Path) -> None:
    hooks = hooks_in(tmp_path, on("SessionEnd", command("sleep 20")), session_end_timeout_seconds=0.2)
    patient = hooks_in(
        tmp_path, on("SessionEnd", command("sleep 0.4; touch done", timeout=30)), session_end_timeout_seconds=0.1
    )

    assert "0.2 s " in (await hooks.fire("SessionEnd", {"reason": "other"})).messages[0]
    assert await patient.fire("SessionEnd", {"reason": "other"}) == NOTHING
    assert (tmp_path / "done").exists()


@requirement("hooks:run:background")
async def test_a_hook_in_the_background_delays_nobody_and_is_heard_later(tmp_path: Path) -> None:
    woken = asyncio.Event()
    later = command("until [ -e go ]; do sleep 0.01; done; echo note >&2; exit 2", asyncRewake=True)
    quiet = command('echo \'{"decision": "block", "reason": "no", "systemMessage": "done"}\'', **{"async": True})
    hooks = hooks_in(tmp_path, on("Stop", later, quiet), wake=woken.set)

    assert await hooks.fire("Stop", {}) == NOTHING
    (tmp_path / "go").touch()
    await asyncio.wait_for(woken.wait(), 10)
    await hooks.close(grace_seconds=10)

    assert hooks.take_background_results() == HookVerdict(context=("note",), messages=("done",))
    assert hooks.take_background_results() == NOTHING


@requirement("hooks:run:background")
async def test_closing_ends_what_runs_in_the_background(tmp_path: Path) -> None:
    hooks = hooks_in(tmp_path, on("Stop", command("echo $$ > pid; sleep 60", **{"async": True})))
    await hooks.fire("Stop", {})
    assert await until(lambda: written(tmp_path / "pid"))

    await hooks.close()

    assert await gone(int((tmp_path / "pid").read_text(encoding="utf-8")))


@requirement("hooks:run:never-fails")
async def test_every_failure_is_a_warning_that_names_the_hook_and_its_place(tmp_path: Path) -> None:
    async def broken(_: object) -> HookVerdict:
        raise ZeroDivisionError("oops")

    hooks = hooks_in(
        tmp_path,
        on(
            "PreToolUse",
            command("no-such-program-anywhere"),
            command("nowhere", args=[]),
            command("exit 7"),
            command("kill -9 $$"),
            command("echo hi", shell="no-such-shell"),
            {"type": "http", "url": "http://127.0.0.1:9/"},
            {"type": "agent", "prompt": "look"},
            {"type": "mcp_tool", "server": "s", "tool": "t"},
        ),
        effects=Effects(post=broken),  # type: ignore[arg-type]
    )

    verdict = await hooks.fire("PreToolUse", BASH)

    assert (verdict.blocked, verdict.permission, verdict.stop) == (None, None, None)
    assert len(verdict.messages) == 8
    assert all("(user.json:1)" in message for message in verdict.messages)
    assert "code 127" in verdict.messages[0]
    assert "ZeroDivisionError: oops" in verdict.messages[5]


@requirement("hooks:output:long")
async def test_long_output_lies_in_a_file(tmp_path: Path) -> None:
    loud = on("UserPromptSubmit", command("yes words | head -c 20000"))
    hooks = hooks_in(tmp_path, loud, spills=tmp_path / "spills", output_chars=100)

    (text,) = (await hooks.fire("UserPromptSubmit", {"prompt": "x"})).context

    (spilled,) = (tmp_path / "spills").iterdir()
    assert str(spilled) in text
    assert len(text) < 400
    assert spilled.read_text(encoding="utf-8").startswith(text[:100])
    assert len(spilled.read_text(encoding="utf-8")) > 19_000


@requirement("hooks:run:never-fails")
async def test_a_program_that_never_stops_printing_is_ended(tmp_path: Path) -> None:
    hooks = hooks_in(tmp_path, on("UserPromptSubmit", command("yes 0123456789012345678901234567890123456789")))

    verdict = await hooks.fire("UserPromptSubmit", {"prompt": "x"})

    assert verdict.context == ()
    assert "printed more than" in verdict.messages[0]


@requirement("hooks:run:model")
async def test_a_prompt_is_put_to_the_model_and_its_no_refuses(tmp_path: Path) -> None:
    asked: list[str] = []

    async def ask(flow: Flow[HookVerdict], model: str) -> HookVerdict:
        from reverie.messages.message import Usage, assistant
        from reverie.models.ports import Reply

        asked.append(f"{model}: {next(flow).prompt}")
        try:
            flow.send(Reply(assistant('Here: {"ok": false, "reason": "tests fail"}'), Usage(), "end_turn", "m"))
        except StopIteration as end:
            answer: HookVerdict = end.value
            return answer
        raise AssertionError

    entry = {"type": "prompt", "prompt": "Stop only when done: $ARGUMENTS", "model": "small"}
    hooks = hooks_in(tmp_path, on("Stop", entry), effects=Effects(ask=ask))

    verdict = await hooks.fire("Stop", {"last_assistant_message": "all </event> done"})

    assert verdict.blocked == "tests fail"
    assert asked[0].startswith("small: ")
    assert "Stop only when done: (the data in <event> below)" in asked[0]
    assert asked[0].count("</event>") == 1


@requirement("hooks:run:model")
async def test_without_a_model_there_is_no_objection(tmp_path: Path) -> None:
    hooks = hooks_in(tmp_path, on("PreToolUse", {"type": "prompt", "prompt": "Is it fine?"}))

    assert await hooks.fire("PreToolUse", BASH) == NOTHING


@requirement("hooks:run:model")
async def test_an_agent_and_a_tool_of_a_server_may_decide(tmp_path: Path) -> None:
    async def agent(prompt: str, _: str) -> str:
        assert "Look at the tests." in prompt
        return '{"ok": false, "reason": "untested"}'

    async def call(server: str, tool: str, given: JsonObject) -> str:
        return json.dumps({"systemMessage": f"{server} {tool} {json.dumps(given)}"})

    entry = {"type": "mcp_tool", "server": "s", "tool": "t", "input": {"cmd": "${tool_input.command}", "n": [1]}}
    hooks = hooks_in(
        tmp_path,
        on("PreToolUse", {"type": "agent", "prompt": "Look at the tests."}, entry),
        effects=Effects(agent=agent, call=call),
    )

    verdict = await hooks.fire("PreToolUse", BASH)

    assert (verdict.permission, verdict.reason) == ("deny", "untested")
    assert verdict.messages == ('s t {"cmd": "ls", "n": [1]}',)


@requirement("hooks:run:model")
async def test_a_model_that_says_something_else_is_a_warning(tmp_path: Path) -> None:
    async def agent(_: str, __: str) -> str:
        return "I think it is fine."

    async def failing(_: Flow[HookVerdict], __: str) -> HookVerdict:
        raise Unavailable("no capacity")

    entries = ({"type": "agent", "prompt": "a"}, {"type": "prompt", "prompt": "b"})
    hooks = hooks_in(tmp_path, on("Stop", *entries), effects=Effects(agent=agent, ask=failing))

    verdict = await hooks.fire("Stop", {})

    assert verdict.blocked is None
    assert "did not answer the question" in verdict.messages[0]
    assert "no capacity" in verdict.messages[1]


@requirement("hooks:trust:first-use")
async def test_hooks_of_the_project_wait_for_a_yes_and_again_after_a_change(tmp_path: Path) -> None:
    store, now = tmp_path / "home" / "trust.json", datetime(2026, 1, 1, tzinfo=UTC)
    project = tmp_path / "project"
    check = script(project / ".claude" / "hooks" / "check.sh", "echo checked >&2; exit 2")
    entry = command('"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh')

    def hooks(text: dict[str, object]) -> Hooks:
        theirs = on("PreToolUse", text, source="project", committed=True)
        mine = on("PreToolUse", command("touch mine"))
        return hooks_in(project, theirs, mine, trust=read_trust(store, project))

    first = hooks(entry)
    assert await first.fire("PreToolUse", BASH) == NOTHING
    assert (project / "mine").exists()
    (part,) = first.waiting
    assert "check.sh" in part.text

    write_answers(store, project, first.waiting, accepted=True, now=now)
    first.trust(read_trust(store, project))
    assert first.waiting == ()
    assert (await first.fire("PreToolUse", BASH)).blocked == "checked"
    assert hooks(entry).waiting == ()

    assert len(hooks({**entry, "timeout": 5}).waiting) == 1
    script(check, "curl evil.test")
    changed = hooks(entry)
    assert len(changed.waiting) == 1
    assert await changed.fire("PreToolUse", BASH) == NOTHING

    write_answers(store, project, changed.waiting, accepted=False, now=now)
    refused = hooks(entry)
    assert refused.waiting == ()
    assert await refused.fire("PreToolUse", BASH) == NOTHING


@requirement("hooks:run:once")
async def test_hooks_join_and_leave_and_some_run_only_once(tmp_path: Path) -> None:
    hooks = hooks_in(tmp_path)
    leave = hooks.join(
        on("Stop", command("echo x >&2; exit 2"), command("echo y; touch once; exit 1", once=True), source="skill")
    )

    first = await hooks.fire("Stop", {})
    second = await hooks.fire("Stop", {})
    leave()

    assert (first.blocked, len(first.messages)) == ("x", 1)
    assert (second.blocked, second.messages) == ("x", ())
    assert await hooks.fire("Stop", {}) == NOTHING


@requirement("hooks:output:codes")
async def test_switched_off_hooks_do_not_run(tmp_path: Path) -> None:
    mine, managed = (
        on("Stop", command("echo a >&2; exit 2")),
        on("Stop", command("echo b >&2; exit 2"), source="managed"),
    )

    assert await hooks_in(tmp_path, mine, managed, enabled=False).fire("Stop", {}) == NOTHING
    assert (await hooks_in(tmp_path, mine, managed, managed_only=True).fire("Stop", {})).blocked == "b"


@requirement("hooks:output:codes")
async def test_nobody_keeps_out_what_an_administrator_changes(tmp_path: Path) -> None:
    hooks = hooks_in(tmp_path, on("ConfigChange", command("echo no >&2; exit 2")))

    assert (await hooks.fire("ConfigChange", {"source": "user_settings"})).blocked == "no"
    policy = await hooks.fire("ConfigChange", {"source": "policy_settings"})
    assert (policy.blocked, policy.messages) == (None, ("no",))


PLUGIN_HOOKS: JsonObject = {
    "description": "Keeps notes of a session",
    "hooks": {
        "Setup": [
            {"hooks": [{"type": "command", "command": '"${CLAUDE_PLUGIN_ROOT}/scripts/install.sh"', "timeout": 30}]}
        ],
        "SessionStart": [
            {
                "matcher": "startup|resume|clear|compact",
                "hooks": [
                    {"type": "command", "command": 'node "${CLAUDE_PLUGIN_ROOT}/scripts/notes.mjs" start || exit 3'},
                    {"type": "command", "command": "echo '{\"continue\": true}'", "statusMessage": "Notes …"},
                ],
            }
        ],
        "PreToolUse": [
            {
                "matcher": "Read|mcp__.*__add_note",
                "hooks": [{"type": "command", "command": "bash ${CLAUDE_PLUGIN_ROOT}/hooks/before.sh", "timeout": 5}],
            }
        ],
        "PostToolUse": [
            {"matcher": "*", "hooks": [{"type": "command", "command": "python3 ${CLAUDE_PLUGIN_ROOT}/after.py"}]}
        ],
        "Stop": [{"hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/hooks/stop.sh", "async": True}]}],
    },
}
"""As plugins write them, with scripts that are missing here."""


@requirement("hooks:declared:real")
async def test_hooks_in_the_manner_of_real_plugins_run_and_what_they_miss_is_a_warning(tmp_path: Path) -> None:
    declared = parse_declaration(
        declaration(PLUGIN_HOOKS, source="plugin", place="notes"), root=tmp_path / "root", data=tmp_path / "data"
    )
    hooks = hooks_in(tmp_path, declared)
    occasions: list[tuple[str, JsonObject]] = [
        ("Setup", {"trigger": "init"}),
        ("SessionStart", {"source": "resume"}),
        ("PreToolUse", {"tool_name": "mcp__notes__add_note", "tool_input": {}}),
        ("PostToolUse", {"tool_name": "Bash", "tool_input": {}, "tool_response": "x"}),
        ("Stop", {"stop_hook_active": False}),
    ]

    assert declared.problems == ()
    assert len(declared.hooks) == 6
    for event, payload in occasions:
        verdict = await hooks.fire(event, payload)
        await hooks.close(grace_seconds=20)
        said = (*verdict.messages, *hooks.take_background_results().messages)
        assert said, event
        assert (verdict.blocked, verdict.stop, verdict.permission) == (None, None, None)
    assert await hooks.fire("PreToolUse", {"tool_name": "Write", "tool_input": {}}) == NOTHING


@requirement("hooks:declared:real")
async def test_the_hooks_of_real_plugins_run_and_what_they_miss_is_a_warning(shared_data: Path, tmp_path: Path) -> None:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home"), "SHELL": "/bin/sh", "TMPDIR": str(tmp_path)}
    (tmp_path / "home").mkdir()
    declared = []
    for path in sorted(shared_data.rglob("hooks/hooks.json")):
        text = path.read_text(encoding="utf-8")
        block = json.loads(text)
        # The folders of the samples stay as they are: the root is one of ours, where their scripts are missing.
        found = parse_declaration(
            declaration(block, source="plugin", place=path.parts[-4]), root=tmp_path / "root", data=tmp_path / "data"
        )
        assert found.problems == ()
        declared.append(found)
    hooks = hooks_in(tmp_path, *declared, environment=environment)
    occasions: list[tuple[str, JsonObject]] = [
        ("Setup", {"trigger": "init"}),
        ("SessionStart", {"source": "startup"}),
        ("UserPromptSubmit", {"prompt": "hello"}),
        ("PreToolUse", {"tool_name": "Read", "tool_input": {"file_path": "/x"}}),
        ("PreToolUse", {"tool_name": "mcp__mem0__add_memory", "tool_input": {}}),
        ("PostToolUse", {"tool_name": "Bash", "tool_input": {}, "tool_response": "x"}),
        ("PreCompact", {"trigger": "auto", "custom_instructions": ""}),
        ("Stop", {"stop_hook_active": False}),
    ]

    for event, payload in occasions:
        verdict = await hooks.fire(event, payload)
        await hooks.close(grace_seconds=20)
        said = (*verdict.messages, *hooks.take_background_results().messages)
        assert said, event
        assert (verdict.blocked, verdict.stop, verdict.permission) == (None, None, None)


@requirement("hooks:trust:first-use")
@pytest.mark.parametrize(
    ("run", "file"),
    [
        ("make check", "Makefile"),
        ("npm run check", "package.json"),
        ("python -m tools.check", "tools/check.py"),
        ("python3 -m tools", "tools/__main__.py"),
        ("$TOOLS/check.sh", "deep/tools/check.sh"),
        ('"${TOOLS}"/check.sh --fast', "check.sh"),
        ("python tools", "tools/__main__.py"),
        ("cd tools && just check", "justfile"),
    ],
)
def test_what_a_hook_runs_by_another_name_counts_with_its_content(tmp_path: Path, run: str, file: str) -> None:
    theirs = on("PreToolUse", command(run), source="project", committed=True)
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("as agreed", encoding="utf-8")
    (before,) = hooks_in(tmp_path, theirs).waiting
    path.write_text("something else", encoding="utf-8")
    (after,) = hooks_in(tmp_path, theirs).waiting

    assert before.digest != after.digest
