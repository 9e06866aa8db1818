from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.dream.proposal import StepKind
from reverie.memory.dream.tidy import Draft, TidyContext, tidy
from reverie.memory.topics.anchors import FileAnchor
from reverie.memory.topics.topic import Source, Trust, parse_topic
from tests.memory.dream.kit import DAY, after, files, text
from tests.requirements import requirement

RULE = "Integration tests use a real database, because mocks once hid a broken migration."


@requirement("dream:embedded")
def test_exact_duplicates_become_one_with_all_sources() -> None:
    one = text("b.md", RULE, name="Tests", sources=(Source("s1", "m1", "use the real one"),))
    other = text("a_2.md", RULE, name="Tests 2", sources=(Source("s2", "m2", "no mocks please"),))

    (step,) = tidy({"b.md": one, "a_2.md": other}, TidyContext()).steps

    assert (step.kind, step.archived) == (StepKind.merge, ("a_2.md",))
    kept = parse_topic("b.md", step.after["b.md"] or "")
    assert kept.body == RULE
    assert {source.session for source in kept.sources} == {"s1", "s2"}
    assert "says the same as b.md" in step.reason


@requirement("dream:embedded", "dream:idempotent")
def test_many_copies_become_one_at_once() -> None:
    texts = {f"t{number:02}.md": text(f"t{number:02}.md", RULE) for number in range(40)}
    found = tidy(texts, TidyContext())
    (step,) = found.steps
    assert len(step.archived) == 39
    assert tidy(after(texts, found.steps), TidyContext()).steps == ()


@requirement("dream:embedded")
def test_near_duplicates_become_one_that_holds_both_texts() -> None:
    other = "Integration tests must use a real database, because mocks hid a broken migration once."

    (step,) = tidy(files(a=RULE, b=other), TidyContext()).steps

    kept = next(made for made in step.after.values() if made)
    assert RULE in kept
    assert other in kept
    assert len(step.archived) == 1


@requirement("dream:embedded")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The staging database listens on port 5432 of the build host.",
            "The staging database listens on port 5433 of the build host.",
        ),
        (
            "Always squash commits before merging a branch into main.",
            "Never squash commits before merging a branch into main.",
        ),
        (
            "The weekly report goes to Alice before the meeting starts.",
            "The weekly report goes to Robert before the meeting starts.",
        ),
        (
            "Call load_config before start_server in every script.",
            "Call load_settings before start_server in every script.",
        ),
        ("Use tabs.", "Use spaces."),
        (
            "Whenever the amber pipeline is touched, its operators are told before anything is merged.",
            "Whenever the birch pipeline is touched, its operators are told before anything is merged.",
        ),
    ],
)
def test_what_differs_in_a_number_a_name_or_a_no_stays_apart(one: str, other: str) -> None:
    assert tidy(files(a=one, b=other), TidyContext()).steps == ()


@requirement("dream:embedded")
def test_types_subjects_and_trust_are_not_mixed() -> None:
    near = "Integration tests must use a real database, because mocks hid a broken migration once."
    apart = {
        "a.md": text("a.md", RULE),
        "b.md": text("b.md", RULE, kind="project"),
        "c.md": text("c.md", RULE, about=("billing",)),
        "d.md": text("d.md", near, trust="inferred"),
    }
    assert tidy(apart, TidyContext()).steps == ()

    (step,) = tidy({"a.md": text("a.md", RULE, trust="inferred"), "b.md": text("b.md", RULE)}, TidyContext()).steps
    assert step.written == ("b.md",)
    assert parse_topic("b.md", step.after["b.md"] or "").trust is Trust.said


@requirement("dream:embedded", "memory:asks")
def test_the_asks_of_both_are_kept_up_to_five() -> None:
    less = text("a.md", RULE, trust="inferred", asks=("one", "two", "three"))
    best = text("b.md", RULE, asks=("two", "four", "five"))
    (step,) = tidy({"a.md": less, "b.md": best}, TidyContext()).steps

    assert parse_topic("b.md", step.after["b.md"] or "").asks == ("two", "four", "five", "one", "three")


@requirement("dream:limits")
def test_the_pinned_one_of_two_stays_and_two_pinned_ones_stay_both() -> None:
    texts = {"a.md": text("a.md", RULE), "b.md": text("b.md", RULE, pinned=True)}
    (step,) = tidy(texts, TidyContext()).steps
    assert step.archived == ("a.md",)

    both = texts | {"a.md": text("a.md", RULE, pinned=True)}
    assert tidy(both, TidyContext()).steps == ()


@requirement("dream:embedded")
def test_relative_dates_of_facts_become_absolute_and_habits_stay() -> None:
    texts = {
        "p.md": text("p.md", "We release this Thursday.\n\n`tomorrow` is a word of the parser.", kind="project"),
        "q.md": text("q.md", "Never deploy on Friday.", kind="project"),
        "r.md": text("r.md", "Ask again tomorrow.", kind="feedback"),
    }
    (step,) = tidy(texts, TidyContext()).steps
    assert step.written == ("p.md",)
    body = parse_topic("p.md", step.after["p.md"] or "").body
    assert body == "We release this Thursday (2026-03-05).\n\n`tomorrow` is a word of the parser."
    assert parse_topic("p.md", step.after["p.md"] or "").description == "We release this Thursday (2026-03-05)."


@requirement("dream:embedded")
@pytest.mark.parametrize(
    ("said", "made"),
    [
        ("The audit is on Thursday.", "The audit is on Thursday (2026-03-05)."),
        ("The audit failed last Friday.", "The audit failed last Friday."),
        ("We shipped it on Friday.", "We shipped it on Friday."),
        ("We shipped it yesterday.", "We shipped it yesterday (2026-03-01)."),
        ("上周五发布了新版本。", "上周五发布了新版本。"),
    ],
)
def test_a_day_becomes_a_date_only_where_it_is_plain_which(said: str, made: str) -> None:
    texts = {"p.md": text("p.md", said, kind="project")}
    result = after(texts, tidy(texts, TidyContext()).steps)
    assert parse_topic("p.md", result["p.md"]).body == made


@requirement("dream:embedded")
def test_without_a_day_a_relative_date_stays() -> None:
    texts = {"p.md": text("p.md", "We release tomorrow.", kind="project", observed=None)}
    assert tidy(texts, TidyContext()).steps == ()
    (step,) = tidy(texts, TidyContext(day_of=lambda _: DAY)).steps
    assert "2026-03-03" in (step.after["p.md"] or "")


@requirement("dream:embedded")
def test_dead_anchors_are_marked_and_the_mark_goes_when_they_are_back() -> None:
    texts = {"a.md": text("a.md", RULE, anchors=(FileAnchor("src/gone.py"), FileAnchor("src/here.py")))}
    dead = TidyContext(is_broken=lambda anchor: anchor == FileAnchor("src/gone.py"))

    (step,) = tidy(texts, dead).steps
    marked = after(texts, (step,))
    assert dict(parse_topic("a.md", marked["a.md"]).extra)["broken_anchors"] == '["src/gone.py"]'
    assert tidy(marked, dead).steps == ()

    (back,) = tidy(marked, TidyContext()).steps
    assert back.after == texts


@requirement("dream:embedded")
def test_contradictions_are_listed_with_the_newer_one_last_and_nothing_is_changed() -> None:
    texts = {
        "a.md": text("a.md", "Always use tabs for indentation in Go files.", observed=DAY.replace(day=9)),
        "b.md": text("b.md", "Never use tabs for indentation in Go files."),
        "c.md": text("c.md", "The nightly build may take 30 minutes.", kind="project"),
        "d.md": text("d.md", "The nightly build may take 45 minutes.", kind="project"),
        "e.md": text("e.md", "Prefer short commit messages."),
    }
    found = tidy(texts, TidyContext())
    assert found.steps == ()
    assert [each.paths for each in found.contradictions] == [("b.md", "a.md"), ("c.md", "d.md")]


@requirement("dream:embedded")
def test_a_file_that_cannot_be_read_is_left_alone() -> None:
    texts = {**files(a=RULE, b=RULE), "broken.md": "---\nname: [unclosed\n---\nx\n"}
    (step,) = tidy(texts, TidyContext()).steps
    assert "broken.md" not in step.before


def test_a_draft_that_says_what_is_known_adds_nothing() -> None:
    texts = files(a=RULE)
    draft = Draft(text("z.md", RULE), "z.md: learnt")
    assert tidy(texts, TidyContext(), {"z.md": draft}).steps == ()
    (step,) = tidy(
        texts, TidyContext(), {"z.md": replace(draft, text=text("z.md", "Name branches after tickets, please."))}
    ).steps
    assert (step.kind, step.before) == (StepKind.add, {"z.md": None})


_WORDS = (
    "tests",
    "database",
    "mocks",
    "migration",
    "release",
    "tomorrow",
    "never",
    "branch",
    "42",
    "Alice",
    "src/a.py",
)
_SENTENCES = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=7).map(lambda words: " ".join(words) + ".")
_BODIES = st.lists(_SENTENCES, min_size=1, max_size=3).map("\n\n".join)


@st.composite
def _directories(draw: st.DrawFn) -> dict[str, str]:
    pool = draw(st.lists(_BODIES, min_size=1, max_size=4))
    result: dict[str, str] = {}
    for number in range(draw(st.integers(1, 7))):
        path = f"t{number}.md"
        result[path] = text(
            path,
            draw(st.sampled_from(pool)),
            name=draw(st.sampled_from(["Tests", "Release", f"Topic {number}"])),
            description=draw(st.one_of(st.just(""), _SENTENCES)),
            kind=draw(st.sampled_from(["feedback", "project"])),
            trust=draw(st.sampled_from(["said", "inferred", "seen"])),
            pinned=draw(st.booleans()),
            observed=draw(st.sampled_from([None, DAY, DAY.replace(day=20)])),
            sources=draw(
                st.lists(st.builds(Source, st.just("s"), st.sampled_from("mn"), st.just("q")), max_size=2).map(tuple)
            ),
            anchors=draw(st.sampled_from([(), (FileAnchor("src/a.py"),)])),
        )
    return result


@requirement("dream:idempotent")
@given(_directories())
def test_a_second_dream_changes_nothing_and_no_word_or_source_is_lost(texts: dict[str, str]) -> None:
    world = TidyContext(is_broken=lambda _: True)
    first = tidy(texts, world)
    assert tidy(dict(reversed(texts.items())), world) == first

    result = after(texts, first.steps)
    assert tidy(result, world).steps == ()

    for step in first.steps:
        kept = parse_topic("k.md", step.after[step.written[0]] or "")
        for path in step.archived:
            gone = parse_topic(path, texts[path])
            assert set(gone.sources) <= set(kept.sources)
            assert not gone.pinned or kept.pinned
            for word in gone.body.replace(".", " ").split():
                assert word in f"{kept.description} {kept.body}" or word == "tomorrow"


@requirement("dream:name")
@pytest.mark.parametrize(
    "poor", ["note 3", "feedback_db", "Untitled", "Misc", "Real database (2)", "Something about testing"]
)
@pytest.mark.parametrize("is_first", [True, False])
def test_of_merged_memories_the_clearest_name_stays(poor: str, is_first: bool) -> None:
    said = "Integration tests use a real database, because mocks once hid a broken migration."
    clear = "Integration tests use a real database"
    names = [poor, clear] if is_first else [clear, poor]
    texts = {path: text(path, said, name=name) for path, name in zip(("a.md", "b.md"), names, strict=True)}
    [step] = tidy(texts, TidyContext()).steps
    [kept] = step.written
    assert parse_topic(kept, step.after[kept] or "").name == clear
    assert kept == ("b.md" if is_first else "a.md")


@requirement("security:world:bounded")
def test_a_huge_file_is_left_alone_and_does_not_hold_up_the_others() -> None:
    huge = text("huge.md", "It broke yesterday. " * 300_000)
    small = files(a=RULE, b=RULE)
    assert [step.after.keys() & {"huge.md"} for step in tidy({**small, "huge.md": huge}, TidyContext()).steps] == [
        set()
    ]
