"""What happened in a conversation, told from its structure."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.context.facts import FactCollector, Facts, gather
from reverie.context.facts.outcomes import error_lines, telling_lines
from reverie.context.facts.outline import outline
from reverie.context.facts.shell import file_uses
from reverie.context.facts.terms import terms, terms_of_line
from reverie.context.facts.values import ActionOutcome
from reverie.context.spans import plain
from reverie.messages.entries import Entry
from reverie.messages.message import assistant, user
from reverie.messages.view import Item, ItemKind, project
from tests.context.kit import Session
from tests.requirements import requirement
from tests.strategies import conversations


def facts_of(session: Session) -> Facts:
    return gather(session.view.items)


@requirement("digest:facts:tools")
def test_files_are_known_with_what_was_done_to_them() -> None:
    session = Session().say("go")
    session.work("Read", "1\tdef old():\n2\t    pass", file_path="src/a.py")
    session.work("Edit", "ok", file_path="src/a.py", old_string="def old():", new_string="def fresh(x):")
    edits: list[object] = [{"old_string": "one", "new_string": "two"}]
    session.work("MultiEdit", "ok", file_path="src/a.py", edits=edits)  # type: ignore[arg-type]  # JSON
    session.work("Write", "ok", file_path="src/b.rs", content="pub fn run() {}\nstruct Row;")
    session.work("NotebookEdit", "ok", notebook_path="n.ipynb", new_source="x = 1")
    files = {one.path: one for one in facts_of(session).files}
    assert dict(files["src/a.py"].operations) == {"read": 1, "edited": 2}
    assert [one.name for one in files["src/a.py"].symbols] == ["old", "fresh"]
    assert files["src/a.py"].symbols[1].changed
    assert files["src/a.py"].changes[0].removed == ("def old():",)
    assert files["src/a.py"].changes[0].added == ("def fresh(x):",)
    assert {one.name for one in files["src/b.rs"].symbols} == {"run", "Row"}
    assert files["n.ipynb"].is_changed


@requirement("digest:facts:tools")
def test_the_newest_task_list_the_plan_and_delegated_work_are_known() -> None:
    session = Session().say("go")
    session.work("TodoWrite", "ok", todos=[{"content": "first", "status": "pending"}])
    session.work(
        "TodoWrite",
        "ok",
        todos=[{"content": "first", "status": "completed"}, {"content": "second", "status": "in_progress"}],
    )
    session.work("ExitPlanMode", "ok", plan="1. look\n2. act")
    session.work("Skill", "ok", skill="review")
    session.work("Task", "Found three callers.\nMore.", description="find callers", subagent_type="explorer")
    found = facts_of(session)
    assert [todo.text for todo in found.open_todos] == ["second"]
    assert found.plan == "1. look\n2. act"
    assert found.skills == ("review",)
    assert (found.delegations[0].description, found.delegations[0].outcome) == ("find callers", "Found three callers.")


@requirement("digest:facts:tools", "digest:facts:unknown-tools")
def test_searches_pages_and_unknown_tools_are_lookups() -> None:
    session = Session().say("go")
    session.work("Grep", "a.py:1:x\nb.py:2:x", pattern="x")
    session.work("WebFetch", "A page.", url="https://example.org/page")
    session.work("mcp__tracker__find", "Ticket 77 is open", query="login")
    found = {(one.tool, one.subject): one for one in facts_of(session).lookups}
    assert found["Grep", "x"].found == ("a.py:1:x", "b.py:2:x")
    assert found["WebFetch", "https://example.org/page"].found == ("A page.",)
    assert found["mcp__tracker__find", "login"].found == ("Ticket 77 is open",)


@requirement("digest:facts:shell-agents")
def test_a_fenced_command_and_its_output_are_one_action() -> None:
    items = (
        Item("u1", ItemKind.TYPED, user("Fix the bug.")),
        Item("a1", ItemKind.REPLY, assistant("THOUGHT: I look.\n\n```bash\nsed -n '10,20p' src/x.py\n```")),
        Item("u2", ItemKind.TYPED, user("<returncode>0</returncode>\n<output>\ndef broken():\n</output>")),
        Item("a2", ItemKind.REPLY, assistant("THOUGHT: Test.\n\n```bash\npytest -q\n```")),
        Item(
            "u3", ItemKind.META, user("<returncode>1</returncode>\n<output>\nE   ValueError: no\n1 failed\n</output>")
        ),
    )
    found = gather(items)
    assert [one.text for one in found.requests] == ["Fix the bug."]
    assert [(one.text, one.outcome) for one in found.commands] == [
        ("sed -n '10,20p' src/x.py", ActionOutcome.OK),
        ("pytest -q", ActionOutcome.FAILED),
    ]
    assert (found.files[0].path, found.files[0].ranges) == ("src/x.py", ((10, 20),))
    assert found.files[0].symbols[0].line == 10
    assert found.troubles[0].line == "E   ValueError: no"


@requirement("digest:facts:shell-agents")
@pytest.mark.parametrize(
    ("command", "uses"),
    [
        ("cat a/b.py", [("a/b.py", "read")]),
        ("cd lib && cat x.c | head -5", [("lib/x.c", "read")]),
        ("nl -ba src/m.py | sed -n '5,9p'", [("src/m.py", "read")]),
        ("cat <<'EOF' > new.py\nprint(1)\nEOF", [("new.py", "wrote")]),
        ("sed -i 's/import sys; x/y/' src/a.py && rm old.txt", [("src/a.py", "edited"), ("old.txt", "removed")]),
        ("grep -n 'def run' src/a.py", [("src/a.py", "searched")]),
        ("echo done", []),
    ],
)
def test_commands_say_what_they_do_to_files(command: str, uses: list[tuple[str, str]]) -> None:
    assert [(one.path, one.kind) for one in file_uses(command)] == uses


@requirement("digest:facts:outlines")
@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("    async def fetch(self, url):", "fetch"),
        ("export default function App() {", "App"),
        ("export const useThing = (a) => {", "useThing"),
        ("pub(crate) fn parse<T>(x: T) -> T {", "parse"),
        ("impl<T> Display for Row<T> {", "Display"),
        ("func (s *Server) Handle(w http.ResponseWriter) {", "Handle"),
        ("public static class Builder {", "Builder"),
        ("interface Props extends Base {", "Props"),
        ("MAX_ROWS = 10", "MAX_ROWS"),
        ("类型 = 1", None),
    ],
)
def test_definitions_are_seen_in_many_languages(line: str, name: str | None) -> None:
    assert [one.name for one in outline(line)] == ([] if name is None else [name])


@requirement("digest:facts:outlines")
def test_printed_line_numbers_are_kept_and_not_taken_for_text() -> None:
    found = outline("    40→class Row:\n    41→    def key(self):\n    42→        return 1")
    assert [(one.name, one.line) for one in found] == [("Row", 40), ("key", 41)]


@requirement("digest:facts:outcomes")
@pytest.mark.parametrize(
    ("output", "telling"),
    [
        ("....\n===== 4 passed in 0.1s =====\n", "===== 4 passed in 0.1s ====="),
        ("running 2 tests\ntest result: ok. 2 passed; 0 failed\n", "test result: ok. 2 passed; 0 failed"),
        ("ok  \texample.org/pkg\t0.01s\n", "ok  \texample.org/pkg\t0.01s"),
        ("[main 1a2b3c4] fix: it\n 1 file changed, 2 insertions(+)\n", "1 file changed, 2 insertions(+)"),
        ("added 3 packages\nfound 0 vulnerabilities\n", "found 0 vulnerabilities"),
        ("one\ntwo\n", "two"),
    ],
)
def test_the_telling_line_of_an_output_is_found(output: str, telling: str) -> None:
    assert telling_lines(output)[-1] == telling


@requirement("digest:facts:outcomes")
@pytest.mark.parametrize(
    ("output", "error"),
    [
        ("Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'\n", "KeyError: 'x'"),
        ("error[E0425]: cannot find value `x`\n --> src/main.rs:2:5\n", "error[E0425]: cannot find value `x`"),
        ("npm ERR! missing script: build\n", "npm ERR! missing script: build"),
        ("src/a.ts(3,1): error TS2304: Cannot find name 'x'.\n", "src/a.ts(3,1): error TS2304: Cannot find name 'x'."),
        ("--- FAIL: TestRow (0.00s)\npanic: boom\n", "panic: boom"),
        ("bash: foo: command not found\n", "bash: foo: command not found"),
        ("\x1b[31mfatal: not a git repository\x1b[0m\n", "fatal: not a git repository"),
    ],
)
def test_the_error_line_of_an_output_is_found(output: str, error: str) -> None:
    assert error in error_lines(output)


@requirement("digest:facts:errors")
def test_an_error_knows_what_followed_and_whether_it_was_fine_later() -> None:
    session = Session().say("go")
    session.work("Bash", "E   ValueError: bad row\n1 failed", command="pytest", is_error=True)
    session.work("Edit", "ok", file_path="a.py", old_string="x", new_string="y")
    session.work("Bash", "1 passed", command="pytest")
    session.work("Bash", "fatal: no upstream", command="git push", is_error=True)
    first, second = facts_of(session).troubles
    assert (first.line, first.where, first.followed, first.resolved) == (
        "E   ValueError: bad row", "pytest", "edited a.py", True,
    )  # fmt: skip
    assert (second.line, second.resolved) == ("fatal: no upstream", False)


@requirement("digest:facts:decisions")
@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Looks good. Please never mock the database!", "Please never mock the database!"),
        ("Bitte benutze immer ruff. Danke dir.", "Bitte benutze immer ruff."),
        ("看起来不错。请不要修改测试文件。", "请不要修改测试文件。"),
        ("いいですね。必ずテストを先に書いてください。", "必ずテストを先に書いてください。"),
    ],
)
def test_decisions_are_quoted_in_many_languages(text: str, quote: str) -> None:
    assert [one.quote for one in facts_of(Session().say(text)).decisions] == [quote]


@requirement("digest:facts:decisions")
def test_a_short_answer_is_a_decision_with_its_question() -> None:
    session = Session().say("go").reply("Two ways exist. Shall I take the second?").say("the second")
    decision = facts_of(session).decisions[0]
    assert (decision.quote, decision.after) == ("the second", "Shall I take the second?")


@requirement("digest:facts:typed")
def test_what_a_program_put_in_the_users_place_is_no_request() -> None:
    session = Session().say("Real words.").reply("ok")
    session.say("<local-command-stdout>lots of output</local-command-stdout>")
    session.say("[Request interrupted by user]")
    session.say("A reminder", is_meta=True)
    assert [one.text for one in facts_of(session).requests] == ["Real words."]


def test_identifiers_are_told_by_their_shape() -> None:
    found = terms("see `day_first` in src/app/dates.py --no-verify E0425 at 127.0.0.1:5432, parseRow() and plain words")
    assert {"day_first", "src/app/dates.py", "dates.py", "--no-verify", "E0425", "parseRow"} <= found
    assert not {"plain", "words", "see", "and"} & found


_ONE_BY_ONE = re.compile(
    r"""
    (?P<path>[\w.@~+-]*(?:/[\w.@+\-\[\]$]+)+/?)
  | (?P<flag>(?<![\w-])--?[A-Za-z][\w-]+)
  | (?P<word>[^\W\d]\w*(?:(?:\.|::|->|\#)[^\W\d]\w*)*(?:-\w+)*\(?)
  | (?P<number>\d[\d_]*(?:[.:]\d+)+|\d[\w]*)
    """,
    re.VERBOSE,
)
_PIECES = st.sampled_from(
    [
        "a/b.py",
        "/x",
        "--no-verify",
        "-rf",
        "parseRow(",
        "A::b",
        "x.y",
        "day_first",
        "kebab-case",
        "1.2.3",
        "4bd8f",
        "word",
    ]
)
_TEXTS = st.lists(st.one_of(_PIECES, st.text("aB9_./-:#>([$@~+\"`' \né→", max_size=6))).map("".join)


@requirement("digest:facts:terms")
@given(_TEXTS)
def test_reading_run_by_run_finds_what_reading_the_whole_text_finds(text: str) -> None:
    plainly = {
        one.strip()
        for groups in re.findall(r"`([^`\n]{3,60})`|\"([^\"\n]{3,60})\"|'([^'\n]{3,60})'", text)
        for one in groups
    }
    whole = {one for one in plainly if len(one) >= 3}
    for match in _ONE_BY_ONE.finditer(text):
        # A match that stands alone is one run, of which it is the only identifier or holds all of them.
        whole |= terms(match[0]) if match.lastgroup != "flag" else {match[0]}

    assert terms(text) == whole


@requirement("digest:facts:terms")
@given(_TEXTS)
def test_the_identifiers_of_a_text_are_those_of_its_lines(text: str) -> None:
    assert terms(text) == frozenset[str]().union(*(terms_of_line(line.strip()) for line in text.split("\n")))


@requirement("digest:facts:quoted")
def test_what_a_progress_line_overwrites_is_not_joined_with_what_comes_after() -> None:
    shown = "step_one_of_two\rstep_two_of_two\r\nparse_rows"
    session = Session().say("go").work("Bash", shown, command="cargo build")
    session.reply("step_one_of_two, step_two_of_two and parse_rows")
    assert {one.line for one in facts_of(session).evidence} == set(shown.split())


@requirement("digest:facts:quoted")
@given(conversations())
def test_no_text_of_the_facts_is_invented(entries: list[Entry]) -> None:
    items = project(entries).items
    found = gather(items)
    said = _flat("\n".join(plain(item) for item in items))
    quoted = [one.text for one in found.requests] + [one.text for one in found.statements]
    quoted += [one.quote for one in found.decisions] + [one.line for one in found.evidence]
    quoted += [one.line for one in found.troubles] + [line for one in found.commands for line in one.telling]
    for text in quoted:
        assert _flat(text).removesuffix("…") in said


@requirement("digest:facts:fold")
@given(conversations(max_rounds=8), st.lists(st.integers(0, 40), max_size=4))
def test_gathering_a_beginning_and_then_the_rest_is_gathering_all(made: list[Entry], cuts: list[int]) -> None:
    items = project(made).items
    gathering = FactCollector()
    for until in [*sorted(cuts), len(items)]:
        gathering.extend(items[len(gathering.items) : until])
        assert gathering.facts() == gather(items[: len(gathering.items)])


@requirement("digest:facts:fold")
@pytest.mark.parametrize("step", [1, 2, 3, 7])
def test_what_comes_late_is_gathered_as_if_it_had_been_there(step: int) -> None:
    session = Session().say("make `parse_row` work").call("Bash", command="pytest tests/test_a.py")
    session.attach("note", "the system adds something before the answer comes")
    session.answer("FAILED tests/test_a.py::test_one - parse_row is missing", is_error=True)
    session.attach("note", "and something after it")
    session.work("Read", "1\tdef parse_row(text):\n2\t    return split_cells(text)", file_path="/src/row.py")
    session.reply("I look at `split_cells` now.\n```bash\ngrep -n split_cells src/row.py\n```")
    session.say("<returncode>0</returncode>\n<output>2: return split_cells(text)</output>", is_meta=True)
    session.work("Bash", "1 passed", command="pytest").say("never touch `split_cells` again").reply("Fine.")
    items = session.view.items
    gathering = FactCollector()
    for start in range(0, len(items), step):
        assert gathering.extend(items[start : start + step]).facts() == gather(items[: start + step])
    facts = gathering.facts()
    assert [one.resolved for one in facts.troubles] == [True]
    assert any("split_cells" in one.line for one in facts.evidence)


def _flat(text: str) -> str:
    return " ".join(text.split())


@requirement("digest:facts:errors")
@pytest.mark.parametrize(
    ("later", "earlier", "over"),
    [
        ("pytest -q", "pytest tests/test_a.py -q", True),
        ("python -m pytest -q 2>&1 | tail -4", "cd app && python -m pytest tests/test_a.py", True),
        ("pytest tests/test_b.py", "pytest tests/test_a.py", False),
        ("pytest tests/test_a.py", "pytest", False),
        ("pytest -k other", "pytest", False),
        ("cargo build", "cargo test", False),
        ("git push --force-with-lease", "git push", True),
    ],
)
def test_an_error_is_over_only_when_as_much_ran_again(later: str, earlier: str, over: bool) -> None:
    session = Session().say("go").work("Bash", "fatal: it failed", command=earlier, is_error=True)
    session.work("Bash", "fine", command=later)
    assert facts_of(session).troubles[0].resolved is over
