"""A proposal as a diff, in pieces that a person takes or leaves one by one.

An edit of one file falls into the hunks of its diff; a merge or an archived topic is one piece, since half of it
would lose something.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from reverie.errors import Damaged, UserMistake
from reverie.memory.dream.proposal import DreamStep, StepKind
from reverie.memory.topics.topic import parse_topic
from reverie.values import value

_CONTEXT_LINES = 3
_Opcode = tuple[str, int, int, int, int]


@value
class Hunk:
    """One piece of a proposal."""

    step: int
    """Which step it belongs to."""
    part: int | None
    """Which hunk of the file; None when it is the whole step."""
    reason: str
    diff: str


def hunks_of(steps: Sequence[DreamStep]) -> tuple[Hunk, ...]:
    """All pieces, in order."""
    return tuple(hunk for number, step in enumerate(steps) for hunk in _hunks(number, step))


def diff_of(steps: Sequence[DreamStep]) -> str:
    """The whole as one unified diff; archived topics are shown as removed."""
    return "".join(_step_diff(step) for step in steps)


def chosen(steps: Sequence[DreamStep], accepted: Collection[Hunk]) -> tuple[DreamStep, ...]:
    """What is left of the steps when only these pieces are taken.

    Raises:
        UserMistake: the pieces of a file that were taken do not make a topic.
    """
    steps_left: list[DreamStep] = []
    for number, step in enumerate(steps):
        parts = {hunk.part for hunk in accepted if hunk.step == number}
        if None in parts:
            steps_left.append(step)
        elif parts:
            path = next(iter(step.after))
            text = _partly(step.before[path] or "", step.after[path] or "", parts)
            _check(path, text)
            steps_left.append(replace(step, after={path: text}))
    return tuple(steps_left)


def _hunks(number: int, step: DreamStep) -> Iterator[Hunk]:
    path = next(iter(step.after))
    if step.kind is not StepKind.edit or len(step.after) != 1 or step.before[path] is None or step.after[path] is None:
        yield Hunk(number, None, step.reason, _step_diff(step))
        return
    old, new = _lines(step.before[path]), _lines(step.after[path])
    for part, group in enumerate(_groups(old, new)):
        yield Hunk(number, part, step.reason, _header(path, path) + _render_hunk(old, new, group))


def _step_diff(step: DreamStep) -> str:
    shown = []
    for path, after in step.after.items():
        if step.before.get(path) == after:
            continue
        old, new = _lines(step.before.get(path)), _lines(after)
        body = "".join(_render_hunk(old, new, group) for group in _groups(old, new))
        shown.append(
            _header(path if step.before.get(path) is not None else None, None if after is None else path) + body
        )
    return "".join(shown)


def _header(old: str | None, new: str | None) -> str:
    before = "/dev/null" if old is None else f"a/{old}"
    after = "/dev/null" if new is None else f"b/{new}"
    return f"--- {before}\n+++ {after}\n"


def _groups(old: Sequence[str], new: Sequence[str]) -> list[list[_Opcode]]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [list(group) for group in matcher.get_grouped_opcodes(_CONTEXT_LINES)]


def _render_hunk(old: Sequence[str], new: Sequence[str], group: Sequence[_Opcode]) -> str:
    first, last = group[0], group[-1]
    rows = [f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"]
    for tag, start, end, new_start, new_end in group:
        if tag == "equal":
            rows += [_row(" ", line) for line in old[start:end]]
            continue
        rows += [_row("-", line) for line in old[start:end]]
        rows += [_row("+", line) for line in new[new_start:new_end]]
    return "".join(rows)


def _range(start: int, end: int) -> str:
    length = end - start
    return f"{start + 1 if length else start},{length}"


def _row(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"


def _partly(old_text: str, new_text: str, parts: Collection[int | None]) -> str:
    old, new = _lines(old_text), _lines(new_text)
    result: list[str] = []
    done = 0
    for part, group in enumerate(_groups(old, new)):
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                continue
            result += old[done:start]
            result += new[new_start:new_end] if part in parts else old[start:end]
            done = end
    return "".join([*result, *old[done:]])


def _lines(text: str | None) -> list[str]:
    """Lines with their ends; only `\\n` ends one, as in the files themselves."""
    if not text:
        return []
    return [line for line in text.replace("\n", "\n\0").split("\0") if line]


def _check(path: str, text: str) -> None:
    try:
        parse_topic(path, text)
    except Damaged as problem:
        raise UserMistake(
            f"the accepted parts of {path} do not form a valid topic: {problem}; accept all or none"
        ) from None
