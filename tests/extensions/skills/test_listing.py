from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from reverie.extensions.skills import Skill, listing, skills_in_play
from tests.requirements import requirement

many = st.lists(
    st.builds(
        Skill,
        st.from_regex(r"[a-z]{1,20}", fullmatch=True),
        st.just(Path("/s/SKILL.md")),
        st.just("user"),
        description=st.text(max_size=300),
        for_model=st.booleans(),
    ),
    max_size=12,
    unique_by=lambda skill: skill.name,
)


@requirement("skills:listing:budget")
@given(many, st.integers(0, 2_000))
def test_a_listing_stays_within_its_budget(skills: list[Skill], budget: int) -> None:
    text = listing(skills, budget_chars=budget)

    assert len(text) <= budget
    assert text == listing(list(skills), budget_chars=budget)


@requirement("skills:listing:budget")
@given(many)
def test_names_go_before_descriptions(skills: list[Skill]) -> None:
    names = [skill.name for skill in skills if skill.for_model]
    budget = sum(len(name) + 3 for name in names)

    lines = listing(skills, budget_chars=budget).splitlines()

    assert [line.removeprefix("- ").partition(":")[0] for line in lines] == names


@requirement("skills:listing:budget")
def test_a_long_description_is_cut_and_a_short_budget_cuts_all_alike() -> None:
    skills = [Skill(name, Path("/x"), "user", description="word " * 1000, when_to_use="now") for name in ("a", "b")]

    full = listing(skills, budget_chars=100_000).splitlines()
    short = listing(skills, budget_chars=400).splitlines()

    assert all(1_500 < len(line) <= len("- a: ") + 1_536 for line in full)
    assert all(line.endswith("…") for line in (*full, *short))
    assert 300 < len("\n".join(short)) <= 400


@requirement("skills:listing:budget")
def test_what_does_not_fit_is_counted() -> None:
    skills = [Skill(f"skill-{number:02}", Path("/x"), "user") for number in range(20)]

    assert listing(skills, budget_chars=50) == "- skill-00\n- skill-01\n- skill-02\n- and 17 more"


@requirement("skills:listing:who")
def test_the_model_hears_of_what_it_may_invoke_and_what_is_in_play() -> None:
    open_, hidden, typed = (
        Skill("open", Path("/x"), "user", description="for all"),
        Skill("hidden", Path("/x"), "user", for_model=False),
        Skill("typed", Path("/x"), "user", paths=("*.ts",)),
    )

    def covers(patterns: tuple[str, ...], name: str) -> bool:
        return any(Path(name).match(pattern) for pattern in patterns)

    assert listing([open_, hidden]) == "- open: for all"
    assert skills_in_play([open_, typed], [], covers=covers) == (open_,)
    assert skills_in_play([open_, typed], ["a.py"], covers=covers) == (open_,)
    assert skills_in_play([open_, typed], ["src/a.ts"], covers=covers) == (open_, typed)
    assert listing([]) == ""
