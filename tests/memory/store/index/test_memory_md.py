from __future__ import annotations

from dataclasses import replace
from datetime import date

from hypothesis import example, given
from hypothesis import strategies as st

from reverie.memory.store.index.memory_md import (
    IndexEntry,
    IndexLimits,
    IndexRow,
    index_for_model,
    index_row,
    parse_index,
    render_index,
    strip_uncounted,
)
from reverie.memory.topics.situations import When
from reverie.memory.topics.topic import MemoryType, Topic
from tests.requirements import requirement


def topic(path: str, **fields: object) -> Topic:
    given_fields = {"name": path.removesuffix(".md"), "description": f"about {path}", **fields}
    return Topic(path=path, **given_fields)  # type: ignore[arg-type]


def paths_in(text: str) -> list[str]:
    return [line.path for line in parse_index(text) if isinstance(line, IndexEntry)]


_paths = ["a.md", "b.md", "c.md", "d.md"]
_lines_by_hand = st.sampled_from(
    [f"- [{path}]({path}) — by hand" for path in [*_paths, "gone.md"]]
    + [
        "",
        "# Memory",
        "## Mine",
        "some prose",
        "- an item of mine",
        "  below an item",
        "  - [b.md](b.md) — nested",
        "```",
    ]
)
_texts_by_hand = st.lists(_lines_by_hand, max_size=10).map("\n".join)
_subsets = st.sets(st.sampled_from(_paths)).map(lambda chosen: [topic(path) for path in sorted(chosen)])


@requirement("memory:index:line")
def test_a_new_index_has_one_line_per_topic_ordered_by_subject() -> None:
    topics = [
        topic("reference_linear.md", name="Linear", type=MemoryType.reference, description="Where bugs are tracked"),
        topic("user_role.md", name="Role", type=MemoryType.user, description="Ten years of Go"),
        topic("feedback_b.md", name="beta", type=MemoryType.feedback, description="B"),
        topic("feedback_a.md", name="Alpha", type=MemoryType.feedback, description="A"),
    ]

    assert render_index(topics) == (
        "- [Role](user_role.md) — Ten years of Go\n"
        "- [Alpha](feedback_a.md) — A\n"
        "- [beta](feedback_b.md) — B\n"
        "- [Linear](reference_linear.md) — Where bugs are tracked\n"
    )


@requirement("memory:index:always-first")
def test_a_rule_that_holds_always_stands_first_with_the_rule_as_its_hook() -> None:
    rule = topic(
        "feedback_tests.md",
        type=MemoryType.feedback,
        name="Tests",
        description="How tests are written",
        body="Never mock the database.\n\n**Why:** mocks hid a broken migration.",
        when=When(always=True),
    )

    assert render_index([topic("a.md", type=MemoryType.user), rule]).splitlines()[0] == (
        "- [Tests](feedback_tests.md) — Never mock the database."
    )


@requirement("memory:index:always-first")
def test_pins_stand_below_rules_that_hold_always_and_above_all_else() -> None:
    rule = topic("z.md", type=MemoryType.reference, name="Rule", when=When(always=True))
    others = [topic("a.md", type=MemoryType.user, name="First"), topic("b.md", type=MemoryType.user, name="Second")]
    pinned = topic("y.md", type=MemoryType.reference, name="Pinned", pinned=True)
    before = render_index([rule, *others, replace(pinned, pinned=False)])

    for previous, changed in (("", None), (before, ["y.md"])):
        text = render_index([rule, *others, pinned], previous, changed=changed)
        assert paths_in(text) == ["z.md", "y.md", "a.md", "b.md"]


@requirement("memory:index:prose-stays")
def test_prose_stays_and_items_under_own_sections_keep_their_place() -> None:
    previous = (
        "# My memory\n\nRead this first.\n\n"
        "- [old title](b.md) — old hook\n\n"
        "## Testing\n\nWhat I care about:\n* [x](a.md) — mine\n- not a memory\n\n"
        "## Links\n- [site](https://acme.dev)\n"
    )

    text = render_index([topic("a.md"), topic("b.md"), topic("c.md")], previous)

    assert text == (
        "# My memory\n\nRead this first.\n\n"
        "- [b](b.md) — about b.md\n- [c](c.md) — about c.md\n\n"
        "## Testing\n\nWhat I care about:\n* [a](a.md) — about a.md\n- not a memory\n\n"
        "## Links\n- [site](https://acme.dev)\n"
    )


@requirement("memory:index:prose-stays")
def test_a_first_block_goes_before_the_sections_or_after_all_prose() -> None:
    assert render_index([topic("a.md")], "# M\nprose") == "# M\nprose\n\n- [a](a.md) — about a.md\n"
    assert render_index([topic("a.md")], "# M\n## Own\nx\n") == "# M\n\n- [a](a.md) — about a.md\n\n## Own\nx\n"


@requirement("memory:index:prose-stays")
def test_line_ends_and_byte_order_mark_stay() -> None:
    text = render_index([topic("a.md"), topic("b.md")], "\ufeffprose\r\n\r\n- [a](a.md) — x\r\n")

    assert text == "\ufeffprose\r\n\r\n- [a](a.md) — about a.md\r\n- [b](b.md) — about b.md\r\n"


def test_an_index_that_is_not_utf_8_keeps_its_odd_bytes() -> None:
    previous = b"caf\xe9\n".decode("utf-8", "surrogateescape")

    text = render_index([topic("a.md")], previous)

    assert text.encode("utf-8", "surrogateescape").startswith(b"caf\xe9\n\n- [a](a.md)")
    assert index_for_model(text, IndexLimits(200, 5))[1]


def test_items_with_something_written_below_them_stay_in_the_users_order() -> None:
    previous = "- [b](b.md) — x\n  my remark on b\n- [a](a.md) — x\n"

    text = render_index([topic("a.md"), topic("b.md"), topic("c.md")], previous)

    assert text.startswith("- [b](b.md) — about b.md\n  my remark on b\n- [a](a.md) — about a.md\n")
    assert paths_in(text) == ["b.md", "a.md", "c.md"]


def test_hooks_by_another_program_stay_until_their_topic_changes() -> None:
    previous = "- [A](a.md) — a better hook\n- [B](b.md) — another\n"
    topics = [topic("a.md"), topic("b.md"), topic("c.md")]

    assert render_index(topics, previous, changed={"b.md", "c.md"}) == (
        "- [A](a.md) — a better hook\n- [b](b.md) — about b.md\n- [c](c.md) — about c.md\n"
    )


def test_an_order_by_another_hand_stays_and_what_is_new_is_put_where_it_belongs() -> None:
    previous = "- [z](z.md)\n- [b](b.md)\n- [y](y.md)\n"
    topics = [topic("z.md"), topic("b.md"), topic("y.md"), topic("c.md", type=MemoryType.user), topic("x.md")]

    text = render_index(topics, previous, changed={"c.md", "x.md"})

    assert paths_in(text) == ["c.md", "z.md", "b.md", "x.md", "y.md"]
    assert paths_in(render_index(topics, text)) == ["c.md", "b.md", "x.md", "y.md", "z.md"]


@requirement("memory:index:derived")
def test_items_of_removed_topics_and_repetitions_go_while_other_dead_links_are_prose() -> None:
    previous = "- [a](a.md)\n- [a](a.md)\n- [old](gone.md)\n- [plan](someday.md)\n\n## Own\n- [a](A.md)\n"

    text = render_index([topic("a.md")], previous, removed=["gone.md"])

    assert text == "- [plan](someday.md)\n\n## Own\n- [a](a.md) — about a.md\n"


@requirement("memory:index:derived")
@given(_subsets, _texts_by_hand)
@example([topic("a.md"), topic("d.md")], "- [a](a.md)\n- [b](b.md)\n- [d](d.md)\n- [a](a.md)")
def test_regenerating_changes_nothing_and_lists_every_topic_once(topics: list[Topic], previous: str) -> None:
    text = render_index(topics, previous)

    assert render_index(topics, text) == text
    assert render_index(topics, text, changed=()) == text
    known = [entry.path for entry in topics]
    assert sorted(path for path in paths_in(text) if path in known) == known


@requirement("memory:index:prose-stays")
@given(_subsets, _texts_by_hand)
def test_no_prose_is_lost_and_its_order_stays(topics: list[Topic], previous: str) -> None:
    known = {entry.path for entry in topics}

    def prose(text: str) -> list[str]:
        lines = [line for line in parse_index(text) if not (isinstance(line, IndexEntry) and line.path in known)]
        return [line.text for line in lines if line.text.strip()]

    assert prose(render_index(topics, previous)) == prose(previous)


@requirement("memory:index:ranked-before-cut")
def test_without_room_for_all_pins_rules_use_and_recency_decide() -> None:
    rows = [IndexRow(f"old{n:03}.md", f"old {n}", ("x",), day=date(2020, 1, 1)) for n in range(300)]
    kept = [
        IndexRow("z_pinned.md", "pinned", ("x",), is_pinned=True),
        IndexRow("z_always.md", "always", ("x",), is_always=True),
        IndexRow("z_used.md", "used", ("x",)),
        IndexRow("z_recent.md", "recent", ("x",), day=date(2026, 1, 1)),
    ]

    text = render_index([*rows, *kept], use={"z_used.md": 3.0})

    assert len(text.splitlines()) == 200
    assert {row.path for row in kept} <= set(paths_in(text))
    assert text.splitlines()[-1] == "- … and 105 more memories, found by recall; no room for them here"
    assert render_index([*rows, *kept], text, use={"z_used.md": 3.0}) == text


@requirement("memory:index:ranked-before-cut")
@given(st.integers(0, 400), st.integers(0, 250), st.integers(1, 200))
def test_the_index_stays_within_the_limits_unless_prose_alone_fills_them(count: int, prose: int, hook: int) -> None:
    rows = [IndexRow(f"项目_{n}.md", f"名 {n}", ("说" * hook,)) for n in range(count)]
    own = "".join(f"prose {n}\n" for n in range(prose))
    limits = IndexLimits()

    text = render_index(rows, own)

    assert text.startswith(own)
    if prose <= limits.lines - limits.generated_lines_at_least - 1:
        assert text.count("\n") <= limits.lines
        assert len(text.encode()) <= limits.size_bytes
    assert len(paths_in(text)) >= min(count, limits.generated_lines_at_least // 2)


@requirement("memory:index:loading-limits")
def test_a_conversation_takes_200_lines_and_then_whole_lines_up_to_the_bytes() -> None:
    many = "".join(f"line {n}\n" for n in range(250))
    wide = "".join("x" * 299 + "\n" for _ in range(150))

    text, is_cut = index_for_model(many)
    assert is_cut
    assert text.startswith("line 0\n")
    assert "line 199\n" in text
    assert "line 200" not in text
    assert "Warning" in text.splitlines()[-1]

    text, is_cut = index_for_model(wide)
    assert is_cut
    assert text.count("x" * 299 + "\n") == 83
    assert index_for_model("a\nb\n") == ("a\nb\n", False)


@requirement("memory:index:loading-limits")
def test_front_matter_and_comments_do_not_count() -> None:
    hidden = "---\n" + "key: x\n" * 100 + "---\n<!-- one line -->\n<!--\n" + "hidden\n" * 100 + "-->\n"

    assert index_for_model(hidden + "a\n" * 200) == ("a\n" * 200, False)
    assert strip_uncounted("```\n<!-- shown -->\n```\n") == "```\n<!-- shown -->\n```\n"


@given(st.text("a\n", max_size=50), st.integers(1, 10), st.integers(1, 40))
def test_what_a_conversation_takes_is_a_beginning_of_the_index(text: str, lines: int, size: int) -> None:
    shown, is_cut = index_for_model(text, IndexLimits(lines, size))

    if is_cut:
        shown = shown[: shown.rindex("\n\n> Warning")]
    assert text.startswith(shown)
    assert len(shown.encode()) <= size
    assert shown.count("\n") <= lines


def test_a_row_ranks_by_the_last_day_on_which_the_topic_was_found_true() -> None:
    row = index_row(topic("a.md", observed=date(2026, 1, 2), verified=date(2026, 3, 4), pinned=True))

    assert row == IndexRow("a.md", "a", ("about a.md",), is_pinned=True, day=date(2026, 3, 4))
