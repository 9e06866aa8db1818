"""What the user has agreed to of the things that come with a project and act with the user's rights.

A project may bring hooks, agents, permission rules, folders and servers; somebody else may have written them, and a
pull may change them. Each is a `TrustPart`, known by a digest of its kind and text. Answers are kept by project in one
file of our home, never in the repository. A changed part has another digest and is asked about again; a no is kept too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

from reverie.errors import Damaged
from reverie.files import locked, read_small, write_atomic
from reverie.files.places import project_root
from reverie.files.places.paths import canonical
from reverie.values import value

_VERSION = 1
_MAX_FILE_BYTES = 64 * 1024 * 1024


class TrustKind(StrEnum):
    """What a project may bring."""

    HOOKS = "hooks"
    AGENTS = "agents"
    ALLOW = "permissions.allow"
    DIRECTORIES = "permissions.additional_directories"
    SERVER = "server"
    SKILL = "skill"
    PLUGINS = "plugins"
    INCLUDE = "include"
    """An instruction file from outside the project that a file of the project wants."""


@value
class TrustPart:
    """One thing to agree to."""

    kind: str
    place: str
    """Where it stands, for the question; moving it changes nothing."""
    text: str
    """What the user is shown, and what they agree to."""

    @property
    def digest(self) -> str:
        return "sha256:" + sha256(f"{self.kind}\0{self.text}".encode("utf-8", "surrogatepass")).hexdigest()


@value
class TrustAnswers:
    """The user's answers for one project."""

    accepted: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    problem: str = ""
    """Why nothing is trusted although something may have been: a sentence for the user."""

    def accepts(self, part: TrustPart) -> bool:
        """Whether the user said yes to exactly this."""
        return part.digest in self.accepted

    def waiting(self, parts: Iterable[TrustPart]) -> tuple[TrustPart, ...]:
        """What nobody has answered yet, each once."""
        answered = self.accepted | self.refused
        return tuple({part.digest: part for part in parts if part.digest not in answered}.values())


def read_trust(store: Path, project: Path) -> TrustAnswers:
    """The answers for the project around this path; `store` is `Places.trust`. A damaged store trusts nothing."""
    try:
        answers = _read(store).get(_key(project), {})
    except Damaged as damage:
        return TrustAnswers(problem=f"{damage}; until then nothing that comes with a project is trusted")
    accepted = {digest: answer.get("accepted") for digest, answer in answers.items()}
    return TrustAnswers(
        frozenset(digest for digest, yes in accepted.items() if yes is True),
        frozenset(digest for digest, yes in accepted.items() if yes is False),
    )


def write_answers(store: Path, project: Path, parts: Iterable[TrustPart], *, accepted: bool, now: datetime) -> None:
    """Remember a yes or a no. Raises `Damaged` where the store cannot be read: it is never overwritten then."""
    with locked(store.with_name(f".{store.name}.lock"), label="remembering what is trusted", now=now):
        projects = dict(_read(store))
        answers = dict(projects.get(_key(project), {}))
        for part in parts:
            facts = {"kind": part.kind, "place": part.place, "accepted": accepted, "at": now.isoformat()}
            answers[part.digest] = facts
        projects[_key(project)] = answers
        _write(store, projects)


def remove_answers(store: Path, project: Path, *, now: datetime) -> bool:
    """Forget all answers for a project, so that everything is asked again; says whether there were any."""
    with locked(store.with_name(f".{store.name}.lock"), label="forgetting what is trusted", now=now):
        projects = dict(_read(store))
        answers = projects.pop(_key(project), None)
        if answers is not None:
            _write(store, projects)
        return bool(answers)


_Answers = Mapping[str, Mapping[str, object]]


def _key(project: Path) -> str:
    # All work trees of a repository share their answers: what was agreed to is told by its digest, not by its path.
    return canonical(project_root(project))


def _read(store: Path) -> Mapping[str, _Answers]:
    content = read_small(store, limit_bytes=_MAX_FILE_BYTES)
    if content is None:
        if store.exists():
            raise Damaged(f"{store} is not a regular file; move it away", path=store)
        return {}
    try:
        document = json.loads(content)
        projects = document["projects"]
        if document["version"] == _VERSION and all(_is_table(answers) for answers in projects.values()):
            by_project: Mapping[str, _Answers] = projects
            return by_project
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    raise Damaged(f"{store} is not a valid trust file; fix it or move it away", path=store)


def _is_table(answers: object) -> bool:
    return isinstance(answers, dict) and all(isinstance(answer, dict) for answer in answers.values())


def _write(store: Path, projects: Mapping[str, _Answers]) -> None:
    write_atomic(store, json.dumps({"version": _VERSION, "projects": projects}, indent=2) + "\n")
