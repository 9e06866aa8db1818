"""Merges the sources of settings by precedence: the highest value wins, lists are joined, guards are kept.

A source is a `Layer` of `Given` values with the place where each was written. `merge` checks all of them, reports every
mistake at once, and returns the settings, the origin of each value and the values it refused.

The settings tree is built from values by path, and walked by path. A table whose names the user chooses is a tuple in
the tree: of profiles for `models`, of pairs elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias

from reverie.errors import UserMistake
from reverie.settings.schema import (
    ANY_NAME,
    Form,
    Key,
    KeyPath,
    ValueMismatch,
    find,
    format_key_path,
    is_group,
    keys,
    parse,
    read,
)
from reverie.settings.tree import Declaration, Guard, ModelProfile, Settings
from reverie.values import value


class SettingsSource(StrEnum):
    """Who may speak, lowest first."""

    DEFAULT = "default"
    USER = "user"
    PROJECT = "project"
    LOCAL = "local"
    ENVIRONMENT = "environment"
    FLAG = "flag"
    MANAGED = "managed"


RANK: Mapping[SettingsSource, int] = {source: rank for rank, source in enumerate(SettingsSource)}


@value
class Given:
    """A value as somebody wrote it."""

    path: KeyPath
    value: object
    place: str
    """`settings.toml:3`, a variable or a flag."""
    is_text: bool = False
    """It came as text and stands for a value of the key's type."""


@value
class Layer:
    """What one source says."""

    source: SettingsSource
    givens: tuple[Given, ...]
    committed: bool = False
    """It lies in the project, so somebody else may have written it."""
    is_local: bool = False
    """The project's local file that git does not hold: once agreed to, all in it counts as the user's own."""


@value
class Origin:
    """Who gave a value, and which."""

    source: SettingsSource
    place: str
    value: object
    committed: bool = False
    """It lies in the project."""
    is_agreed: bool = False
    """It counts only because the user agreed to it."""


@value
class Caution:
    """A value that was not taken, and why."""

    key: str
    place: str
    sentence: str
    waits_for_trust: bool = False
    """It would be taken if the user agreed to it."""

    def __str__(self) -> str:
        return f"{self.place}: {self.sentence}"


@value
class MergedSettings:
    """The outcome of all sources."""

    settings: Settings
    origins: Mapping[str, tuple[Origin, ...]]
    """By key, whoever gave a value that was taken, highest last; keys at their default are absent."""
    cautions: tuple[Caution, ...]


def givens_of(table: Mapping[str, object], place: Callable[[KeyPath], str]) -> tuple[list[Given], list[str]]:
    """The values of a parsed file, and a sentence for each key that does not exist."""
    givens: list[Given] = []
    problems: list[str] = []

    def walk(here: Mapping[str, object], path: KeyPath) -> None:
        for name, entry in here.items():
            inner = (*path, name)
            if find(inner) is not None or advice_on_removed(inner) is not None:
                givens.append(Given(inner, entry, place(inner)))
            elif not is_group(inner):
                problems.append(f"{place(inner)}: {unknown(format_key_path(inner))}")
            elif isinstance(entry, Mapping):
                walk(entry, inner)
            else:
                problems.append(
                    f"{place(inner)}: `{format_key_path(inner)}` is a group of settings; write it as a table"
                )

    walk(table, ())
    return givens, problems


REMOVED: Mapping[str, str] = {
    "counting": "token counts are calibrated for each model; `models.NAME.tokenizer` sets it for a custom model",
    "index.demote_chars": "the form of MEMORY.md is fixed, so that other programs can read it",
    "index.line_chars": "the form of MEMORY.md is fixed, so that other programs can read it",
    "listen": "there is no such server; use `reverie simulate --port` for the simulator",
    "memory.rules_tokens": "the rules have a fixed length; `memory.extra_guidelines` adds to them",
    "notes.title_words_max": "the title of the notes has no separate limit; `notes.section_tokens` limits its section",
    "notes.title_words_min": "the title of the notes has no separate limit; `notes.section_tokens` limits its section",
    "recall.scan_front_matter_lines": "front matter is always read completely",
    "team.server": "a team is joined with `reverie team join REMOTE`, once for each project",
    "recall.scan_max_files": "recall searches all memories; background writers see the newest 200",
}
"""Keys and tables that settings files of earlier versions may hold, with what to do instead."""


def advice_on_removed(path: KeyPath) -> str | None:
    """What to do instead of setting a key that was removed; None for every other path."""
    return next(
        (REMOVED[name] for end in range(1, len(path) + 1) if (name := format_key_path(path[:end])) in REMOVED), None
    )


def unknown(key: str) -> str:
    """A sentence for a key that does not exist, with the nearest one that does."""
    from difflib import get_close_matches

    names = [key.name for key in keys().values()]
    near = get_close_matches(key, names, n=1, cutoff=0.7)
    near = near or [name for name in names if name.rpartition(".")[2] == key.rpartition(".")[2]][:1]
    if near:
        return f"unknown setting `{key}`; did you mean `{near[0]}`?"
    if any(word in key.lower() for word in ("key", "token", "secret", "password")):
        return f"unknown setting `{key}`: API keys are not stored in settings; name a variable in `key_env`"
    return f"unknown setting `{key}`; run `reverie settings` for a list"


Accepts: TypeAlias = Callable[[str, object], bool]
"""Whether the user agreed to this value of this key."""


def _nothing(_key: str, _value: object) -> bool:
    return False


Faults: TypeAlias = Callable[[str, object], str]
"""Why this value of this key cannot be used on this machine; empty when it can."""


def _none(_key: str, _value: object) -> str:
    return ""


def merge(
    layers: Iterable[Layer], *, accepts: Accepts = _nothing, faults: Faults = _none, problems: Sequence[str] = ()
) -> MergedSettings:
    """Put the layers over one another.

    `accepts` is asked about what files of the project may set only with the user's word, such as permissions.
    A value with a fault is a mistake in a flag or the environment; in a file it is passed over with a caution.
    `problems` are mistakes found before. Raises `UserMistake` with all mistakes, one a line.
    """
    mistakes = list(problems)
    cautions: list[Caution] = []
    origins: dict[KeyPath, list[Origin]] = {}
    for layer in sorted(layers, key=lambda layer: RANK[layer.source]):
        for given in layer.givens:
            key, name = find(given.path), format_key_path(given.path)
            if key is None:
                sentence = f"`{name}` was removed and is ignored: {advice_on_removed(given.path)}"
                cautions.append(Caution(name, given.place, sentence))
                continue
            value = parse(key, str(given.value)) if given.is_text else read(key, given.value)
            if isinstance(value, ValueMismatch):
                mistakes.append(f"{given.place}: `{name}` {value.sentence}")
                continue
            if key.form is Form.DECLARATION:
                value = _make_declaration(value, given, layer)
            refusal = _refusal(key, value, layer, origins.get(given.path, []))
            is_agreed = refusal is not None and refusal.waits and accepts(name, value)
            if refusal is not None and not is_agreed:
                cautions.append(Caution(name, given.place, f"`{name}` is ignored: {refusal.reason}", refusal.waits))
                continue
            if fault := faults(name, value):
                if layer.source in (SettingsSource.FLAG, SettingsSource.ENVIRONMENT):
                    mistakes.append(f"{given.place}: `{name}`: {fault}")
                else:
                    cautions.append(Caution(name, given.place, f"`{name}` is ignored: {fault}"))
                continue
            origin = Origin(layer.source, given.place, value, layer.committed, is_agreed)
            origins.setdefault(given.path, []).append(origin)
    settings = build_settings({path: _combine_origins(path, values) for path, values in origins.items()})
    mistakes += _out_of_order(settings, origins)
    if mistakes:
        raise UserMistake("\n".join(mistakes))
    return MergedSettings(
        settings, {format_key_path(path): tuple(values) for path, values in origins.items()}, tuple(cautions)
    )


def _make_declaration(text: object, declared: Given, layer: Layer) -> Declaration:
    return Declaration(source=layer.source.value, place=declared.place, committed=layer.committed, text=str(text))


@value
class _Refusal:
    reason: str
    waits: bool = False
    """Not for good: the user's word lets it count."""


def _refusal(key: Key, value: object, layer: Layer, origins: Sequence[Origin]) -> _Refusal | None:
    if key.guard is Guard.PROCESS and layer.source not in (SettingsSource.ENVIRONMENT, SettingsSource.FLAG):
        return _Refusal(f"only a flag or the environment ({key.variable}) may set it")
    if key.guard is Guard.MANAGED and layer.source is not SettingsSource.MANAGED:
        return _Refusal("only a managed file may set it")
    if not layer.committed:
        return None
    match key.guard:
        case Guard.AFTER_TRUST:
            return _Refusal("it comes with the project and is used only if you trust it (`reverie trust`)", waits=True)
        case Guard.PERSONAL if not layer.is_local:
            return _Refusal("a file that comes with the project may not set it; write it in your own settings")
        case Guard.ONLY_LOWER if not _raises(value, origins[-1].value if origins else key.default):
            return None
        case Guard.ONLY_LOWER if not layer.is_local:
            return _Refusal("a file that comes with the project may lower this limit but not raise it")
        case Guard.PERSONAL | Guard.ONLY_LOWER:
            return _Refusal("its author is unknown; it is used only after you accept it (`reverie trust`)", waits=True)
        case _:
            return None


def _raises(value: Any, limit: Any) -> bool:
    return limit is not None and (value is None or value > limit)


def _combine_origins(path: KeyPath, origins: Sequence[Origin]) -> object:
    key = find(path)
    assert key is not None
    if key.form is Form.DECLARATION:
        return tuple(origin.value for origin in origins)
    if key.form is Form.LIST and not key.stands_alone:
        return tuple(dict.fromkeys(item for origin in origins for item in _items(origin.value)))
    return origins[-1].value


def _items(value: object) -> tuple[object, ...]:
    assert isinstance(value, tuple)
    return value


_ORDERED: tuple[tuple[str, str], ...] = (
    ("window.warning_fraction", "window.error_fraction"),
    ("snip.target_fraction", "snip.trigger_fraction"),
    ("collapse.stage_fraction", "collapse.run_fraction"),
    ("compaction.keep_min_tokens", "compaction.keep_max_tokens"),
    ("agent.summary_words_min", "agent.summary_words_max"),
)
"""Pairs of which the first must not be larger than the second."""


def _out_of_order(settings: Settings, origins: Mapping[KeyPath, Sequence[Origin]]) -> Iterator[str]:
    for low_name, high_name in _ORDERED:
        low, high = tuple(low_name.split(".")), tuple(high_name.split("."))
        smaller: Any = value_of(settings, low)
        larger: Any = value_of(settings, high)
        if smaller > larger:
            involved = [*origins.get(low, ()), *origins.get(high, ())]
            place = involved[0].place if involved else "defaults"
            yield f"{place}: `{low_name}` ({smaller:,}) must not be larger than `{high_name}` ({larger:,})"


def build_settings(values: Mapping[KeyPath, object]) -> Settings:
    """The defaults with these values in them."""
    tree: dict[str, Any] = {}
    for path, new in values.items():
        here = tree
        for name in path[:-1]:
            here = here.setdefault(name, {})
        here[path[-1]] = new
    built = _with(Settings(), tree)
    assert isinstance(built, Settings)
    return built


def _with(area: Any, changes: Mapping[str, Any]) -> object:
    """The area with the changes in it; a table of the user's names becomes a tuple."""
    values: dict[str, object] = {}
    for name, new in changes.items():
        old = getattr(area, name)
        if is_dataclass(old):
            values[name] = _with(old, new)
        elif name == "models":
            values[name] = tuple(ModelProfile(name=chosen, **profile) for chosen, profile in new.items())
        elif isinstance(new, dict):
            values[name] = tuple(new.items())
        else:
            values[name] = new
    return replace(area, **values)


def value_of(settings: Settings, path: KeyPath) -> object:
    """The value at a path, through tables that the user named."""
    here: object = settings
    for name in path:
        if isinstance(here, tuple):
            here = _get_by_name(here, name)
        else:
            here = getattr(here, name)
    return here


def present_paths(settings: Settings) -> Iterator[tuple[Key, KeyPath]]:
    """Every key with the path it has here: a star becomes each name that the user chose."""
    for key in keys().values():
        if ANY_NAME not in key.path:
            yield key, key.path
            continue
        star = key.path.index(ANY_NAME)
        table = value_of(settings, key.path[:star])
        assert isinstance(table, tuple)
        for entry in table:
            name = entry.name if isinstance(entry, ModelProfile) else entry[0]
            yield key, (*key.path[:star], name, *key.path[star + 1 :])


def _get_by_name(table: tuple[object, ...], name: str) -> object:
    for entry in table:
        if isinstance(entry, ModelProfile) and entry.name == name:
            return entry
        if isinstance(entry, tuple) and entry[0] == name:
            return entry[1]
    raise KeyError(name)
