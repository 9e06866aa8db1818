from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reverie.messages.blocks import Json
from reverie.messages.entries import Entry, envelope_of
from reverie.models.ports import Ending, Event, ForkSpec, Request, Retrying, TextDelta
from reverie.session.subagents.fork import MARKER, PLACEHOLDER, ForkRecord, ForkStart, run_fork
from reverie.settings import ExtractionSettings, NotesSettings
from reverie_simulator.simulation import Record
from tests.requirements import requirement
from tests.session.session_desk import Desk, calls, desk, is_legal, results, told

LONG = "The importer reads dates as day first. " * 400
"""Enough for the cache of the model."""


def fork_records(at: Desk) -> list[Record]:
    return [one for one in at.provider.requests if isinstance(one.body, dict) and _last(one.body, MARKER)]


def _last(body: dict[str, Any], text: str) -> bool:
    return any(text in str(block.get("text", "")) for message in body["messages"] for block in message["content"])


def usage(record: Record) -> tuple[int, int, int]:
    assert record.message is not None
    found = record.message["usage"]
    assert isinstance(found, dict)
    names = ("cache_read_input_tokens", "cache_creation_input_tokens", "input_tokens")
    read, written, fresh = (int(str(found[name])) for name in names)
    return read, written, fresh


@requirement("forks:prefix:same", "forks:prefix:cache", "forks:state:own")
async def test_a_fork_shares_everything_that_was_sent_and_reads_it_from_the_cache(tmp_path: Path) -> None:
    script: list[Json] = [{"when": {"last_user": "audit"}, "then": "three things are left"}, {"then": "yes"}]
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            await told(session, LONG)
            await told(session, "and now?")
            before = list(session.entries)
            result = await run_fork(ForkSpec("audit", "audit the branch"), session.parts.loop)

            assert (result.ending, result.text) == (Ending.COMPLETED, "three things are left")
            assert list(session.entries) == before
            (record,) = fork_records(at)
            parent, child = at.bodies[-2], at.bodies[-1]
            assert child is record.body
            for key in ("system", "tools", "model", "max_tokens"):
                assert child[key] == parent[key]
            shared = sum(usage(at.provider.requests[-2]))
            assert usage(record)[0] >= 0.95 * shared
            assert is_legal(child)
            await told(session, "go on")
            assert not _last(at.bodies[-1], MARKER)


@requirement("forks:parallel:once", "forks:parallel:placeholder")
@pytest.mark.parametrize("is_cold", [False, True])
async def test_parallel_forks_write_the_prefix_once(tmp_path: Path, is_cold: bool) -> None:
    script: list[Json] = [
        {"when": {"last_user": "part"}, "then": {"text": "done", "event_delay_ms": 5}},
        {"then": "yes"},
    ]
    with desk(tmp_path, script) as at:
        # Other work beside the conversation would write the prefix first.
        at.settings = replace(
            at.settings, notes=NotesSettings(enabled=False), extraction=ExtractionSettings(enabled=False)
        )
        async with at.start() as session:
            await told(session, LONG)
            loop = session.parts.loop
            if is_cold:
                at.provider.clock.advance(hours=2)
            starting = ForkStart()
            specs = [ForkSpec(f"part{n}", f"part {n}") for n in range(4)]
            done = await asyncio.gather(*(run_fork(spec, loop, starts_after=starting) for spec in specs))

            assert [one.ending for one in done] == [Ending.COMPLETED] * 4
            shared = sum(usage(at.provider.requests[0]))
            figures = [usage(record) for record in fork_records(at)]
            wrote = [figure for figure in figures if figure[1] > 0.5 * shared]
            read = [figure for figure in figures if figure[0] >= 0.95 * shared]
            assert len(wrote) == (1 if is_cold else 0)
            assert len(read) == (3 if is_cold else 4)


@requirement("forks:parallel:placeholder")
async def test_open_calls_get_the_same_placeholder_in_every_fork(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "directive"}, "then": "done"},
        {
            "when": {"last_user": "begin"},
            "times": 1,
            "then": calls(
                ("Agent", {"description": "one thing", "prompt": "directive one"}),
                ("Agent", {"description": "other thing", "prompt": "directive two"}),
                ("Glob", {"pattern": "*.py"}),
            ),
        },
        {"then": "both are done"},
    ]
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            await told(session, "begin")
        first, second = (body for body in at.bodies if _last(body, MARKER))
        assert first["messages"][:-1] == second["messages"][:-1]
        ends = [body["messages"][-1]["content"] for body in (first, second)]
        assert results(first) == [(False, PLACEHOLDER)] * 3
        assert all(_bare(ends[0][n]) == _bare(ends[1][n]) for n in range(3))
        assert len(ends[0]) == len(ends[1]) == 4
        assert results(at.bodies[-1])[0][1].startswith("done")


def _bare(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "cache_control"}


@requirement("forks:limits:refused")
async def test_what_a_fork_may_not_do_is_refused_when_it_is_called(tmp_path: Path) -> None:
    project = tmp_path / "project"
    script: list[Json] = [
        {
            "when": {"last_user": "tidy"},
            "times": 1,
            "then": calls(
                ("Bash", {"command": "rm -rf ."}),
                ("Write", {"file_path": str(project / "outside.md"), "content": "x"}),
                ("Write", {"file_path": str(project / "notes" / ".." / "sly.md"), "content": "x"}),
                ("Write", {"file_path": str(project / "notes" / "inside.md"), "content": "x"}),
            ),
        },
        {"then": "yes"},
    ]
    with desk(tmp_path, script) as at:
        at.file("notes/readme.md", "here")
        async with at.start() as session:
            await told(session, "hello")
            spec = ForkSpec("tidy", "tidy up", tools=("Write",), paths=(project / "notes",), max_rounds=3)
            result = await run_fork(spec, session.parts.loop)
        assert result.calls == ("Bash", "Write", "Write", "Write")
        assert [failed for failed, _ in results(at.bodies[-1])] == [True, True, True, False]
        assert sorted(path.name for path in project.rglob("*.md")) == ["inside.md", "readme.md"]
        assert at.bodies[-1]["tools"] == at.bodies[0]["tools"]
        assert at.person.asked == []


@requirement("forks:limits:refused")
async def test_endless_rounds_end(tmp_path: Path) -> None:
    script: list[Json] = [{"when": {"last_user": "tidy"}, "then": calls(("Glob", {"pattern": "*"}))}, {"then": "yes"}]
    script.insert(1, {"when": {"answers_tool": "Glob"}, "then": calls(("Glob", {"pattern": "*"}))})
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            await told(session, "hello")
            result = await run_fork(ForkSpec("tidy", "tidy", tools=("Glob",), max_rounds=3), session.parts.loop)
        assert (result.ending, result.rounds) == (Ending.MAX_ROUNDS, 3)


@requirement("forks:limits:no-recursion")
async def test_a_fork_does_not_fork(tmp_path: Path) -> None:
    again: Json = calls(("Agent", {"description": "more", "prompt": "go deeper"}))
    script: list[Json] = [
        {"when": {"last_user": "deep"}, "times": 1, "then": again},
        {
            "when": {"last_user": "begin"},
            "times": 1,
            "then": calls(("Agent", {"description": "d", "prompt": "dig deep"})),
        },
        {"when": {"answers_tool": "Agent"}, "then": "as far as it goes"},
        {"then": "yes"},
    ]
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            await told(session, "begin")
        in_fork = [record.body for record in fork_records(at)]
        assert len(in_fork) == 2
        assert isinstance(in_fork[1], dict)
        ((failed, text),) = results(in_fork[1])
        assert failed
        assert "fork yourself" in text


@requirement("forks:cancel:linked")
async def test_cancelling_who_waits_ends_the_fork(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "slow"}, "then": {"text": "word " * 200, "event_delay_ms": 50}},
        {"then": "yes"},
    ]
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            await told(session, "hello")
            task = asyncio.create_task(run_fork(ForkSpec("slow", "slow work"), session.parts.loop))
            while not fork_records(at):  # noqa: ASYNC110 - the simulator is another thread
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task


class _Slow:
    """A model whose first answer begins only when it is let."""

    name = "slow"

    def __init__(self) -> None:
        self.asked = 0
        self.may_begin = asyncio.Event()

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        self.asked += 1
        yield Retrying("busy", 0.0, 1)
        await self.may_begin.wait()
        yield TextDelta("word")


@requirement("forks:parallel:once")
@pytest.mark.parametrize("leader_fails", [False, True])
async def test_all_others_wait_for_the_first_word_of_the_first(leader_fails: bool) -> None:
    model, starting = _Slow(), ForkStart()

    async def ask() -> None:
        async for _ in starting.wrap_model(model).stream(Request("slow", ())):
            pass

    asking = [asyncio.create_task(ask()) for _ in range(4)]
    for _ in range(20):
        await asyncio.sleep(0)
    assert model.asked == 1
    if leader_fails:
        asking[0].cancel()
        await asyncio.gather(asking[0], return_exceptions=True)
    model.may_begin.set()
    await asyncio.gather(*asking[1:])
    assert model.asked == 4


@requirement("forks:record:sidechain")
async def test_what_a_fork_adds_is_recorded_as_its_own(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "look"}, "times": 1, "then": calls(("Glob", {"pattern": "*"}))},
        {"then": "yes"},
    ]
    written: list[Entry] = []
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            await told(session, "hello")
            recorded = ForkRecord("abc", written.extend)
            await run_fork(
                ForkSpec("look", "look around", tools=("Glob",), max_rounds=3), session.parts.loop, recorded=recorded
            )
            kept = list(session.entries)
    envelopes = [found for entry in written if (found := envelope_of(entry)) is not None]
    assert len(envelopes) >= 4
    assert all(one.is_sidechain and one.agent_id == "abc" and one.cwd for one in envelopes)
    assert envelopes[0].parent == envelope_of(kept[-2] if envelope_of(kept[-1]) is None else kept[-1]).uuid  # type: ignore[union-attr]
