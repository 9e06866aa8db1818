from __future__ import annotations

from reverie.session.subagents.definitions.listing import agent_line, listing_delta
from tests.requirements import requirement
from tests.session.subagents.definitions.roles import role

ALL = role("name: all\ndescription: Does it all")
SOME = role("name: some\ndescription: Does some\ntools: Read, Bash(read-only)")
MOST = role("name: most\ndescription: Does most\ndisallowedTools: Edit")


@requirement("agents:listing:attachment")
def test_a_line_names_the_role_and_its_tools() -> None:
    assert agent_line(ALL) == "- all: Does it all (Tools: *)"
    assert agent_line(SOME) == "- some: Does some (Tools: Read, Bash(read-only))"
    assert agent_line(MOST) == "- most: Does most (Tools: all but Edit)"


@requirement("agents:listing:attachment")
def test_only_what_changed_is_told() -> None:
    first, told = listing_delta([ALL, SOME], {})
    assert agent_line(ALL) in first
    assert listing_delta([ALL, SOME], told) == ("", told)
    second, told = listing_delta([ALL, MOST], told)
    assert agent_line(MOST) in second
    assert agent_line(ALL) not in second
    assert "gone: some" in second
    assert set(told) == {"all", "most"}


@requirement("agents:listing:attachment")
def test_a_long_description_is_cut() -> None:
    assert len(agent_line(role(f"name: a\ndescription: {'word ' * 1000}"))) < 1_600
