"""Instruction files from outside the project: what a project's files want waits for the user's word, once for each.

What is agreed to is a file by its real path. The answers are kept as digests, so a load learns of them by what it finds
waiting: it is repeated with the answers until nothing new is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from reverie.extensions.instructions import Loaded, LoadReason, Outside, Where, load
from reverie.files.trust import TrustAnswers, TrustKind, TrustPart
from reverie.session.options import SessionOptions
from reverie.settings.features import features


def included_part(outside: Outside) -> TrustPart:
    """A file from outside as one thing to agree to."""
    return TrustPart(TrustKind.INCLUDE, str(outside.wanted_by), str(outside.path))


def read_loaded(where: Where, trust: TrustAnswers, reading: Callable[[Where], Loaded]) -> Loaded:
    """What `reading` finds once it knows the user's answers; an allowed file may want further ones."""
    while True:
        loaded = reading(where)
        answered = with_answers(where, loaded.waiting, trust)
        if answered == where:
            return loaded
        where = answered


def with_answers(where: Where, waiting: Iterable[Outside], trust: TrustAnswers) -> Where:
    """The same place, with what the user has said to these files."""
    yes = {one.path for one in waiting if trust.accepts(included_part(one))}
    no = {one.path for one in waiting if included_part(one).digest in trust.refused}
    return replace(where, allowed=where.allowed | yes, declined=where.declined | no)


def where_of(options: SessionOptions, additional: tuple[Path, ...] = ()) -> Where:
    """Where the instruction files of a session are looked for."""
    return Where(
        places=options.places,
        directory=options.directory,
        home=options.user_home,
        settings=options.settings.instructions,
        additional=additional,
        project_excludes=_project_excludes(options),
    )


def _project_excludes(options: SessionOptions) -> tuple[str, ...]:
    """The patterns that only files of the project give."""
    said = (options.origins or {}).get("instructions.excludes", ())
    given = [(pattern, origin.committed) for origin in said for pattern in _texts(origin.value)]
    own = {pattern for pattern, is_theirs in given if not is_theirs}
    return tuple(pattern for pattern, _ in given if pattern not in own)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, tuple) else ()


def list_included_parts(options: SessionOptions, trust: TrustAnswers) -> tuple[TrustPart, ...]:
    """Every file from outside that the project's instructions want, answered or not."""
    if not features(options.settings, interactive=options.is_interactive).instructions:
        return ()
    found: dict[Path, Outside] = {}

    def reading(where: Where) -> Loaded:
        loaded = load(where, LoadReason.SESSION_START)
        found.update((one.path, one) for one in loaded.waiting)
        return loaded

    read_loaded(where_of(options), trust, reading)
    return tuple(map(included_part, found.values()))
