from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import UserMistake
from reverie.permissions.rule import PermissionRule, RuleKind, parse_rule
from tests.requirements import requirement

_HERE = Path("/home/mira/project")


def read(text: str, kind: RuleKind = RuleKind.ALLOW) -> PermissionRule:
    return parse_rule(text, kind=kind, base=_HERE, project=_HERE, home=Path("/home/me"), source="settings.toml:7")


@requirement("permissions:rules:syntax")
@pytest.mark.parametrize(
    ("text", "tool", "about"),
    [
        ("Bash", "Bash", ""),
        ("Bash(*)", "Bash", ""),
        ("Bash(git diff:*)", "Bash", "git diff:*"),
        ("Bash(npm run *)", "Bash", "npm run *"),
        ("Bash(echo (a))", "Bash", "echo (a)"),
        ("Edit(src/**)", "Edit", "src/**"),
        ("Read(~/.zshrc)", "Read", "~/.zshrc"),
        ("Read(//etc/hosts)", "Read", "//etc/hosts"),
        ("WebFetch(domain:example.com)", "WebFetch", "domain:example.com"),
        ("mcp__server", "mcp__server", ""),
        ("mcp__server__*", "mcp__server__*", ""),
        ("mcp__my-server__read_it", "mcp__my-server__read_it", ""),
        ("Skill(review)", "Skill", "review"),
        ("Task(Explore)", "Agent", "Explore"),
        ("  Read  ", "Read", ""),
    ],
)
def test_rules_are_read_as_users_write_them(text: str, tool: str, about: str) -> None:
    rule = read(text)
    assert (rule.tool, rule.about) == (tool, about)
    assert str(rule) == f"{text.strip()} (settings.toml:7)"


@requirement("permissions:rules:syntax")
@pytest.mark.parametrize(
    "text",
    [
        *("", "()", "Bash(", "Bash)", "Bash()", "Bash( )", "Bash(:*)", "Bash(git:* push)", "git diff", "Bash(ls) x"),
        *("WebFetch(example.com)", "WebFetch(domain:)", "WebFetch(domain:a/b)", "mcp__server__tool(x)", "Edit(!src)"),
        *("*", "mcp__*", "Read*", "Edit(a\nb)", "8ash"),
    ],
)
def test_a_mistake_names_the_rule_and_its_place(text: str) -> None:
    with pytest.raises(UserMistake) as caught:
        read(text)
    assert repr(text) in str(caught.value)
    assert str(caught.value).startswith("settings.toml:7: ")


def test_a_pattern_of_names_may_refuse_what_it_may_not_allow() -> None:
    assert read("mcp__*", RuleKind.DENY).tool == "mcp__*"
    assert read("*", RuleKind.ASK).tool == "*"


@given(st.text(max_size=40))
def test_any_text_is_a_rule_or_a_mistake(text: str) -> None:
    with contextlib.suppress(UserMistake):
        assert read(text).text == text.strip()
