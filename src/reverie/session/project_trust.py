"""Everything in a project that counts only once the user agreed to it, without starting a session."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from reverie.extensions.hooks.consent import read_parts
from reverie.extensions.mcp.servers import list_servers
from reverie.extensions.skills import list_skills
from reverie.files.trust import TrustPart, read_trust
from reverie.session.extensions import read_plugins
from reverie.session.external_includes import list_included_parts
from reverie.session.options import SessionOptions
from reverie.session.subagents.definitions.discover import list_agents


def list_parts(options: SessionOptions) -> tuple[TrustPart, ...]:
    """The parts of a project, each once: of settings, hooks, servers, skills and agents; answered or not."""
    found = (*options.trust_parts, *_hooks(options), *_servers(options), *_skills(options), *_agents(options))
    included = list_included_parts(options, read_trust(options.places.trust, options.project))
    return tuple({part.digest: part for part in (*found, *included)}.values())


def _hooks(options: SessionOptions) -> Iterator[TrustPart]:
    for declaration in options.settings.hooks:
        yield from read_parts(declaration, options.project)


def _servers(options: SessionOptions) -> Iterator[TrustPart]:
    found = list_servers(places=options.places, project=options.project, environment=options.environment)
    for server in found.waiting:
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
    found = list_skills(places=options.places, project=options.project, directory=options.directory, plugins=plugins)
    for skill in found.skills:
        if skill.grants is not None:
            yield skill.grants
        if skill.hooks is not None:
            yield from read_parts(skill.hooks, options.project)
