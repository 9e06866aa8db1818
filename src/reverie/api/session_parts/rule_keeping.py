"""A rule that the user granted for longer than a session, kept where it counts next time.

The project's local file is the user's own inside a repository that does not hold it. Elsewhere nobody can tell who
wrote it, so it counts as far as the user agreed to it, and what is added here is agreed to.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from reverie.api.session_setup import Setup
from reverie.errors import UserMistake
from reverie.files import read_small
from reverie.permissions.rules_file import RuleScope, write_rule
from reverie.places import find_checkout
from reverie.trust import Kind, Part, read_trust, write_answers


def keep_rule(rule: str, scope: RuleScope, setup: Setup) -> None:
    """Write the rule down. Raises `UserMistake` where it would stand among rules that the user never agreed to."""
    project, store = setup.project, setup.places.trust
    local = setup.places.settings_files(project).local
    is_doubtful = scope is RuleScope.LOCAL and find_checkout(project) is None and setup.is_tracked(local)
    if is_doubtful:
        known = _rules(local)
        if known is not None and not read_trust(store, project).accepts(known):
            raise UserMistake(f"{local} holds rules that you have not agreed to; `reverie trust` shows them")
    is_tracked = (lambda _: False) if is_doubtful else setup.is_tracked
    write_rule(rule, scope, places=setup.places, project=project, now=setup.now(), is_tracked=is_tracked)
    added = _rules(local) if is_doubtful else None
    if added is not None:
        write_answers(store, project, [added], accepted=True, now=setup.now())


def _rules(path: Path) -> Part | None:
    """What the file allows, as `trust.parts_of_settings` has it."""
    try:
        permissions = tomllib.loads((read_small(path) or b"").decode("utf-8")).get("permissions", {})
    except ValueError:
        return None
    allow = permissions.get("allow") if isinstance(permissions, dict) else None
    return Part(Kind.ALLOW, str(path), json.dumps(allow, ensure_ascii=False)) if allow else None
