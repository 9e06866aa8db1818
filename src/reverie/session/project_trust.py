"""Everything in a project that counts only once the user agreed to it, without starting a session.

Instruction files from outside the project wait for the user's word, once for each, by their real path. The answers are
kept as digests, so a load learns of them by what it finds waiting and is repeated until nothing new is allowed.

A rule that the user granted for longer than a session is written to the project's local file, which counts as far as
the user agreed to it: nobody can tell who wrote it, since a folder may come from an archive. What is added here is
agreed to.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from reverie.errors import UserMistake
from reverie.extensions.hooks.consent import read_parts
from reverie.extensions.instructions import Loaded, LoadReason, Outside, Where, load
from reverie.extensions.mcp.servers import list_servers
from reverie.extensions.skills import list_skills
from reverie.files import read_small
from reverie.files.trust import TrustAnswers, TrustKind, TrustPart, read_trust, write_answers
from reverie.permissions.rules_file import RuleScope, write_rule
from reverie.session.extensions import read_plugins
from reverie.session.options import SessionOptions
from reverie.session.subagents.definitions.discover import list_agents
from reverie.settings.features import features
from reverie.settings.load import part_of_setting


def list_parts(options: SessionOptions) -> tuple[TrustPart, ...]:
    """The parts of a project, each once: of settings, hooks, servers, skills and agents; answered or not."""
    parts = (*options.trust_parts, *_hooks(options), *_servers(options), *_skills(options), *_agents(options))
    included = list_included_parts(options, read_trust(options.places.trust, options.project))
    return tuple({part.digest: part for part in (*parts, *included)}.values())


def _hooks(options: SessionOptions) -> Iterator[TrustPart]:
    for declaration in options.settings.hooks:
        yield from read_parts(declaration, options.project)


def _servers(options: SessionOptions) -> Iterator[TrustPart]:
    servers = list_servers(places=options.places, project=options.project, environment=options.environment)
    for server in servers.waiting:
        yield server.part


def _agents(options: SessionOptions) -> Iterator[TrustPart]:
    read = partial(
        list_agents,
        places=options.places,
        project=options.project,
        directory=options.directory,
        plugins=read_plugins(options).plugins,
        declared=options.settings.agents,
    )
    yield from read().waiting
    for role in read(project_is_trusted=True).definitions:
        if role.hooks is not None:
            yield from read_parts(role.hooks, options.project)


def _skills(options: SessionOptions) -> Iterator[TrustPart]:
    plugins = read_plugins(options).plugins
    skills = list_skills(places=options.places, project=options.project, directory=options.directory, plugins=plugins)
    for skill in skills.skills:
        if skill.grants is not None:
            yield skill.grants
        if skill.hooks is not None:
            yield from read_parts(skill.hooks, options.project)


def to_include_part(outside: Outside) -> TrustPart:
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
    yes = {one.path for one in waiting if trust.accepts(to_include_part(one))}
    no = {one.path for one in waiting if to_include_part(one).digest in trust.refused}
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
    origins = (options.origins or {}).get("instructions.excludes", ())
    patterns = [(pattern, origin.committed) for origin in origins for pattern in _texts(origin.value)]
    own = {pattern for pattern, is_theirs in patterns if not is_theirs}
    return tuple(pattern for pattern, _ in patterns if pattern not in own)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, tuple) else ()


def list_included_parts(options: SessionOptions, trust: TrustAnswers) -> tuple[TrustPart, ...]:
    """Every file from outside that the project's instructions want, answered or not."""
    if not features(options.settings, interactive=options.is_interactive).instructions:
        return ()
    outside: dict[Path, Outside] = {}

    def reading(where: Where) -> Loaded:
        loaded = load(where, LoadReason.SESSION_START)
        outside.update((one.path, one) for one in loaded.waiting)
        return loaded

    read_loaded(where_of(options), trust, reading)
    return tuple(map(to_include_part, outside.values()))


def keep_rule(rule: str, scope: RuleScope, options: SessionOptions) -> None:
    """Write the rule down. Raises `UserMistake` where it would stand among rules that the user never agreed to."""
    project, store = options.project, options.places.trust
    local = options.places.settings_files(project).local
    rules = _rules(local) if scope is RuleScope.LOCAL else None
    if rules is not None and not read_trust(store, project).accepts(rules):
        raise UserMistake(f"{local} contains rules that you have not accepted; run `reverie trust` to review them")
    write_rule(rule, scope, places=options.places, project=project, now=options.now(), is_tracked=options.is_tracked)
    added = _rules(local) if scope is RuleScope.LOCAL else None
    if added is not None:
        write_answers(store, project, [added], accepted=True, now=options.now())


def _rules(path: Path) -> TrustPart | None:
    """What the file allows, as one thing to agree to."""
    try:
        permissions = tomllib.loads((read_small(path) or b"").decode("utf-8")).get("permissions", {})
    except ValueError:
        return None
    allow = permissions.get("allow") if isinstance(permissions, dict) else None
    return part_of_setting(TrustKind.ALLOW, allow, str(path)) if allow else None
