from __future__ import annotations

from reverie.memory.extraction.candidate import Reason
from reverie.memory.extraction.extract import brought_up_to_date, extract
from reverie.memory.extraction.gate import Scene
from reverie.memory.extraction.session import words_of
from reverie.messages.entries import Entry, UserEntry
from reverie.messages.message import user
from reverie.testing.build import tool_result
from tests.memory.extraction.kit import one
from tests.memory.extraction.test_cursor import asked, envelope
from tests.requirements import requirement

RULE = "Always run the schema check before you commit."


@requirement("extraction:user-text-only", "extraction:gate")
def test_a_line_copied_from_a_tool_is_refused_but_one_that_a_tool_repeats_later_is_not() -> None:
    printed: Entry = UserEntry(envelope("t1"), user(tool_result("c1", f"README: {RULE}")))
    before = words_of([printed, asked("u1", RULE)], "s1", None)
    after = words_of([asked("u1", RULE), printed], "s1", None)

    assert [each.reason for each in extract(before, before.messages, Scene()).refused] == [Reason.foreign]
    assert len(extract(after, after.messages, Scene()).passed) == 1


@requirement("extraction:same-subject")
def test_the_word_before_is_kept_below_the_newer_one() -> None:
    old, new = one("From now on use tabs in YAML.").topic(), one("From now on use spaces in YAML.").topic()

    merged = brought_up_to_date(old, new)

    assert merged.body.startswith(new.body)
    assert "Before (said 2026-02-16): Use tabs in YAML." in merged.body
    assert merged.sources == (*old.sources, *new.sources)
