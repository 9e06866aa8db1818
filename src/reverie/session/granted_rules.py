"""A rule that the user granted for longer than a session, kept where it counts next time.

The project's local file counts as far as the user agreed to it: nobody can tell who wrote it, since a folder may come
from an archive, its repository included. What is added here is agreed to.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from reverie.errors import UserMistake
from reverie.files import read_small
from reverie.files.trust import TrustKind, TrustPart, read_trust, write_answers
from reverie.permissions.rules_file import RuleScope, write_rule
from reverie.session.options import SessionOptions
from reverie.settings.trust_parts import part_of_setting


def keep_rule(rule: str, scope: RuleScope, options: SessionOptions) -> None:
    """Write the rule down. Raises `UserMistake` where it would stand among rules that the user never agreed to."""
    project, store = options.project, options.places.trust
    local = options.places.settings_files(project).local
    known = _rules(local) if scope is RuleScope.LOCAL else None
    if known is not None and not read_trust(store, project).accepts(known):
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
