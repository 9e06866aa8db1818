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


def list_parts(setup: SessionOptions) -> tuple[TrustPart, ...]:
    """The parts of a project, each once: of settings, hooks, servers, skills and agents; answered or not."""
    found = (*setup.trust_parts, *_hooks(setup), *_servers(setup), *_skills(setup), *_agents(setup))
    included = list_included_parts(setup, read_trust(setup.places.trust, setup.project))
    return tuple({part.digest: part for part in (*found, *included)}.values())


def _hooks(setup: SessionOptions) -> Iterator[TrustPart]:
    for declaration in setup.settings.hooks:
        yield from read_parts(declaration, setup.project)


def _servers(setup: SessionOptions) -> Iterator[TrustPart]:
    found = list_servers(places=setup.places, project=setup.project, environment=setup.environment)
    for server in found.waiting:
        yield server.part


def _agents(setup: SessionOptions) -> Iterator[TrustPart]:
    read = partial(
        list_agents,
        places=setup.places,
        project=setup.project,
        directory=setup.directory,
        plugins=read_plugins(setup).plugins,
        declared=setup.settings.agents,
    )
    yield from read().waiting
    for role in read(project_is_trusted=True).definitions:
        if role.hooks is not None:
            yield from read_parts(role.hooks, setup.project)


def _skills(setup: SessionOptions) -> Iterator[TrustPart]:
    plugins = read_plugins(setup).plugins
    found = list_skills(places=setup.places, project=setup.project, directory=setup.directory, plugins=plugins)
    for skill in found.skills:
        if skill.grants is not None:
            yield skill.grants
        if skill.hooks is not None:
            yield from read_parts(skill.hooks, setup.project)
