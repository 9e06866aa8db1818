from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from reverie.files.trust import TrustKind, TrustPart
from reverie.messages.blocks import Json
from reverie.messages.entries import TitleEntry
from reverie.models.ports import Ending
from reverie.permissions.approval import Approval, Question
from reverie.session.events import Notice
from tests.requirements import requirement
from tests.session.session_desk import Desk, calls, desk, ending, results, told


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
            session.parts.idle_hooks.seconds = 0.01
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


@requirement("session:hooks:life")
async def test_hooks_hear_of_a_set_up_before_the_start(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with desk(tmp_path, [{"then": "fine"}]) as at:
        at.hooks(Setup=command(noted(said), "init"), SessionStart=command(noted(said)))
        at.options["setup_trigger"] = "init"
        async with at.start() as session:
            await told(session, "go")
        del at.options["setup_trigger"]
        async with at.start() as session:
            await told(session, "go")

        assert [fields["hook_event_name"] for fields in heard(said)] == ["Setup", "SessionStart", "SessionStart"]
        assert heard(said)[0]["trigger"] == "init"


@requirement("session:hooks:life")
async def test_a_hook_at_the_start_names_the_session_speaks_first_watches_files_and_brings_skills(
    tmp_path: Path,
) -> None:
    said = tmp_path / "said"
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        watched = at.file("lake/level.txt", "1\n")
        asks = {"sessionTitle": "Herons", "initialUserMessage": "count them", "reloadSkills": True}
        answer = {"hookSpecificOutput": {"hookEventName": "SessionStart", **asks, "watchPaths": [str(watched)]}}
        skill = "mkdir -p .claude/skills/wade; echo 'Wade slowly.' > .claude/skills/wade/SKILL.md"
        at.hooks(
            SessionStart=command(f"{skill}; echo '{json.dumps(answer)}'"), FileChanged=command(noted(said), "level.txt")
        )
        async with at.start() as session:
            await told(session, "go")
            watched.write_text("22\n", encoding="utf-8")
            await told(session, "on")

        titles = [one.text for one in session.entries if isinstance(one, TitleEntry) and one.kind == "custom-title"]
        assert titles == ["Herons"]
        first = json.dumps(at.bodies[0])
        assert "count them" in first
        assert "- wade: Wade slowly." in first
        assert "Skill" in [tool["name"] for tool in at.bodies[0]["tools"]]
        assert [fields["file_path"] for fields in heard(said)] == [str(watched)]


@requirement("session:hooks:life")
async def test_hooks_hear_that_the_user_began_anew(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        at.hooks(SessionStart=command(f"{noted(said)}; echo mind the heron"), SessionEnd=command(noted(said)))
        async with at.start() as session:
            await told(session, "one")
            session.clear()
            await told(session, "two")

        assert [fields.get("source") or fields.get("reason") for fields in heard(said)] == [
            "startup",
            "clear",
            "clear",
            "other",
        ]
        assert json.dumps(at.bodies[-1]["messages"]).count("mind the heron") == 1


@requirement("session:hooks:life")
async def test_a_hook_names_the_session_by_a_prompt(tmp_path: Path) -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "sessionTitle": "Herons"}}
    with desk(tmp_path, [{"then": "fine"}]) as at:
        at.hooks(UserPromptSubmit=command(f"echo '{json.dumps(answer)}'"))
        async with at.start() as session:
            await told(session, "go")

        assert TitleEntry("custom-title", "Herons") in session.entries


@requirement("session:hooks:changes")
async def test_a_hook_may_let_the_model_try_a_refused_call_again(tmp_path: Path) -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "PermissionDenied", "retry": True}}
    with desk(tmp_path, one_call("Bash", {"command": "touch made"})) as at:
        at.person.answer = lambda _question: Approval(False)
        at.hooks(PermissionDenied=command(f"echo '{json.dumps(answer)}'"))
        async with at.start() as session:
            await told(session, "go")

        assert "may be tried again" in results(at.bodies[-1])[0][1]


@requirement("session:hooks:changes", "extensions:trust:answers")
async def test_hooks_hear_of_a_folder_that_the_user_agreed_to(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        (tmp_path / "lake").mkdir()
        at.hooks(DirectoryAdded=command(noted(said)))
        part = TrustPart(TrustKind.DIRECTORIES, "settings.json:1", json.dumps([str(tmp_path / "lake")]))
        async with at.start() as session:
            await told(session, "one")
            session.answer_trust([part], accepted=True)
            await told(session, "two")
            await told(session, "three")

        assert [fields["directory"] for fields in heard(said)] == [str(tmp_path / "lake")]


def decides(**decision: Json) -> Json:
    """A hook that answers in the place of the user."""
    said = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}
    return command(f"echo '{json.dumps(said)}'")


@requirement("session:hooks:answers")
async def test_a_hook_that_refuses_may_end_the_turn(tmp_path: Path) -> None:
    with desk(tmp_path, one_call("Bash", {"command": "touch made"})) as at:
        at.hooks(PermissionRequest=decides(behavior="deny", message="the lake is closed", interrupt=True))
        async with at.start() as session:
            ended = ending(await told(session, "go"))

        assert (ended.ending, ended.text) == (Ending.HOOK, "the lake is closed")
        assert len(at.bodies) == 1
        assert at.person.asked == []


@requirement("session:hooks:answers")
async def test_a_hook_that_allows_may_give_rules_for_the_rest_of_the_session(tmp_path: Path) -> None:
    said = tmp_path / "said"
    rules: Json = [{"toolName": "Bash", "ruleContent": "touch:*"}]
    updates: Json = [{"type": "addRules", "behavior": "allow", "rules": rules}, {"type": "addWings"}]
    script: list[Json] = [
        {"when": {"has_tool_results": False}, "then": calls(("Bash", {"command": "touch a"}))},
        {"when": {"last_user": "again"}, "times": 1, "then": calls(("Bash", {"command": "touch b"}))},
        {"then": "done"},
    ]
    with desk(tmp_path, script) as at:
        answers = decides(behavior="allow", updatedPermissions=updates)
        at.hooks(PermissionRequest=[*answers, *command(noted(said))])  # type: ignore[misc]
        async with at.start() as session:
            events = [*await told(session, "go"), *await told(session, "again")]

        assert (at.project / "a").exists()
        assert (at.project / "b").exists()
        assert len(heard(said)) == 1, "the second call needed no question"
        assert any("'addWings' is not a supported" in event.text for event in events if isinstance(event, Notice))


@requirement("session:hooks:answers")
async def test_another_input_of_a_hook_is_judged_like_any_other(tmp_path: Path) -> None:
    with desk(tmp_path, one_call("Bash", {"command": "touch made"})) as at:
        at.options["disallowed_tools"] = ("Bash(rm:*)",)
        at.file("kept.txt", "kept\n")
        at.hooks(PermissionRequest=decides(behavior="allow", updatedInput={"command": "rm kept.txt"}))
        async with at.start() as session:
            await told(session, "go")

        assert (at.project / "kept.txt").exists()
        assert results(at.bodies[-1])[0][0]


READS_BOTH: list[Json] = [
    {"when": {"last_user": "about to be replaced"}, "then": "no summary"},
    {"when": {"has_tool_results": True}, "then": "done"},
    {
        "when": {"last_user": "read"},
        "then": calls(("Read", {"file_path": "inner/a.py"}), ("Read", {"file_path": "docs/b.md"})),
    },
]


def with_instructions(at: Desk) -> None:
    at.file("CLAUDE.md", "Be brief. @more.md\n")
    at.file("more.md", "And kind.\n")
    at.file("inner/CLAUDE.md", "Here we count herons.\n")
    at.file("inner/a.py", "the_name_of_it = 1\n" * 1_500)
    at.file(".claude/rules/docs.md", '---\npaths: "docs/**"\n---\nWrite in full sentences.\n')
    at.file("docs/b.md", "Many words for a page.\n" * 1_500)


@requirement("session:hooks:instructions")
async def test_hooks_hear_of_every_instruction_file_however_it_was_loaded(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with desk(tmp_path, READS_BOTH) as at:
        with_instructions(at)
        at.hooks(InstructionsLoaded=command(noted(said)))
        async with at.start() as session:
            await told(session, "read them")
            first = heard(said)
            await session.compact("go on")
            again = heard(said)[len(first) :]

    def reasons(fields: list[dict[str, object]]) -> list[tuple[str, object]]:
        return [(Path(str(one["file_path"])).name, one["load_reason"]) for one in fields]

    start = [("more.md", "include"), ("CLAUDE.md", "session_start")]
    assert reasons(first) == [*start, ("docs.md", "path_glob_match"), ("CLAUDE.md", "nested_traversal")]
    assert first[2]["globs"] == ["docs/**"]
    assert first[3]["trigger_file_path"] == str(at.project / "inner" / "a.py")
    assert reasons(again) == [("more.md", "include"), ("CLAUDE.md", "compact")]


@requirement("session:instructions:once")
@pytest.mark.moves_prefix("a compaction")
async def test_instructions_of_a_folder_are_told_once_though_the_session_is_resumed(tmp_path: Path) -> None:
    with desk(tmp_path, READS_BOTH) as at:
        with_instructions(at)
        async with at.start() as session:
            await told(session, "read them")
        async with at.resume(session.id) as resumed:
            await told(resumed, "read them again")
            assert json.dumps(at.bodies[-1]["messages"]).count("Here we count herons.") == 1
            assert json.dumps(at.bodies[-1]["messages"]).count("Write in full sentences.") == 1
            await resumed.compact("go on")
            await told(resumed, "read them once more")

        assert json.dumps(at.bodies[-1]["messages"]).count("Here we count herons.") >= 1


@requirement("session:agents:return")
@pytest.mark.moves_prefix("a compaction")
async def test_the_list_of_agents_returns_with_a_compaction(tmp_path: Path) -> None:
    with desk(tmp_path, READS_BOTH) as at:
        with_instructions(at)
        async with at.start() as session:
            await told(session, "read them")
            await session.compact("go on")
            view = session.parts.log.view
            listed = [item for item in view.items if item.label == "agent_listing_delta"]
            await told(session, "and now?")

        assert len(listed) == 1
        assert "as `subagent_type` of the Agent tool" in listed[0].message.text
        sent = json.dumps(at.bodies[-1]["messages"])
        assert sent.count("as `subagent_type` of the Agent tool") == 1
