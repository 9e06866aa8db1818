from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.extensions.hooks.events import EVENTS, RefusalEffect
from reverie.extensions.hooks.output import outcome, verdict_from_model
from reverie.extensions.hooks.verdict import NOTHING, HookVerdict
from tests.requirements import requirement


def said(event: str, answer: object = "", *, code: int = 0, stderr: str = "") -> HookVerdict:
    stdout = answer if isinstance(answer, str) else json.dumps(answer)
    return outcome(EVENTS[event], "h", code=code, stdout=stdout, stderr=stderr)


def specific(event: str, **fields: object) -> dict[str, object]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


@requirement("hooks:output:plain")
@pytest.mark.parametrize("event", sorted(EVENTS))
def test_plain_output_is_context_only_where_the_format_says_so(event: str) -> None:
    takes = {"SessionStart", "UserPromptSubmit", "UserPromptExpansion"}

    assert said(event, " hello\n").context == (("hello",) if event in takes else ())


@requirement("hooks:output:codes")
@pytest.mark.parametrize("event", sorted(EVENTS))
def test_code_two_refuses_by_the_rules_of_the_event(event: str) -> None:
    verdict = said(event, "out", code=2, stderr="no\n")

    match EVENTS[event].refusal:
        case RefusalEffect.BLOCKS:
            assert verdict.blocked == "no"
            assert verdict.permission == ("deny" if event == "PreToolUse" else None)
        case RefusalEffect.TELLS_MODEL:
            assert (verdict.blocked, verdict.context) == (None, ("no",))
        case RefusalEffect.TELLS_USER:
            assert (verdict.blocked, verdict.messages) == (None, ("hook h: no",))
        case RefusalEffect.IGNORED:
            assert verdict == NOTHING


@requirement("hooks:output:codes")
def test_no_json_undoes_code_two() -> None:
    allowed = specific("PreToolUse", permissionDecision="allow", updatedInput={"a": 1})

    verdict = said("PreToolUse", allowed, code=2, stderr="never")

    assert (verdict.permission, verdict.blocked, verdict.updated_input) == ("deny", "never", None)
    assert said("PreToolUse", "{broken", code=2, stderr="never").blocked == "never"
    assert said("Stop", "", code=2).blocked == "blocked by hook h, which gave no reason"


@requirement("hooks:output:codes")
@pytest.mark.parametrize(
    "stderr",
    [
        "python3: can't open file '/p/x.py': [Errno 2] No such file or directory",
        "/usr/bin/python3.11: can't open file '/p/x.py': [Errno 2] No such file or directory",
        "/bin/sh: 0: cannot open /p/x.sh: No such file",
        "sh: 0: Can't open x.sh",
    ],
)
def test_a_script_that_is_missing_refuses_nothing(stderr: str) -> None:
    verdict = said("Stop", "", code=2, stderr=stderr)

    assert verdict.blocked is None
    assert stderr in verdict.messages[0]
    assert said("Stop", "", code=2, stderr=f"first\n{stderr}").blocked is not None


@requirement("hooks:output:codes")
def test_any_other_code_is_a_warning_unless_there_is_json() -> None:
    assert said("Stop", "", code=1, stderr="boom").messages == ("hook h exited with code 1: boom",)
    assert said("Stop", "", code=1, stderr="boom").blocked is None
    assert said("Stop", {"decision": "block", "reason": "go on"}, code=1).blocked == "go on"
    assert said("UserPromptSubmit", "text", code=1).context == ()


@requirement("hooks:output:json")
def test_fields_that_every_event_has() -> None:
    verdict = said(
        "PostCompact", {"continue": False, "stopReason": "enough", "systemMessage": "hi", "suppressOutput": True}
    )

    assert (verdict.stop, verdict.messages) == ("enough", ("hi",))
    assert said("Stop", {"continue": False}).stop == "stopped by a hook"
    assert said("Stop", {"continue": True}) == NOTHING


@requirement("hooks:output:json")
@pytest.mark.parametrize("event", sorted(EVENTS))
def test_a_decision_to_block_counts_where_the_format_says_so(event: str) -> None:
    verdict = said(event, {"decision": "block", "reason": "because"})

    if not EVENTS[event].takes_decision:
        assert verdict == NOTHING
    elif event == "PostToolUse":
        assert (verdict.blocked, verdict.context) == (None, ("because",))
    else:
        assert verdict.blocked == "because"


@requirement("hooks:output:json")
@pytest.mark.parametrize("event", sorted(EVENTS))
def test_additional_context_counts_where_the_format_says_so(event: str) -> None:
    verdict = said(event, specific(event, additionalContext="note"))

    assert verdict.context == (("note",) if EVENTS[event].takes_context else ())


@requirement("hooks:output:json")
@pytest.mark.parametrize(
    ("decision", "permission"), [("allow", "allow"), ("deny", "deny"), ("ask", "ask"), ("defer", "ask")]
)
def test_a_tool_call_is_permitted_refused_or_asked_about(decision: str, permission: str) -> None:
    answer = specific(
        "PreToolUse", permissionDecision=decision, permissionDecisionReason="why", updatedInput={"command": "ls"}
    )

    verdict = said("PreToolUse", answer)

    assert (verdict.permission, verdict.reason, verdict.updated_input) == (permission, "why", {"command": "ls"})
    assert verdict.blocked == ("why" if decision == "deny" else None)


@requirement("hooks:output:json")
def test_older_words_for_a_tool_call_still_count() -> None:
    assert said("PreToolUse", {"decision": "approve", "reason": "fine"}).permission == "allow"
    assert said("PreToolUse", {"decision": "block", "reason": "bad"}).permission == "deny"


@requirement("hooks:output:json")
def test_a_question_is_answered_in_place_of_the_user() -> None:
    rules = [{"type": "addRules"}]
    yes = {"behavior": "allow", "updatedInput": {"a": 1}, "updatedPermissions": rules}
    verdict = said("PermissionRequest", specific("PermissionRequest", decision=yes))
    assert (verdict.permission, verdict.updated_input) == ("allow", {"a": 1})
    assert verdict.more == {"updatedPermissions": rules}

    no = {"behavior": "deny", "message": "not now", "interrupt": True}
    verdict = said("PermissionRequest", specific("PermissionRequest", decision=no))
    assert (verdict.permission, verdict.reason, verdict.more) == ("deny", "not now", {"interrupt": True})


@requirement("hooks:output:json")
def test_fields_of_single_events() -> None:
    assert said("PostToolUse", specific("PostToolUse", updatedToolOutput="new")).updated_output == "new"
    assert said("PostToolUse", specific("PostToolUse", updatedMCPToolOutput=[1])).updated_output == [1]
    assert said("PermissionDenied", specific("PermissionDenied", retry=True)).more == {"retry": True}
    assert said("SessionStart", specific("SessionStart", sessionTitle="t")).more == {"sessionTitle": "t"}
    assert said("WorktreeCreate", "log\n/path/tree\n").more == {"worktreePath": "/path/tree"}
    assert said("WorktreeCreate", "", code=1, stderr="no space").blocked == "no space"


@requirement("hooks:output:json")
@pytest.mark.parametrize(
    "answer",
    [
        '{"decision": ',
        {"decision": "perhaps"},
        {"continue": "no"},
        {"systemMessage": 3},
        {"hookSpecificOutput": []},
        {"hookSpecificOutput": {"hookEventName": "Stop"}},
        specific("PreToolUse", permissionDecision="maybe"),
        specific("PreToolUse", updatedInput="ls"),
    ],
)
def test_wrong_json_is_named_and_decides_nothing(answer: object) -> None:
    verdict = said("PreToolUse", answer)

    assert (verdict.blocked, verdict.permission, verdict.updated_input, verdict.context) == (None, None, None, ())
    assert verdict.messages[0].startswith("hook h: invalid JSON output: ")


@requirement("hooks:output:json", "hooks:run:never-fails")
@given(
    st.sampled_from(sorted(EVENTS)),
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=5) | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(["continue", "decision", "reason", "hookSpecificOutput", "updatedInput", "behavior"]),
                inner,
            )
        ),
        max_leaves=8,
    ),
    st.integers(-9, 255),
)
def test_whatever_a_hook_prints_there_is_a_verdict(event: str, answer: object, code: int) -> None:
    verdict = said(event, answer, code=code, stderr="e")

    assert isinstance(verdict, HookVerdict)


@requirement("hooks:run:model")
def test_a_models_yes_permits_nothing_and_its_no_refuses() -> None:
    assert verdict_from_model(EVENTS["PreToolUse"], "h", ok=True, reason="") == NOTHING
    assert verdict_from_model(EVENTS["PreToolUse"], "h", ok=False, reason="no").permission == "deny"
    assert verdict_from_model(EVENTS["Stop"], "h", ok=False, reason="tests fail").blocked == "tests fail"
