"""Sessions of versions that nobody has seen: fields of other types, gone or renamed, new kinds, broken lines."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from reverie.errors import Damaged
from reverie.hosts.catalogue import READERS, read_host_session
from reverie.hosts.session import BAD_LINE
from reverie.messages.view import project
from tests.hosts import test_codex as rollouts
from tests.hosts.homes import write_codex, write_opencode
from tests.hosts.reading import typed
from tests.hosts.test_other_agents import antigravity, cline, copilot, cursor, gemini, goose, qwen
from tests.requirements import requirement

STRANGE: tuple[Any, ...] = (
    None,
    1,
    -5,
    "x",
    [],
    {},
    [1],
    [None],
    {"a": 1},
    True,
    1e300,
    10**30,
    "\udc80",
    "9999-99-99T99:99:99Z",
)
KINDS = ("type", "kind", "role", "source")
COLUMNS = {"opencode": ("message.data", "part.data"), "goose": ("messages.content_json", "messages.metadata_json")}
SEEDS = 25


def codex(home: Path) -> Path:
    """The newest form, with what the others have besides."""
    return write_codex(home, rollouts.ID, [*rollouts.paginated(), *rollouts.with_events()[1:], *rollouts.bare()[1:]])


def opencode(home: Path) -> Path:
    return write_opencode(home / "opencode.db", "/projects/harbour")


WRITERS = {
    write.__name__: write for write in (antigravity, cline, codex, copilot, cursor, gemini, goose, opencode, qwen)
}


def change(value: Any, chance: Random, share: float) -> Any:
    """A JSON value with some of its fields changed."""
    if chance.random() < share:
        return chance.choice(STRANGE)
    if isinstance(value, list):
        return [change(part, chance, share) for part in value]
    if not isinstance(value, dict):
        return value
    changed: dict[str, Any] = {}
    for name, part in value.items():
        fate = chance.random()
        if fate < share:
            continue
        is_new_kind = name in KINDS and chance.random() < 3 * share
        changed[f"{name}V2" if fate < 2 * share else name] = "telepathy" if is_new_kind else change(part, chance, share)
    return changed


def rewrite(path: Path, agent: str, edit: Callable[[bytes], bytes]) -> None:
    """Change each record of a session where it lies."""
    if path.is_file():
        lines = path.read_bytes().splitlines() if path.suffix == ".jsonl" else [path.read_bytes()]
        path.write_bytes(b"\n".join(map(edit, lines)))
        return
    with sqlite3.connect(path.parent) as connection:
        for column in COLUMNS[agent]:
            table, _, name = column.partition(".")
            rows = connection.execute(f"SELECT rowid, {name} FROM {table}").fetchall()
            edited = [(edit(text.encode()).decode("utf-8", "replace"), row) for row, text in rows]
            connection.executemany(f"UPDATE {table} SET {name} = ? WHERE rowid = ?", edited)
    connection.close()


@requirement("hosts:unknown")
@pytest.mark.parametrize("agent", list(WRITERS))
def test_no_change_of_a_format_stops_a_reader(tmp_path: Path, agent: str) -> None:
    for seed in range(SEEDS if agent not in COLUMNS else SEEDS // 3):
        chance = Random(f"{agent} {seed}")
        share = chance.choice((0.01, 0.04, 0.12))

        def edit(record: bytes, chance: Random = chance, share: float = share) -> bytes:
            if chance.random() < share:
                return record[: chance.randrange(len(record) + 1)]
            return json.dumps(change(json.loads(record), chance, share)).encode()

        path = WRITERS[agent](tmp_path / str(seed))
        rewrite(path, agent, edit)
        try:
            session = READERS[agent].read_session(path)
        except ValueError:
            # One document in all: broken, it is nothing, and the list of sessions says so.
            assert path.suffix == ".json"
            with pytest.raises(Damaged):
                read_host_session(path)
            continue
        typed(session)
        project(session.entries)


@requirement("hosts:unknown")
@pytest.mark.parametrize("agent", list(WRITERS))
def test_new_kinds_and_broken_lines_are_counted_and_the_rest_is_read(tmp_path: Path, agent: str) -> None:
    path = WRITERS[agent](tmp_path)
    before = READERS[agent].read_session(path)
    text = path.read_text(encoding="utf-8") if path.suffix == ".jsonl" else ""
    if text:
        path.write_text(text + text.splitlines()[-1][:-5] + "\n\x00\n", encoding="utf-8")
        rewritten = READERS[agent].read_session(path)
        assert rewritten.unknown[BAD_LINE] == 2
        assert typed(rewritten) == typed(before)

    rewrite(path, agent, _rename_kinds)
    after = READERS[agent].read_session(path)
    assert sum(after.unknown.values()) > sum(before.unknown.values()) + after.unknown.get(BAD_LINE, 0), after.unknown


def _rename_kinds(record: bytes) -> bytes:
    """A record under a kind of the future."""
    kinds = ("assistant", "response_item", "assistant.message", "gemini", "USER_INPUT", "text", "tool")
    for kind in kinds:
        record = record.replace(f': "{kind}"'.encode(), b': "clairvoyance"')
    return record
