from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from reverie.agent.events import Ending
from reverie.messages.blocks import Json
from reverie.permissions.approval import Approval, Question
from tests.api.session_desk import Desk, calls, desk, ending, results, told
from tests.requirements import requirement


def command(text: str, matcher: str = "") -> Json:
    return [{"matcher": matcher, "hooks": [{"type": "command", "command": text}]}]


def heard(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def one_call(tool: str, given: dict[str, Json]) -> list[Json]:
    return [{"when": {"has_tool_results": False}, "then": calls((tool, given))}, {"then": "done"}]


def noted(path: Path) -> str:
    """A hook that keeps what it is told, one line each."""
    return f"cat >> {path}; echo >> {path}"


@requirement("session:hooks:changes")
async def test_hooks_hear_of_a_round_of_calls_and_may_end_the_turn(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with desk(tmp_path, one_call("Bash", {"command": "ls"})) as at:
        at.hooks(PostToolBatch=command(f"{noted(said)}; echo 'that is enough' >&2; exit 2"))
        async with at.start() as session:
            events = await told(session, "go")

        (fields,) = heard(said)
        assert [call["tool_name"] for call in fields["tool_calls"]] == ["Bash"]  # type: ignore[attr-defined]
        assert ending(events).ending is Ending.HOOK
        assert "that is enough" in ending(events).text
        assert len(at.bodies) == 1


@requirement("session:hooks:changes")
async def test_hooks_hear_where_the_shell_went(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with desk(tmp_path, one_call("Bash", {"command": "cd inner"})) as at:
        (at.project / "inner").mkdir()
        at.hooks(CwdChanged=command(noted(said)))
        async with at.start() as session:
            await told(session, "go")

        (fields,) = heard(said)
        assert (fields["old_cwd"], fields["new_cwd"]) == (str(at.project), str(at.project / "inner"))


@requirement("session:hooks:changes")
async def test_hooks_hear_of_tasks_and_may_refuse_them(tmp_path: Path) -> None:
    said = tmp_path / "said"
    todos: Json = [{"content": "build", "status": "completed"}, {"content": "ship", "status": "pending"}]
    with desk(tmp_path, one_call("TodoWrite", {"todos": todos})) as at:
        at.hooks(
            TaskCreated=command(noted(said)),
            TaskCompleted=command(f"{noted(said)}; echo 'the tests have not run' >&2; exit 2"),
        )
        async with at.start() as session:
            await told(session, "go")

            assert session.parts.desk.tasks == ()
        told_of = [(fields["hook_event_name"], fields["task_subject"]) for fields in heard(said)]
        assert told_of == [("TaskCreated", "build"), ("TaskCompleted", "build")]
        ((failed, text),) = results(at.bodies[1])
        assert failed
        assert "the tests have not run" in text


@requirement("session:hooks:changes")
async def test_hooks_hear_of_files_that_changed_between_turns(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        at.hooks(ConfigChange=command(noted(said)), FileChanged=command(noted(said), r"\.env|other.txt"))
        async with at.start() as session:
            await told(session, "one")
            settings = at.file(".reverie/settings.toml", "[recall]\nenabled = false\n")
            env = at.file(".env", "A=1\n")
            await told(session, "two")
            await told(session, "three")

        found = [(fields["hook_event_name"], fields["file_path"]) for fields in heard(said)]
        assert found == [("ConfigChange", str(settings)), ("FileChanged", str(env))]
        assert heard(said)[0]["source"] == "project_settings"
        assert heard(said)[1]["event"] == "add"


class Slow:
    """Answers a question once a hook has been heard."""

    def __init__(self, sign: Path) -> None:
        self.sign = sign

    async def approve(self, question: Question) -> Approval:  # noqa: ARG002 - the shape of an approver
        for _ in range(500):
            if heard(self.sign):
                return Approval(True)
            await asyncio.sleep(0.01)
        return Approval(False)


def _slow(at: Desk, sign: Path) -> None:
    at.person = Slow(sign)  # type: ignore[assignment]


@requirement("session:hooks:changes")
async def test_hooks_hear_that_a_question_waits(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with desk(tmp_path, one_call("Bash", {"command": "touch made"})) as at:
        at.hooks(Notification=command(noted(said), "permission_prompt"))
        _slow(at, said)
        async with at.start() as session:
            await told(session, "go")

        assert (at.project / "made").exists()
        assert heard(said)[0]["notification_type"] == "permission_prompt"


@requirement("session:hooks:changes")
async def test_hooks_hear_that_the_session_waits_for_its_user(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with desk(tmp_path, [{"then": "fine"}]) as at:
        at.hooks(Notification=command(noted(said), "idle_prompt"))
        async with at.start() as session:
            session.parts.idling.seconds = 0.01
            await told(session, "go")
            for _ in range(500):
                if heard(said):
                    break
                await asyncio.sleep(0.01)

        assert [fields["notification_type"] for fields in heard(said)] == ["idle_prompt"]


@requirement("hooks:run:agent")
@pytest.mark.parametrize("ok", [True, False])
async def test_a_hook_asks_an_agent_that_reads_and_no_hook_hears_of_it(tmp_path: Path, ok: bool) -> None:
    said = tmp_path / "said"
    verdict = json.dumps({"ok": ok, "reason": "there is a heron in it"})
    script: list[Json] = [
        {"when": {"system": "You explore", "has_tool_results": False}, "then": calls(("Glob", {"pattern": "*"}))},
        {"when": {"system": "You explore"}, "then": verdict},
        *one_call("Bash", {"command": "touch made"}),
    ]
    with desk(tmp_path, script) as at:
        asks: Json = [{"matcher": "Bash", "hooks": [{"type": "agent", "prompt": "Is it safe? $ARGUMENTS"}]}]
        at.hooks(PreToolUse=asks, PostToolUse=command(noted(said)), SubagentStart=command(noted(said)))
        async with at.start() as session:
            await told(session, "go")

        assert (at.project / "made").exists() is ok
        asked = [body for body in at.bodies if "You explore" in json.dumps(body["system"])]
        assert len(asked) == 2
        assert "touch made" in json.dumps(asked[0]["messages"])
        assert [fields["tool_name"] for fields in heard(said)] == (["Bash"] if ok else [])
        if not ok:
            assert "there is a heron in it" in results(at.bodies[-1])[0][1]
