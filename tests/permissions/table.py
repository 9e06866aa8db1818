"""Reads `commands.txt`, and builds the project and the policy that its verdicts are about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from reverie.permissions.need import Act, Need
from reverie.permissions.policy import Policy
from reverie.permissions.rule import RuleKind

_FILE = Path(__file__).with_name("commands.txt")
_ROW = re.compile(r"(yes|no) +(allow|ask|deny) +(.*)")


@dataclass(frozen=True, slots=True)
class Row:
    """One command and what is expected of it."""

    section: str
    command: str
    reads: bool
    verdict: str


def rows() -> list[Row]:
    found: list[Row] = []
    section = ""
    for line in _FILE.read_text(encoding="utf-8").split("\n"):
        if line.startswith("## "):
            section = line[3:]
        elif line and not line.startswith("#"):
            row = _ROW.fullmatch(line)
            assert row is not None, line
            command = row[3].replace("⏎", "\n").replace("→", "\t")
            command = re.sub(r"\\u\{([0-9a-f]+)\}", lambda code: chr(int(code[1], 16)), command)
            found.append(Row(section, command, row[1] == "yes", row[2]))
    return found


def make_project(folder: Path) -> Path:
    """A small project beside a folder that must not be entered."""
    project = folder / "project"
    for name in ("src/app.py", "tests/test_a.py", "secrets/key.txt", "locked/x"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(f"{name}\nfoo start\nend\n", encoding="utf-8")
    for name in ("README.md", "log.txt", "names.csv", "a.txt", "b.txt", "quoted name.txt", "-dash.txt"):
        (project / name).write_text("foo,1\nbar,2\nfoo,1\n", encoding="utf-8")
    for name in ("escaped name.txt", "a file with blanks.txt"):
        (project / name).write_text("foo\n", encoding="utf-8")
    (project / "package.json").write_text('{"scripts": {"build": "x"}}', encoding="utf-8")
    (folder / "other").mkdir()
    (folder / "other" / "passwd").write_text("outside\n", encoding="utf-8")
    (folder / "home").mkdir()
    (project / "out").symlink_to(folder / "other")
    return project


def make_policy(project: Path) -> Policy:
    """The policy in the head of `commands.txt`."""
    policy = Policy(project=project, home=project.parent / "home", roots=(project,))
    said = {
        RuleKind.ALLOW: ("Bash(npm run *)", "Bash(make test)", "Bash(pytest:*)", "Bash(git add:*)", "Bash(cp:*)"),
        RuleKind.ASK: ("Bash(git commit:*)",),
        RuleKind.DENY: ("Bash(rm:*)", "Bash(git push:*)", "Bash(curl:*)", "Read(secrets/**)", "Edit(/locked/**)"),
    }
    for kind, rules in said.items():
        for rule in rules:
            policy = policy.with_rule(rule, kind, source="settings.toml:1")
    return policy


def run(command: str, project: Path, directory: Path | None = None) -> Need:
    """A call of the shell."""
    return Need("Bash", Act.RUN, command=command, directory=directory or project)
