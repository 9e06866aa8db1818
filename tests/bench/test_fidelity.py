"""The measure of fidelity: what counts as visible, and what as reachable."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench.fidelity.cuts import Cut
from bench.fidelity.identifiers import identifiers
from bench.fidelity.matched import Point, beats, verdict
from bench.fidelity.measure import OURS, interval, spread
from bench.fidelity.score import Need, Score, score

from reverie.messages.message import user
from reverie.messages.view import Item, ItemKind
from tests.context.kit import Session
from tests.requirements import requirement


@pytest.fixture
def need() -> Need:
    """The continuation uses one symbol of a file, one error code and one commit that came before."""
    session = Session().say("Make the import faster.")
    session.work("Read", "1\tdef parse_rows(stream):\n2\t    return list(stream)", file_path="src/app/importer.py")
    session.work("Bash", "error[E0425]: cannot find value `total_sum` in this scope", command="cargo build")
    session.work("Bash", "[main 4bdbf8f] speed up the nightly export", command="git commit -m x")
    before = len(session.view.items)
    session.reply("parse_rows caused E0425, so I go back to 4bdbf8f.")
    return Need(session.view.items, Cut(before, before + 1))


def scored(need: Need, *texts: str) -> Score:
    return score(need, [Item(f"s{number}", ItemKind.SUMMARY, user(text)) for number, text in enumerate(texts)])


@requirement("digest:bench:company")
def test_what_the_continuation_uses_of_the_past_is_needed(need: Need) -> None:
    assert need.identifiers == ("4bdbf8f", "E0425", "parse_rows")


@requirement("digest:bench:company")
def test_what_is_kept_word_for_word_is_visible(need: Need) -> None:
    assert score(need, need.items).visible_share == 1.0


@requirement("digest:bench:company")
@pytest.mark.parametrize("join", [", ", "\n", " ", "; ", "\n- "])
def test_a_bare_dump_of_names_is_not_visible(need: Need, join: str) -> None:
    names = [*need.identifiers, "total_sum", "importer.py", "parse_cells", "other_name"]
    assert scored(need, join.join(names)).visible == 0


@requirement("digest:bench:company")
def test_an_identifier_is_visible_with_what_it_stood_with(need: Need) -> None:
    told = scored(
        need,
        "- src/app/importer.py (read)\n  defines parse_rows; parse_cells; other_name; last_name",
        "E0425: cannot find the value",
        "4bdbf8f something unrelated",
    )
    assert told.missing == ("4bdbf8f",)


@requirement("digest:bench:reachable")
def test_a_file_that_the_view_names_is_one_read_away(need: Need) -> None:
    assert set(scored(need, "I changed importer.py.").unreachable) == {"4bdbf8f", "E0425"}


@requirement("digest:bench:reachable")
def test_a_listed_span_is_one_read_away_when_it_names_its_subject(need: Need) -> None:
    first, last = need.items[1].uuid[:8], need.items[-1].uuid[:8]
    assert scored(need, f"- [{first}-{last}] read importer.py; cargo build; git commit").unreachable == ()
    assert "E0425" in scored(need, f"- [{first}-{last}] something").unreachable


@requirement("digest:bench:company")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see /home/me/project/src/app.py", {"src/app.py"}),
        ("run it with --no-verify on v1.12.3", {"--no-verify"}),
        ("   595\tx = 1\n   596\ty = 2", set()),
        ("`exact words` and plain words", {"exact words"}),
        ("ValueError in load_all() at 8080", {"ValueError", "load_all", "8080"}),
    ],
)
def test_identifiers_are_told_by_their_shape(text: str, found: set[str]) -> None:
    assert identifiers(text) == found


@requirement("digest:bench:matched")
def test_a_strategy_that_is_refused_requests_beats_nobody() -> None:
    ours = Point(OURS, 1.0, 0.90, 9_000, 5.0, 0)

    assert beats(replace(ours, visible=0.91, cost_usd=4.0), ours)
    assert not beats(replace(ours, visible=0.91, cost_usd=4.0, overflows=1), ours)
    assert not beats(replace(ours, visible=0.91, cost_usd=6.0), ours)
    assert not beats(replace(ours, visible=0.89, cost_usd=4.0), ours)


@requirement("digest:bench:matched")
def test_the_cheapest_budget_within_a_point_of_ours_is_compared() -> None:
    found = [
        Point(OURS, 1.0, 0.90, 9_000, 5.0, 0),
        Point("near", 1.0, 0.85, 9_000, 4.0, 0),
        Point("near", 1.5, 0.895, 13_000, 4.5, 0),
        Point("near", 2.0, 0.95, 18_000, 9.0, 0),
        Point("far", 3.0, 0.80, 27_000, 9.0, 0),
        Point("refused", 3.0, 0.95, 27_000, 3.0, 2),
    ]

    lines = list(verdict(found))

    assert lines[1] == "cheaper and more faithful: none"
    assert lines[2].startswith("near: CHEAPER; near at 1.5× our size: 89.5%")
    assert lines[3].startswith("far: never within a point of ours")
    assert lines[4].startswith("refused: refused requests")


@requirement("digest:bench:matched")
def test_an_interval_draws_whole_sessions() -> None:
    many = [("long", 1.0)] * 30 + [("short", 0.0)] * 10

    assert interval(many) == (0.75, 0.0, 1.0), "each draw of two sessions may bring one of them twice"
    assert interval([("alone", 0.2), ("alone", 0.4)])[1:] == pytest.approx((0.3, 0.3))


@requirement("digest:bench:matched")
@pytest.mark.parametrize("most", [2, 5, 12])
def test_cuts_are_spread_over_the_whole_session(most: int) -> None:
    places = [Cut(number, number + 1) for number in range(40)]

    chosen = spread(places, most)

    assert len(set(chosen)) == most
    assert (chosen[0], chosen[-1]) == (places[0], places[-1])
    assert spread(places[:most], most) == places[:most]
