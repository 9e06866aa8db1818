"""Loads `Settings` from environment, files and flags, each value with its origin. Nothing else reads settings.

`load` takes everything as arguments; `from_process` fills them in from this process. Keys of model providers never
enter the settings: they stay behind `Secrets` and are asked for by the name of their variable.

Also here: the settings that a project's own files bring, as parts for the user to agree to (`files.trust`), and the
settings, clock and id generator of this process for callers that give none.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.errors import Unavailable, UserMistake
from reverie.files.places import Places, find_checkout, validate_memory_directory
from reverie.settings import Settings
from reverie.settings.documents import (
    SettingsDocument,
    UnreadableDocument,
    decode_document,
    givens_of_vendor,
    parse_json,
    parse_toml,
)
from reverie.settings.environment import agent_homes, agent_memories, givens_from, near_misses, speaks
from reverie.settings.layers import (
    Accepts,
    Caution,
    Faults,
    Given,
    Layer,
    MergedSettings,
    Origin,
    SettingsSource,
    advice_on_removed,
    givens_of,
    merge,
    unknown,
)
from reverie.settings.schema import find
from reverie.settings.tree import Declaration
from reverie.values import value

if TYPE_CHECKING:
    from reverie.files.trust import TrustAnswers, TrustPart

MAX_FILE_BYTES = 2 * 1024 * 1024
"""A larger settings file is refused, as the vendor does."""


@value
class SettingsFlags:
    """What the command line says about settings."""

    project: Path | None = None
    """`--project`: a directory of the project; the current one when left out."""
    settings: tuple[str, ...] = ()
    """`--settings`: a TOML or JSON file, or JSON itself; later ones count for more."""
    assignments: tuple[str, ...] = ()
    """`--set`: `KEY=VALUE`; over `--settings`."""
    bare: bool = False
    """`--bare`: simple mode."""


class Secrets:
    """Keys and tokens by the name of their variable; never shown, never stored."""

    __slots__ = ("_environ",)

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def get(self, variable: str) -> str | None:
        """The secret that a variable holds; None when it is unset or empty."""
        return self._environ.get(variable) or None

    def __repr__(self) -> str:
        return "Secrets(***)"


@value
class Configuration:
    """The settings of this process and where they came from."""

    settings: Settings
    origins: Mapping[str, tuple[Origin, ...]]
    """By key, whoever set it, highest last; a key at its default is absent."""
    cautions: tuple[Caution, ...]
    """Values that were not taken; to be shown once."""
    home: Path
    """`settings.home`, absolute."""
    config_home: Path
    """`settings.config_home`, absolute."""
    project: Path
    """The root of the project: of its repository, or the directory itself."""
    secrets: Secrets
    agents: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    """The homes of other agents."""


def from_process(
    flags: SettingsFlags = SettingsFlags(),  # noqa: B008 - a frozen value
    *,
    trusted: bool | None = None,
) -> Configuration:
    """The configuration of this process; `trusted` as in `load`."""
    try:
        user_home, directory = Path.home(), Path.cwd()
    except (RuntimeError, OSError) as error:
        raise UserMistake(
            f"no home or current directory: {error}; set HOME, or change to an existing directory"
        ) from error
    return load(
        flags,
        environ=os.environ,
        user_home=user_home,
        directory=directory,
        is_tracked=git_tracks,
        trusted=trusted,
    )


def load(
    flags: SettingsFlags,
    *,
    environ: Mapping[str, str],
    user_home: Path,
    directory: Path,
    managed: Path | None = None,
    is_tracked: Callable[[Path], bool] = lambda _: False,
    trusted: bool | None = None,
) -> Configuration:
    """Read every source and merge them by precedence.

    `directory` is where the process stands, `managed` an administrator's directory other than the system's own.
    `is_tracked` says whether git holds a file: such a local file is nobody's own and may set nothing personal.
    What lies in the project counts as far as the user agreed to it; `trusted` says it of all or of nothing instead.
    Raises `UserMistake` with all mistakes of all sources.
    """
    problems: list[str] = []
    from_environment = givens_from(environ) if speaks(environ) else []
    flagged = _flag_givens(flags, user_home, directory, problems)
    places = Places.at(
        _absolute(_last_word([*from_environment, *flagged], "home"), user_home, directory),
        _absolute(_last_word([*from_environment, *flagged], "config_home"), user_home, directory),
    )
    if managed is not None:
        places = replace(places, managed=managed, host_managed=managed)
    named = _absolute(str(flags.project or ""), user_home, directory)
    if not named.is_dir():
        problems.append(f"--project: {named} is not a directory")
    checkout = find_checkout(named)
    project = checkout.top if checkout else Path(os.path.realpath(named))
    layers = [Layer(SettingsSource.ENVIRONMENT, tuple(from_environment)), Layer(SettingsSource.FLAG, tuple(flagged))]
    for source, path in _files(places, project):
        document = _read_document(path)
        if document is not None:
            givens = tuple(_givens(document, problems, vendor=path.suffix == ".json"))
            is_local = source is SettingsSource.LOCAL and bool(givens) and not is_tracked(path)
            layers.append(Layer(source, givens, source in (SettingsSource.PROJECT, SettingsSource.LOCAL), is_local))
    merged = MergedSettings(Settings(), {}, ())
    if problems or any(layer.givens for layer in layers):
        accepts = _read_answers_lazily(places, project) if trusted is None else lambda _key, _value: bool(trusted)
        merged = merge(layers, accepts=accepts, faults=_directory_fault(user_home), problems=problems)
    misspelt = near_misses(environ, used=_secret_variables(merged.settings)) if speaks(environ) else ()
    return Configuration(
        settings=merged.settings,
        origins=merged.origins,
        cautions=(*merged.cautions, *(Caution(name, "environment", sentence) for name, sentence in misspelt)),
        home=places.home,
        config_home=places.config_home,
        project=project,
        secrets=Secrets(environ),
        agents=agent_homes(environ, user_home),
    )


def agent_memory_places(project: Path) -> dict[str, Path]:
    """Where other agents keep the memory files of a project, by the variables of this process."""
    from reverie.files.places.paths import slug

    return agent_memories(os.environ, Path.home(), project, slug(project))


_MEMORY_DIRECTORIES = frozenset({"memory.directory", "memory.path_override", "remote.memory_dir"})


def _directory_fault(user_home: Path) -> Faults:
    """Why a directory that somebody named for memories cannot hold them."""

    def fault(key: str, named: object) -> str:
        if key not in _MEMORY_DIRECTORIES or not named:
            return ""
        try:
            validate_memory_directory(str(named), user_home=user_home)
        except UserMistake as mistake:
            return str(mistake)
        return ""

    return fault


def _read_answers_lazily(places: Places, project: Path) -> Accepts:
    """The user's answers, read when the first question comes up. Hooks are asked about separately."""

    @cache
    def answers() -> TrustAnswers:
        from reverie.files.trust import read_trust

        return read_trust(places.trust, project)

    def accepts(key: str, setting: object) -> bool:
        return key != "hooks" and answers().accepts(part_of_setting(key, setting))

    return accepts


def git_tracks(path: Path) -> bool:
    """Whether a repository holds the file, which then came with it; taken for so where git cannot tell."""
    from reverie.files.git import run_git

    if find_checkout(path.parent) is None:
        return False
    # Another spelling of the name is the same file on some systems.
    arguments = ("--icase-pathspecs", "ls-files", "--error-unmatch", "--", path.name)
    try:
        return run_git(path.parent, *arguments).returncode != 1
    except Unavailable:
        return True


def _flag_givens(flags: SettingsFlags, user_home: Path, directory: Path, problems: list[str]) -> list[Given]:
    givens: list[Given] = []
    for text in flags.settings:
        if text.lstrip().startswith("{"):
            givens += _givens(parse_json(text, "--settings"), problems)
            continue
        path = _absolute(text, user_home, directory)
        givens += _givens(_read_document(path) or UnreadableDocument(f"--settings: {path} does not exist"), problems)
    for assignment in flags.assignments:
        from reverie.settings.locate import split_key

        key, equals, value = assignment.partition("=")
        parts = split_key(key.strip()) or ()
        if not equals:
            problems.append(f"--set {assignment}: expected KEY=VALUE")
        elif find(parts) is None and advice_on_removed(parts) is None:
            problems.append(f"--set: {unknown(key.strip())}")
        else:
            givens.append(Given(parts, value, "--set", is_text=True))
    if flags.bare:
        givens.append(Given(("simple_mode",), True, "--bare"))
    return givens


def _files(places: Places, project: Path) -> Iterator[tuple[SettingsSource, Path]]:
    """Where settings may lie; in each source the host agent's file comes first, so that ours counts for more."""
    ours, theirs = places.settings_files(project), places.host_settings_files(project)
    yield SettingsSource.USER, theirs.user
    yield SettingsSource.USER, ours.user
    # In the home directory itself the files of the user and of the project are the same.
    for files in (theirs, ours):
        if not _same(files.project, files.user):
            yield SettingsSource.PROJECT, files.project
            yield SettingsSource.LOCAL, files.local
    for path in (theirs.managed, *sorted(places.host_managed_parts.glob("[!.]*.json")), ours.managed):
        yield SettingsSource.MANAGED, path
    for path in sorted(ours.managed.with_name("settings.d").glob("[!.]*.toml")):
        yield SettingsSource.MANAGED, path


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _givens(
    document: SettingsDocument | UnreadableDocument, problems: list[str], *, vendor: bool = False
) -> list[Given]:
    """What a document says, in the vendor's keys or in ours."""
    if isinstance(document, UnreadableDocument):
        problems.append(document.sentence)
        return []
    if vendor:
        return givens_of_vendor(document.table, document.place)
    givens, unknown_keys = givens_of(document.table, document.place)
    problems += unknown_keys
    return givens


def _read_document(path: Path) -> SettingsDocument | UnreadableDocument | None:
    """The settings of a file by its ending; None where there is no file."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
            return UnreadableDocument(f"{path}: not a regular file of at most {MAX_FILE_BYTES:,} bytes")
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return UnreadableDocument(f"{path}: cannot be read: {error.strerror}")
    text = decode_document(data, str(path))
    if isinstance(text, UnreadableDocument):
        return text
    return parse_json(text, str(path)) if path.suffix == ".json" else parse_toml(text, str(path))


def _secret_variables(settings: Settings) -> list[str]:
    keys = (profile.key_env for profile in settings.models)
    return [
        *filter(None, keys),
        settings.model.anthropic_key_env,
        settings.model.openai_key_env,
        settings.team.token_env,
        settings.server.database_env,
    ]


def _last_word(givens: list[Given], key: str) -> str:
    """A directory that must be known before any file is read, so only the process can name it."""
    default: str = getattr(Settings(), key)
    return next((str(given.value) for given in reversed(givens) if given.path == (key,)), default)


def _absolute(text: str, user_home: Path, directory: Path) -> Path:
    if text == "~" or text.startswith("~/"):
        return user_home / text[2:]
    return directory / text


def parts_of_settings(origins: Mapping[str, Sequence[Origin]]) -> tuple[TrustPart, ...]:
    """What the project's own files set of the settings that wait for trust, as they are when everything is accepted.

    Hooks are left out: they bring scripts along and make their own parts (`extensions.hooks.consent`).
    """
    from reverie.files.trust import TrustKind

    return tuple(
        part_of_setting(name, origin.value, origin.place)
        for name, said in origins.items()
        for origin in said
        if origin.is_agreed and name != TrustKind.HOOKS
    )


def part_of_setting(key: str, value: object, place: str = "") -> TrustPart:
    """One value of a setting as one thing to agree to."""
    from reverie.files.trust import TrustPart

    text = value.text if isinstance(value, Declaration) else json.dumps(value, ensure_ascii=False)
    return TrustPart(key, place, text)


class SystemClock:
    """The time of this machine, in its zone."""

    def now(self) -> datetime:
        return system_now()


def system_now() -> datetime:
    """The time of this machine, in its zone."""
    return datetime.now().astimezone()


def new_id() -> str:
    """A fresh random id."""
    import uuid

    return str(uuid.uuid4())


def fresh_marker() -> str:
    """A fresh mark for a repository; importing `uuid` would take longer than opening a memory."""
    return os.urandom(16).hex()


def places(configuration: Configuration) -> Places:
    """Where everything lies."""
    return replace(
        _places(configuration.home, configuration.config_home, configuration.settings), agents=configuration.agents
    )


def process_settings(project: Path) -> tuple[Places, Settings]:
    """The settings that hold in a project for this process, and the places that follow."""
    configuration = from_process(SettingsFlags(project=project))
    return places(configuration), configuration.settings


def process_environment() -> dict[str, str]:
    """The environment of this process, for programs that act as the user would."""
    return dict(os.environ)


def hook_home() -> Path:
    """Our home by the environment alone, for a log that must be written when settings cannot be read."""
    return Path(os.environ.get("REVERIE_HOME") or "~/.reverie").expanduser().absolute()


def is_automated() -> bool:
    """Whether this process runs in continuous integration, where nobody answers a question."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def places_of(settings: Settings) -> Places:
    """The places that follow from settings which a caller made."""
    return _places(
        Path(settings.home).expanduser().absolute(), Path(settings.config_home).expanduser().absolute(), settings
    )


def _places(home: Path, config_home: Path, settings: Settings) -> Places:
    return Places.at(home, config_home, project_dir_name=settings.project_dir_name)
