"""The permission mode, the rules with their sources, and the folders in which tools work."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from reverie.permissions.rule import PermissionRule, RuleKind, parse_rule
from reverie.settings import Settings
from reverie.settings.layers import Origin, SettingsSource
from reverie.values import value


class Mode(StrEnum):
    """Permission modes, with the names of the hook protocol."""

    DEFAULT = "default"
    ACCEPT_EDITS = "acceptEdits"
    """Edits inside the roots do not ask."""
    PLAN = "plan"
    """Only reading, and writing the plan."""
    AUTO = "auto"
    """Like `acceptEdits`: no model judges calls here, so what is not recognised as harmless asks."""
    DONT_ASK = "dontAsk"
    """What would ask is refused."""
    BYPASS = "bypassPermissions"
    """Only deny and ask rules apply."""


@value
class Policy:
    """Everything that `decide` looks at."""

    project: Path
    """Where commands run when they name no directory; relative paths of rules start here."""
    home: Path
    """The user's home, for `~`."""
    mode: Mode = Mode.DEFAULT
    allow: tuple[PermissionRule, ...] = ()
    ask: tuple[PermissionRule, ...] = ()
    deny: tuple[PermissionRule, ...] = ()
    roots: tuple[Path, ...] = ()
    """Folders inside which files are read without asking."""
    plan_file: Path | None = None
    """The one file that plan mode may write."""
    steering: tuple[Path, ...] = ()
    """Configuration folders of this program and its host: changes there ask, except in roots inside them."""

    def rules(self, kind: RuleKind) -> tuple[PermissionRule, ...]:
        return {RuleKind.ALLOW: self.allow, RuleKind.ASK: self.ask, RuleKind.DENY: self.deny}[kind]

    def with_rule(self, text: str, kind: RuleKind = RuleKind.ALLOW, *, source: str = "session") -> Policy:
        """The same with one more rule. Raises `UserMistake` when it cannot be parsed."""
        rule = parse_rule(text, kind=kind, base=self.project, project=self.project, home=self.home, source=source)
        rules = (*self.rules(kind), rule)
        match kind:
            case RuleKind.ALLOW:
                return replace(self, allow=rules)
            case RuleKind.ASK:
                return replace(self, ask=rules)
            case RuleKind.DENY:
                return replace(self, deny=rules)

    def with_mode(self, mode: Mode | str) -> Policy:
        """The same in another mode."""
        return replace(self, mode=Mode(mode))

    def with_roots(self, *roots: Path) -> Policy:
        """The same with further folders."""
        return replace(self, roots=tuple(dict.fromkeys((*self.roots, *roots))))

    def with_plan_file(self, plan_file: Path | None) -> Policy:
        """The same with another plan file."""
        return replace(self, plan_file=plan_file)


def build_policy(
    settings: Settings,
    *,
    project: Path,
    home: Path,
    additional: Sequence[Path] = (),
    origins: Mapping[str, Sequence[Origin]] | None = None,
    plan_file: Path | None = None,
    steering: tuple[Path, ...] = (),
) -> Policy:
    """The policy that the settings describe.

    `home` is the user's own home; `additional` are roots beside the project and those of the settings, such as the
    session's scratch folder. `origins` says in which file each rule stands, for messages and for paths relative to it.
    Raises `UserMistake` for the first rule that cannot be parsed.
    """
    permissions = settings.permissions

    def rules(kind: RuleKind, texts: Iterable[str]) -> tuple[PermissionRule, ...]:
        pairs: list[tuple[str, Origin | None]] = []
        for origin in (origins or {}).get(f"permissions.{kind.value}", ()):
            assert isinstance(origin.value, tuple)
            pairs += [(str(text), origin) for text in origin.value]
        pairs = pairs or [(text, None) for text in texts]
        return tuple(_parse_rule(text, kind, origin, project=project, home=home) for text, origin in pairs)

    named = (
        home / text[2:] if text.startswith("~/") else project / text for text in permissions.additional_directories
    )
    return Policy(
        project=project,
        home=home,
        mode=Mode(permissions.mode),
        allow=rules(RuleKind.ALLOW, permissions.allow),
        ask=rules(RuleKind.ASK, permissions.ask),
        deny=rules(RuleKind.DENY, permissions.deny),
        roots=tuple(dict.fromkeys((project, *named, *additional))),
        plan_file=plan_file,
        steering=steering,
    )


def _parse_rule(text: str, kind: RuleKind, origin: Origin | None, *, project: Path, home: Path) -> PermissionRule:
    base = project
    if origin is not None and origin.source in (SettingsSource.USER, SettingsSource.MANAGED):
        file = Path(re.sub(r":\d+$", "", origin.place))
        base = file.parent if file.is_absolute() else project
    source = origin.place if origin is not None else f"permissions.{kind.value}"
    return parse_rule(text, kind=kind, base=base, project=project, home=home, source=source)
