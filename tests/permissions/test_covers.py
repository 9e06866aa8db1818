from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from reverie.permissions.covers import covers_need, covers_path, covers_step, covers_url, host_of, names_tool
from reverie.permissions.need import Act, Need
from reverie.permissions.rule import PermissionRule, RuleKind, parse_rule
from reverie.permissions.shell.parse import parse
from tests.requirements import requirement


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for folder in ("project/src", "home", "config"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


def read(text: str, place: Path, kind: RuleKind = RuleKind.ALLOW) -> PermissionRule:
    return parse_rule(text, kind=kind, base=place / "config", project=place / "project", home=place / "home")


@requirement("permissions:rules:paths")
@pytest.mark.parametrize(
    ("about", "path", "expected"),
    [
        ("src/**", "project/src/a/b.py", True),
        ("src/**", "project/other/src/b.py", False),
        ("src/", "project/src/a.py", True),
        ("./src/*.py", "project/src/a.py", True),
        ("./src/*.py", "project/src/deep/a.py", False),
        ("*.env", "project/deep/down/x.env", True),
        ("*.env", "project/x.environment", False),
        ("docs/*.md", "project/docs/a.md", True),
        ("**/test_*.py", "project/a/b/test_x.py", True),
        ("/rules/**", "config/rules/a", True),
        ("/rules/**", "project/rules/a", False),
        ("~/.zshrc", "home/.zshrc", True),
        ("~/.zshrc", "project/.zshrc", False),
        ("~/notes/**", "home/notes/a/b", True),
        ("src/**", "outside/src/a.py", False),
        ("src", "project/src/a.py", True),
    ],
)
def test_paths_match_as_in_gitignore(place: Path, about: str, path: str, *, expected: bool) -> None:
    for kind in RuleKind:
        assert covers_path(read(f"Edit({about})", place), place / path, kind) is expected


@requirement("permissions:rules:paths")
def test_two_slashes_begin_at_the_root(place: Path) -> None:
    rule = read(f"Read(/{place}/elsewhere/**)", place)
    assert covers_path(rule, place / "elsewhere/a", RuleKind.ALLOW)
    assert not covers_path(rule, place / "project/a", RuleKind.ALLOW)


@requirement("permissions:files:roots")
def test_a_permission_looks_through_links_and_a_refusal_at_both_ends(place: Path) -> None:
    (place / "project/src/out").symlink_to(place / "home")
    (place / "project/way").symlink_to(place / "project/src")
    inside = read("Edit(src/**)", place)
    assert not covers_path(inside, place / "project/src/out/x", RuleKind.ALLOW)
    assert covers_path(inside, place / "project/way/x", RuleKind.ALLOW)
    assert covers_path(inside, place / "project/src/out/x", RuleKind.DENY)
    assert covers_path(read("Edit(~/**)", place), place / "project/src/out/x", RuleKind.DENY)
    assert covers_path(inside, place / "project/other/../src/x", RuleKind.DENY)


@requirement("permissions:files:protected")
def test_a_refusal_knows_other_spellings_of_a_name(place: Path) -> None:
    rule = read("Read(Geheim-ä/**)", place, RuleKind.DENY)
    for name in ("Geheim-ä", "geheim-ä", "GEHEIM-Ä", unicodedata.normalize("NFD", "Geheim-ä"), "Geheim\u200b-ä"):
        assert covers_path(rule, place / "project" / name / "x", RuleKind.DENY), name
    assert not covers_path(rule, place / "project" / "geheim-ä" / "x", RuleKind.ALLOW)


@requirement("permissions:rules:syntax")
@pytest.mark.parametrize(
    ("about", "command", "expected"),
    [
        ("git diff:*", "git diff", True),
        ("git diff:*", "git diff --stat", True),
        ("git diff:*", "git  diff   --stat", True),
        ("git diff:*", "git difftool", False),
        ("git diff *", "git diff --stat", True),
        ("git diff *", "git diff", True),
        ("git diff *", "git diffx", False),
        ("npm run test*", "npm run test:unit", True),
        ("npm run test*", "npm run build", False),
        ("git * main", "git checkout main", True),
        ("git * main", "git checkout dev", False),
        ("* --version", "node --version", True),
        ("npm test", "npm test", True),
        ("npm test", "npm test x", False),
        ("ls \\*.py", "ls *.py", True),
        ("ls \\*.py", "ls x.py", False),
        ('git commit -m "fix it"', 'git commit -m "fix it"', True),
        ("A=1 uv run *", "A=1 uv run x", True),
        ("A=1 uv run *", "A=1 LD_PRELOAD=x uv run x", False),
        ("* --version", "LD_PRELOAD=x node --version", False),
        ("node:*", "LD_PRELOAD=x node --version", False),
        ("node:*", "NO_COLOR=1 node --version", True),
        ("$X:*", "$X y", False),
    ],
)
def test_commands_match_by_words_not_by_letters(place: Path, about: str, command: str, *, expected: bool) -> None:
    (step,) = parse(command).steps
    assert covers_step(read(f"Bash({about})", place), step, RuleKind.ALLOW) is expected


@requirement("permissions:rules:syntax")
@pytest.mark.parametrize(
    ("rule", "tool", "expected"),
    [
        ("Edit", "Write", True),
        ("Edit", "MultiEdit", True),
        ("Edit", "NotebookEdit", True),
        ("Edit", "Read", False),
        ("Write", "Edit", False),
        ("Read", "Glob", True),
        ("Read", "Grep", True),
        ("Read", "Edit", False),
        ("mcp__server", "mcp__server__tool", True),
        ("mcp__server", "mcp__server2__tool", False),
        ("mcp__server__*", "mcp__server__tool", True),
        ("mcp__server__get_*", "mcp__server__get_it", True),
        ("mcp__server__get_*", "mcp__server__put_it", False),
        ("mcp__server__tool", "mcp__server__tool2", False),
        ("Task", "Agent", True),
        ("Agent", "Task", True),
        ("Bash", "BashOutput", False),
    ],
)
def test_rules_name_tools_and_families(place: Path, rule: str, tool: str, *, expected: bool) -> None:
    assert names_tool(read(rule, place), tool, RuleKind.ALLOW) is expected


def test_refusing_to_write_refuses_every_way_to_write(place: Path) -> None:
    assert names_tool(read("Write", place, RuleKind.DENY), "Edit", RuleKind.DENY)


@requirement("permissions:rules:syntax")
@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://example.com/a", "example.com"),
        ("http://EXAMPLE.com.:8080/", "example.com"),
        ("https://example.com@evil.org/", "evil.org"),
        ("https://evil.org\\@example.com/", ""),
        ("https://example.com%2eevil.org/", ""),
        ("file:///etc/passwd", ""),
        ("https://exa\tmple.com", ""),
        ("https://[::1", ""),
        ("nonsense", ""),
    ],
)
def test_the_host_is_the_one_that_is_asked(url: str, host: str) -> None:
    assert host_of(url) == host


def test_a_domain_is_exact_when_allowed_and_wide_when_refused(place: Path) -> None:
    rule = read("WebFetch(domain:example.com)", place)
    assert covers_url(rule, "https://example.com/x", RuleKind.ALLOW)
    assert not covers_url(rule, "https://sub.example.com/x", RuleKind.ALLOW)
    assert not covers_url(rule, "https://notexample.com", RuleKind.DENY)
    assert covers_url(rule, "https://sub.example.com/x", RuleKind.DENY)
    below = read("WebFetch(domain:*.example.com)", place)
    assert covers_url(below, "https://sub.example.com", RuleKind.ALLOW)
    assert not covers_url(below, "https://example.com", RuleKind.ALLOW)


def test_subjects_are_named_whole_or_by_their_beginning(place: Path) -> None:
    need = Need("Skill", Act.NONE, subject="review")
    assert covers_need(read("Skill(review)", place), need, RuleKind.ALLOW)
    assert covers_need(read("Skill(rev*)", place), need, RuleKind.ALLOW)
    assert not covers_need(read("Skill(revi)", place), need, RuleKind.ALLOW)
    assert covers_need(read("Task(Explore)", place), Need("Agent", Act.OTHER, subject="Explore"), RuleKind.DENY)
