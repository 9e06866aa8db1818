from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reverie.files.background_tasks import list_tasks, write_stop_request
from reverie.memory.dream.dreams import Dreams, Dreamt
from reverie.memory.dream.estimate import estimate_dream
from reverie.memory.dream.lock import DreamState
from reverie.memory.dream.model_dream import spec_of
from reverie.memory.dream.proposal import StepKind, has_proposal
from reverie.memory.dream.task import DreamView
from reverie.memory.memory import Memory
from reverie.messages.blocks import Json
from reverie.messages.message import Usage
from reverie.models.ledger import Booking, append_booking, read_bookings
from reverie.models.ports import ForkSpec
from reverie.session.subagents.fork import LoopForks
from reverie.settings import BudgetSettings, DreamSettings, ExtractionSettings, ModelSettings, Settings
from tests.memory.dream.kit import append_daily, files, read, text, write
from tests.memory.stores import files_of
from tests.requirements import requirement
from tests.session.session_desk import Desk, calls, desk, results, told

RULE = "Integration tests use a real database, because mocks once hid a broken migration."
OTHER = "Name branches after the ticket they belong to."
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.time = NOW

    def __call__(self) -> datetime:
        return self.time


def opened(tmp_path: Path, clock: Clock | None = None, **more: Settings) -> Memory:
    settings = more.get("settings", Settings())
    settings = replace(settings, home=str(tmp_path / "home"), config_home=str(tmp_path / "claude"))
    (tmp_path / "memory").mkdir(exist_ok=True)
    (tmp_path / "project").mkdir(exist_ok=True)
    return Memory(tmp_path / "memory", project=tmp_path / "project", settings=settings, now=clock or Clock())


@requirement("dream:one-commit", "dream:undo", "dream:idempotent")
async def test_a_dream_applies_tells_and_is_undone(tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path, clock) as memory:
        write(memory.directory, files(a=RULE, b=RULE, c=OTHER))
        memory.store.sync()
        before = read(memory.directory)
        done = await memory.dream()
        assert (done.state, done.merged, done.retired, done.changed) == ("completed", 1, 0, 0)
        assert done.commit == memory.log()[0].commit
        assert "+++ /dev/null" in done.diff
        status = memory.dreams.status()
        assert (status.last, status.dreamer, status.proposal) == (NOW, "", None)
        assert [task.state for task in status.tasks] == ["completed"]

        clock.time += timedelta(minutes=1)
        again = await memory.dream()
        assert (again.state, again.commit, again.diff) == ("unchanged", None, "")
        assert memory.dreams.status().last == clock.time

        memory.undo(done.commit or "")
        assert read(memory.directory) == before


@requirement("dream:limits", "dream:review")
async def test_a_proposal_waits_and_is_taken_in_part_or_dropped(tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path, clock) as memory:
        fact = text("d.md", "We release tomorrow.", kind="project")
        write(memory.directory, files(a=RULE, b=RULE, c=OTHER) | {"d.md": fact})
        before = files_of(memory.directory)
        done = await memory.dream(review=True)
        assert (done.state, done.merged, done.changed, done.commit) == ("proposed", 1, 1, None)
        assert files_of(memory.directory) == before
        dreams = memory.dreams
        assert dreams.status().last is None
        proposal = dreams.proposal()
        assert proposal is not None

        merge, edit = proposal.steps
        assert dreams.settle([edit], rest=[merge]).changed == 1
        assert sorted(read(memory.directory)) == ["a.md", "b.md", "c.md", "d.md"]
        left = dreams.proposal()
        assert left is not None
        assert left.steps == (merge,)

        clock.time += timedelta(days=2)
        assert dreams.discard().state == "discarded"
        assert not has_proposal(dreams.folder)
        assert dreams.due().detail.startswith("the last dream was 0.0 hours ago")


@requirement("dream:lock:one")
async def test_while_one_dreams_another_gives_up(tmp_path: Path) -> None:
    from reverie.memory.dream.lock import dreaming

    with opened(tmp_path) as memory:
        write(memory.directory, files(a=RULE, b=RULE))
        with dreaming(memory.dreams.folder, now=NOW):
            done = await memory.dream()
        assert done.state == "busy"
        assert "dreaming" in done.detail
        assert sorted(read(memory.directory)) == ["a.md", "b.md"]


@requirement("dream:gates")
async def test_an_automatic_dream_asks_the_gates(tmp_path: Path) -> None:
    settings = Settings(dream=DreamSettings(min_sessions=0))
    with opened(tmp_path, settings=settings) as memory:
        write(memory.directory, files(a=RULE, b=RULE))
        assert (await memory.dreams.run(automatic=True)).state == "completed"
        assert (await memory.dreams.run(automatic=True)).state == "skipped"
    with opened(tmp_path, settings=Settings(dream=DreamSettings(enabled=False))) as memory:
        assert (await memory.dreams.run(automatic=True)).detail == "dream.enabled is false"
        assert (await memory.dream()).state == "unchanged"


@requirement("dream:lock:host")
async def test_the_clock_of_a_host_moves_with_a_dream_that_succeeded_and_not_with_a_proposal(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        write(memory.directory, files(a=RULE, b=RULE))
        lock = memory.directory / ".consolidate-lock"
        lock.write_text("", encoding="utf-8")
        long_ago = (NOW - timedelta(days=3)).timestamp()
        os.utime(lock, (long_ago, long_ago))
        await memory.dream(review=True)
        assert lock.stat().st_mtime == long_ago
        await memory.dream()
        assert lock.stat().st_mtime == NOW.timestamp()


@requirement("dream:lock:host", "dream:model")
async def test_where_a_host_begins_while_a_model_dreams_nothing_is_written(tmp_path: Path) -> None:
    copy = staging(tmp_path)
    new = text("n.md", "The billing service moves to another team in May.", kind="project", trust="inferred")
    script = fork(calls(("Write", {"file_path": str(copy / "n.md"), "content": new})))
    with desk(tmp_path, script) as at:
        sleeper = Sleeper(at)
        before = files_of(sleeper.memory.directory)
        lock = sleeper.memory.directory / ".consolidate-lock"

        def host_begins(_view: DreamView) -> None:
            lock.write_text(f"{os.getpid()}\n", encoding="utf-8")
            os.utime(lock, (at.time.timestamp(), at.time.timestamp()))

        done = await sleeper.dreams.run(forks=LoopForks(sleeper.session.parts.loop), watch=host_begins)
        await sleeper.session.close()

        assert (done.state, "host agent" in done.detail) == ("busy", True)
        assert lock.read_text(encoding="utf-8") == f"{os.getpid()}\n"
        assert lock.stat().st_mtime == at.time.timestamp()
        lock.unlink()
        assert files_of(sleeper.memory.directory) == before


@requirement("dream:daily")
async def test_a_nightly_dream_turns_daily_logs_into_topics_once(tmp_path: Path) -> None:
    from reverie.settings import MemorySettings

    settings = Settings(memory=MemorySettings(daily_log=True), dream=DreamSettings(min_sessions=0))
    with opened(tmp_path, settings=settings) as memory:
        said = "Always run the linter before committing, because CI rejects unformatted code."
        append_daily(memory.dreams.folder, said, now=NOW)
        assert (await memory.dreams.run(automatic=True)).state == "skipped"
        done = await memory.dream()
        assert (done.state, done.changed, done.steps[0].kind) == ("completed", 1, StepKind.add)
        (made,) = memory.topics()
        memory.forget(made.path)
        assert (await memory.dream()).state == "unchanged"


@requirement("dream:daily")
async def test_the_first_turn_of_a_new_day_makes_topics_of_the_logs_of_the_day_before(tmp_path: Path) -> None:
    from reverie.settings import MemorySettings

    with desk(tmp_path, [{"then": "fine"}]) as at:
        at.settings = replace(
            at.settings, memory=MemorySettings(daily_log=True), extraction=ExtractionSettings(enabled=False)
        )
        at.model = "offline"
        async with at.start() as session:
            said = "Always run the linter before committing, because CI rejects unformatted code."
            append_daily(session.memory.dreams.folder, said, now=at.time)
            await told(session, "good evening")
            assert list(session.memory.topics()) == []
            at.time += timedelta(days=1)
            await told(session, "good morning")
            async with asyncio.timeout(120):
                while "dream" in session.parts.background:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            [made] = session.memory.topics()
            assert "linter" in made.description


def fork(*rounds: Json, last: str = "In order now.") -> list[Json]:
    """A script for the fork: one reply per round."""
    steps: list[Json] = [
        {"when": {"last_user": "long-term memory in order"}, "times": 1, "then": rounds[0] if rounds else last},
    ]
    steps += [{"when": {"has_tool_results": True}, "times": 1, "then": reply} for reply in rounds[1:]]
    return [*steps, {"when": {"has_tool_results": True}, "then": last}]


class Sleeper:
    """A session whose memory dreams by the simulator."""

    def __init__(self, at: Desk) -> None:
        self.at = at
        self.session = at.start()
        self.memory = self.session.memory
        self.views: list[DreamView] = []
        self.memory.store.write_files(files(a=RULE, b=OTHER), author="user", reason="begin")

    @property
    def dreams(self) -> Dreams:
        return self.memory.dreams

    async def run(self) -> Dreamt:
        try:
            return await self.dreams.run(forks=LoopForks(self.session.parts.loop), watch=self.views.append)
        finally:
            await self.session.close()


def staging(root: Path) -> Path:
    slug = "".join(char if char.isalnum() else "-" for char in str(memory_directory(root)))
    return root / "home" / ".reverie" / "cache" / "dream" / slug


def memory_directory(root: Path) -> Path:
    slug = "".join(char if char.isalnum() else "-" for char in str(root / "project"))
    return root / "home" / ".reverie" / "projects" / slug / "memory"


@requirement("dream:model", "dream:one-commit")
async def test_a_model_dreams_in_its_copy_and_is_applied_as_one_commit(tmp_path: Path) -> None:
    copy = staging(tmp_path)
    new = text("n.md", "The billing service moves to another team in May.", kind="project", trust="inferred")
    edit = {"old_string": f"{OTHER}\n", "new_string": f"{OTHER} In lower case.\n"}
    script = fork(
        calls(("Read", {"file_path": str(copy / "b.md")}), ("Grep", {"pattern": "ticket", "path": str(copy)})),
        calls(
            ("Write", {"file_path": str(copy / "n.md"), "content": new}),
            ("Edit", {"file_path": str(copy / "b.md"), **edit}),
        ),
    )  # fmt: skip
    with desk(tmp_path, script) as at:
        sleeper = Sleeper(at)
        assert sleeper.memory.directory == memory_directory(tmp_path)
        done = await sleeper.run()

        assert [failed for failed, _ in results(at.bodies[-1])] == [False, False], results(at.bodies[-1])
        assert (done.state, done.changed, done.refused) == ("completed", 2, ())
        assert "In lower case." in read(sleeper.memory.directory)["b.md"]
        assert sleeper.memory.log()[0].change.author == "dream"
        assert not copy.exists()
        assert sleeper.views[0].phase == "starting"
        assert (sleeper.views[-1].phase, sleeper.views[-1].touched) == ("updating", ("n.md", "b.md"))
        (task,) = sleeper.dreams.status().tasks
        assert (task.state, task.log[-1]) == ("completed", "Improved 2 memory files")
        assert task.cost_usd > 0
        assert done.cost_usd == task.cost_usd


@requirement("dream:model:tidied", "dream:one-commit")
async def test_after_a_model_the_rules_tidy_within_the_same_commit(tmp_path: Path) -> None:
    copy = staging(tmp_path)
    fact = text("n.md", "We release tomorrow from the new branch.", kind="project", trust="inferred")
    edit = {"old_string": f"{OTHER}\n", "new_string": f"{OTHER} In lower case.\n"}
    script = fork(
        calls(("Read", {"file_path": str(copy / "b.md")})),
        calls(
            ("Write", {"file_path": str(copy / "n.md"), "content": fact}),
            ("Edit", {"file_path": str(copy / "b.md"), **edit}),
        ),
    )
    with desk(tmp_path, script) as at:
        sleeper = Sleeper(at)
        more = files(c=RULE, d=f"{OTHER} In lower case.", e="Ask before anything is deployed.")
        sleeper.memory.store.write_files(more, author="user", reason="more")
        commits = len(sleeper.memory.log())
        done = await sleeper.run()

        assert (done.state, done.merged, done.changed) == ("completed", 2, 1), done
        left = read(sleeper.memory.directory)
        assert sorted(left) == ["a.md", "d.md", "e.md", "n.md"]
        assert "tomorrow (2026-03-03)" in left["n.md"]
        assert "2026-03-03" in left["n.md"]
        assert len(sleeper.memory.log()) == commits + 1
        assert (await sleeper.memory.dream()).state == "unchanged"


@requirement("dream:estimate")
async def test_what_a_dream_is_reckoned_to_cost_is_what_the_provider_counts(tmp_path: Path) -> None:
    copy = staging(tmp_path)
    reads = calls(*(("Read", {"file_path": str(copy / name)}) for name in ("a.md", "b.md", "c.md")), text="w " * 300)
    with desk(tmp_path, fork(reads, last="w " * 300)) as at:
        sleeper = Sleeper(at)
        sleeper.memory.store.write_files(files(c="Ask before deploying."), author="user", reason="more")
        loop, entries = sleeper.session.parts.loop, len(sleeper.session.entries)
        likely = sleeper.dreams.estimate(LoopForks(loop))
        assert at.provider.requests == ()
        assert len(sleeper.session.entries) == entries
        exact = estimate_dream(
            _spec(sleeper), LoopForks(loop), read(sleeper.memory.directory).values(), rounds=2, output_tokens=380
        )
        done = await sleeper.run()
        booked = [one for one in sleeper.session.parts.governor.bookings if one.purpose == "dream"]

        assert (likely.rounds, likely.most_rounds, likely.model) == (3, 30, at.model)
        assert likely.first_tokens == pytest.approx(booked[0].usage.context_tokens, rel=0.15)
        assert exact.input_tokens == pytest.approx(sum(one.usage.context_tokens for one in booked), rel=0.15)
        assert exact.cost_usd == pytest.approx(done.cost_usd, rel=0.15)


def _spec(sleeper: Sleeper) -> ForkSpec:
    dreams = sleeper.dreams
    return spec_of(dreams.folder, dreams._bedside(), read(sleeper.memory.directory), DreamState())


@requirement("dream:budget")
async def test_a_model_that_has_spent_the_budget_is_stopped_between_rounds_and_the_rules_go_on(tmp_path: Path) -> None:
    copy = staging(tmp_path)
    looks = calls(("Glob", {"pattern": "*", "path": str(copy)}), text="word " * 2_000)
    with desk(tmp_path, fork(looks, looks, looks, looks)) as at:
        at.settings = replace(at.settings, budget=BudgetSettings(background_usd_per_hour=0.06))
        sleeper = Sleeper(at)
        sleeper.memory.store.write_files(files(c=RULE), author="user", reason="more")
        done = await sleeper.run()

        assert (done.state, done.merged) == ("completed", 1)
        assert "budget.background_usd_per_hour" in done.detail
        assert 1 <= len(at.bodies) < 4
        assert sleeper.dreams.status().state.failures == 0
        assert not copy.exists()


@requirement("ledger:governor:carried", "dream:budget")
async def test_a_dream_of_a_young_session_uses_what_earlier_sessions_left_of_their_share(tmp_path: Path) -> None:
    with desk(tmp_path, fork()) as at:
        at.settings = replace(at.settings, budget=BudgetSettings(), dream=DreamSettings(min_sessions=0))
        sleeper = Sleeper(at)
        sleeping = sleeper.session.parts.session_dream
        sleeper.session.parts.governor.note(_turn(at, "this session", 0.01))
        assert (await sleeping.dream()).cost_usd == 0.0
        append_booking(sleeper.dreams.places.ledger, _turn(at, "an earlier session", 9.0))
        at.time += timedelta(days=2)
        append_booking(sleeper.dreams.places.ledger, _turn(at, "another", 9.0))
        done = await sleeping.dream()
        await sleeper.session.close()

        assert done.cost_usd > 0.0, done


@requirement("extraction:memory-model", "dream:budget")
@pytest.mark.parametrize("hourly_usd", [100.0, 0.0])
async def test_a_session_without_a_model_dreams_with_the_one_for_memory_work_within_the_budget(
    tmp_path: Path, hourly_usd: float
) -> None:
    edit = {"old_string": f"{OTHER}\n", "new_string": f"{OTHER} In lower case.\n"}
    path = str(staging(tmp_path) / "b.md")
    with desk(tmp_path, fork(calls(("Read", {"file_path": path})), calls(("Edit", {"file_path": path, **edit})))) as at:
        budget = BudgetSettings(background_usd_per_hour=hourly_usd)
        at.settings = replace(at.settings, budget=budget, model=ModelSettings(memory=at.model))
        at.model = "offline"
        sleeper = Sleeper(at)
        done = await sleeper.session.parts.session_dream.dream()
        await sleeper.session.close()

        assert ("In lower case." in read(sleeper.memory.directory)["b.md"]) == bool(hourly_usd)
        assert (done.cost_usd > 0.0) == bool(at.bodies) == bool(hourly_usd)
        assert ("budget.background_usd_per_hour" in done.detail) != bool(hourly_usd)
        booked = read_bookings(sleeper.dreams.places.ledger, since=at.time - timedelta(days=1))
        assert {booking.purpose for booking in booked} == ({"dream"} if hourly_usd else set())


def _turn(at: Desk, session: str, cost_usd: float) -> Booking:
    return Booking(at.time, session, str(at.project), "turn", "m", Usage(), cost_usd)


MISBEHAVING: dict[str, Sequence[tuple[str, dict[str, Json]]]] = {
    "outside": [("Write", {"file_path": "{root}/project/evil.md", "content": "x"})],
    "memory itself": [("Write", {"file_path": "{memory}/evil.md", "content": "x"})],
    "dots": [("Write", {"file_path": "{copy}/../../evil.md", "content": "x"})],
    "rm": [("Bash", {"command": "rm -rf {copy}/a.md {memory}/a.md"})],
    "invalid front matter": [("Write", {"file_path": "{copy}/n.md", "content": "---\nname: [x\n---\ny\n"})],
    "secret": [("Write", {"file_path": "{copy}/n.md", "content": "{secret}"})],
    "index": [("Write", {"file_path": "{copy}/MEMORY.md", "content": "nothing"})],
    "invented word": [("Write", {"file_path": "{copy}/n.md", "content": "{invented}"})],
}


@requirement("dream:model:checked")
@pytest.mark.parametrize("name", list(MISBEHAVING))
async def test_a_fork_that_misbehaves_changes_nothing(tmp_path: Path, name: str) -> None:
    facts = {
        "root": str(tmp_path),
        "copy": str(staging(tmp_path)),
        "memory": str(memory_directory(tmp_path)),
        "secret": text("n.md", "The key is AKIA" + "IOSFODNN7" + "ABCDEFG.", trust="inferred"),
        "invented": text("n.md", "Deploys are done on Mondays."),
    }

    def filled(said: Json) -> Json:
        for key, value in facts.items():
            said = str(said).replace("{" + key + "}", value)
        return said

    made = [(tool, {key: filled(value) for key, value in given.items()}) for tool, given in MISBEHAVING[name]]
    with desk(tmp_path, fork(calls(*made))) as at:
        sleeper = Sleeper(at)
        before = files_of(sleeper.memory.directory)
        project = sorted(at.project.rglob("*"))
        done = await sleeper.run()

        assert (done.state, done.commit) == ("unchanged", None)
        assert {**files_of(sleeper.memory.directory), "MEMORY.md": b""} == {**before, "MEMORY.md": b""}
        assert sorted(at.project.rglob("*")) == project
        assert not list((tmp_path / "home" / ".reverie" / "cache").rglob("evil.md"))
        is_refused_at_once = results(at.bodies[-1])[0][0]
        assert is_refused_at_once or done.refused


@requirement("dream:model:checked", "dream:gates")
async def test_endless_rounds_without_a_change_end_as_a_failure(tmp_path: Path) -> None:
    copy = staging(tmp_path)
    with desk(tmp_path, [{"then": calls(("Glob", {"pattern": "*", "path": str(copy)}))}]) as at:
        at.settings = replace(at.settings, dream=DreamSettings(max_rounds=4, min_sessions=0))
        sleeper = Sleeper(at)
        before = files_of(sleeper.memory.directory)
        done = await sleeper.run()

        assert done.state == "failed"
        assert "max_rounds" in done.detail
        assert len([body for body in at.bodies if "long-term memory in order" in str(body)]) <= 5
        assert files_of(sleeper.memory.directory) == before
        assert not copy.exists()
        status = sleeper.dreams.status()
        assert (status.last, status.state.failures, status.tasks[0].state) == (None, 1, "failed")
        assert "failed" in sleeper.dreams.due().detail


STAGED = "The billing service moves to another team in May."


@requirement("extraction:manifest")
async def test_a_dream_is_shown_the_newest_files_though_they_name_no_day(tmp_path: Path) -> None:
    with desk(tmp_path, fork()) as at:
        sleeper = Sleeper(at)
        for number in range(260):
            path = sleeper.memory.directory / f"n{number:03}.md"
            path.write_text(
                f"---\nname: N{number}\ndescription: rule {number}\ntype: feedback\n---\n", encoding="utf-8"
            )
            os.utime(path, (1_700_000_000 - number, 1_700_000_000 - number))
        await sleeper.run()

        shown = str(at.bodies[0]["messages"])
        assert "n000.md (2023-11-14): rule 0" in shown
        assert "rule 259" not in shown


@requirement("dream:model:early")
async def test_what_a_model_had_staged_when_its_rounds_end_is_checked_and_proposed(tmp_path: Path) -> None:
    copy = staging(tmp_path)
    fine = text("n.md", STAGED, kind="project", trust="inferred")
    invented = text("m.md", "Deploys are done on Mondays.")
    writes = [{"file_path": str(copy / name), "content": said} for name, said in (("n.md", fine), ("m.md", invented))]
    looks = calls(("Glob", {"pattern": "*", "path": str(copy)}))
    with desk(tmp_path, fork(*(calls(("Write", each)) for each in writes), looks, looks, looks, looks)) as at:
        at.settings = replace(at.settings, dream=DreamSettings(max_rounds=4, min_sessions=0))
        sleeper = Sleeper(at)
        before = files_of(sleeper.memory.directory)
        done = await sleeper.run()

        assert (done.state, done.changed, done.commit) == ("proposed", 1, None), done
        assert "all its 4 rounds" in done.over[0]
        assert any("did not say" in said for said in done.refused)
        assert files_of(sleeper.memory.directory) == before
        proposal = sleeper.dreams.proposal()
        assert proposal is not None
        assert sleeper.dreams.settle(proposal.steps).state == "completed"
        assert STAGED in read(sleeper.memory.directory)["n.md"]


@requirement("dream:model:early", "dream:budget")
async def test_what_a_model_had_staged_when_its_budget_ends_is_proposed(tmp_path: Path) -> None:
    copy = staging(tmp_path)
    made = {"file_path": str(copy / "n.md"), "content": text("n.md", STAGED, kind="project", trust="inferred")}
    looks = calls(("Glob", {"pattern": "*", "path": str(copy)}), text="word " * 2_000)
    with desk(tmp_path, fork(calls(("Write", made)), looks, looks, looks, looks, looks)) as at:
        at.settings = replace(at.settings, budget=BudgetSettings(background_usd_per_hour=0.06))
        sleeper = Sleeper(at)
        done = await sleeper.run()

        assert (done.state, done.changed) == ("proposed", 1), done
        assert "budget.background_usd_per_hour" in done.over[0]


@requirement("dream:budget:told")
async def test_a_dream_without_the_model_for_want_of_money_says_so_in_its_result(tmp_path: Path) -> None:
    with desk(tmp_path, fork()) as at:
        at.settings = replace(at.settings, budget=BudgetSettings(), dream=DreamSettings(min_sessions=0))
        sleeper = Sleeper(at)
        sleeper.memory.store.write_files(files(c=RULE), author="user", reason="more")
        sleeper.session.parts.governor.note(_turn(at, "this session", 0.8))
        done = await sleeper.session.dream()
        await sleeper.session.close()

        assert (done.state, done.merged, len(at.bodies)) == ("completed", 1, 0)
        assert "without the model" in done.detail
        assert "budget.background_fraction" in done.detail


@requirement("tasks:stop", "dream:model:checked")
@pytest.mark.parametrize("by_id", [False, True])
async def test_the_session_stops_its_dream_by_name_and_nothing_of_it_stays(tmp_path: Path, by_id: bool) -> None:
    copy = staging(tmp_path)
    writes = calls(("Write", {"file_path": str(copy / "n.md"), "content": text("n.md", STAGED, trust="inferred")}))
    slow: Json = {"text": "thinking about it for long " * 400, "event_delay_ms": 100}
    with desk(tmp_path, fork(writes, slow)) as at:
        sleeper = Sleeper(at)
        session = sleeper.session
        assert not await session.kill("dream")
        before = files_of(sleeper.memory.directory)
        dream = asyncio.create_task(session.dream())
        async with asyncio.timeout(120):
            while not any("Write" in about for _, about in session.describe("tasks") or ()):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            ((name, about),) = session.describe("tasks") or ()
            assert about.startswith("dream, running, $")
            assert not await session.kill("dreams")
            assert await session.kill(name if by_id else "dream")
            done = await dream
        ((_, about),) = session.describe("tasks") or ()
        assert not await session.kill("dream")
        await session.close()

        assert (done.state, about.startswith("dream, killed")) == ("killed", True)
        assert files_of(sleeper.memory.directory) == before
        assert not copy.exists()
        assert not has_proposal(sleeper.dreams.folder)
        assert not sleeper.dreams.folder.dream_lock.exists()
        assert not list(sleeper.dreams.places.tasks.glob("*.stop"))


@requirement("tasks:stop", "dream:model:checked")
async def test_a_dream_that_is_stopped_changes_nothing(tmp_path: Path) -> None:
    copy = staging(tmp_path)
    writes = calls(("Write", {"file_path": str(copy / "n.md"), "content": text("n.md", RULE + " x", trust="inferred")}))
    slow: Json = {"text": "thinking about it for long " * 40, "event_delay_ms": 100}
    with desk(tmp_path, fork(writes, slow)) as at:
        sleeper = Sleeper(at)
        before = files_of(sleeper.memory.directory)
        dream = asyncio.create_task(sleeper.run())
        tasks = sleeper.dreams.places.tasks
        async with asyncio.timeout(120):
            while not any("Write" in line for task in list_tasks(tasks, now=NOW) for line in task.log):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        (running,) = list_tasks(tasks, now=NOW)
        write_stop_request(tasks, running.id)
        done = await dream

        assert done.state == "killed"
        assert files_of(sleeper.memory.directory) == before
        assert not copy.exists()
        assert [task.state for task in list_tasks(tasks, now=NOW)] == ["killed"]
        assert sleeper.dreams.status().last is None
        assert not sleeper.dreams.folder.dream_lock.exists()


@requirement("dream:limits", "dream:model")
async def test_what_a_model_retires_of_the_users_word_waits_for_a_person(tmp_path: Path) -> None:
    copy = staging(tmp_path)
    edit = {
        "file_path": str(copy / "a.md"),
        "old_string": "type: feedback",
        "new_string": "type: feedback\nretired: I think so",
    }
    script = fork(calls(("Read", {"file_path": str(copy / "a.md")})), calls(("Edit", {**edit})))
    with desk(tmp_path, script) as at:
        sleeper = Sleeper(at)
        done = await sleeper.run()
        assert (done.state, done.retired, done.commit) == ("proposed", 1, None)
        assert any("which the user stated" in reason for reason in done.over)
        assert sorted(read(sleeper.memory.directory)) == ["a.md", "b.md"]

        proposal = sleeper.dreams.proposal()
        assert proposal is not None
        applied = sleeper.dreams.settle(proposal.steps)
        assert (applied.state, applied.retired) == ("completed", 1)
        assert "a.md is archived: I think so" in sleeper.memory.log()[0].change.reason
        assert (sleeper.memory.directory / ".archive" / "a.md.archived").exists()


@requirement("dream:idempotent")
async def test_on_what_the_sample_sessions_teach_a_second_dream_changes_nothing(
    tmp_path: Path, shared_data: Path
) -> None:
    with opened(tmp_path) as memory:
        learned = await memory.learn([shared_data / "transcripts"])
        assert learned.saved
        first = await memory.dream()
        assert first.state in {"completed", "unchanged"}
        before = files_of(memory.directory)
        second = await memory.dream()
        assert (second.state, second.commit) == ("unchanged", None)
        assert files_of(memory.directory) == before
