from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from reverie.context.client_messages import Followed
from reverie.context.pipeline import compact_now, run_embedded_flow
from reverie.context.replacement import Case
from reverie.context.stage import StageContext
from reverie.files.places import slug
from reverie.messages.entries import AssistantEntry, UserEntry
from reverie.messages.transcript import Transcript, read_entries
from reverie.messages.view import project
from reverie.models.profiles import profile
from reverie.models.tokens.estimate import weigh_message
from reverie.models.tokens.rates import rates_for
from reverie.models.tokens.window import budget
from reverie.settings import Settings
from reverie.settings.load import SystemClock
from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement

SAMPLE = Path(str(files("reverie.apps.demo") / "sample-session.jsonl"))


@pytest.fixture
def compacted(terminal: Terminal) -> Path:
    """A session of ours that was compacted."""
    rates = rates_for(profile("claude-sonnet-5"))
    clock = SystemClock()
    log = Followed(session="5f0c954e", now=clock.now)
    for entry in read_entries(SAMPLE):
        if isinstance(entry, UserEntry | AssistantEntry):
            here = replace(entry.envelope, cwd=str(terminal.project.resolve()))
            log.adopt(replace(entry, envelope=here))
    used = budget(8_000).using(7_900)
    scene = StageContext(used, clock.now(), log.envelope, lambda item: round(weigh_message(item.message, rates)))
    small = replace(Settings().compaction, keep_min_tokens=300, keep_min_text_messages=1, restore_files=0)
    case = Case(log.view, log.entries, scene, small, trigger="manual")
    log.append(*run_embedded_flow(compact_now(case, Settings())).entries)
    path = terminal.home / ".reverie" / "projects" / slug(terminal.project) / "5f0c954e.jsonl"
    with Transcript.open(path, now=clock.now()) as transcript:
        transcript.append(*log.entries)
    return path


@requirement("cli:uncompact:branch")
def test_a_compaction_is_taken_back_and_nothing_rewritten(terminal: Terminal, compacted: Path) -> None:
    before = compacted.read_bytes()
    original = project(read_entries(SAMPLE)).messages
    assert project(read_entries(compacted)).messages != original

    document = terminal.run("uncompact", "5f0c954e", "--json").document

    assert {"boundary", "tokens"} <= document.keys()
    assert compacted.read_bytes().startswith(before)
    assert project(read_entries(compacted)).messages == original


@requirement("cli:uncompact:branch")
def test_another_agents_session_is_only_touched_as_a_copy(terminal: Terminal, compacted: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.jsonl"
    theirs.write_bytes(compacted.read_bytes())

    refused = terminal.run("uncompact", str(theirs))
    copied = terminal.run("uncompact", str(theirs), "--fork", "--json").document

    assert refused.code == 2
    assert "--fork" in refused.err
    assert theirs.read_bytes() == compacted.read_bytes()
    assert project(read_entries(Path(copied["session"]))).messages == project(read_entries(SAMPLE)).messages


@requirement("cli:uncompact:branch")
def test_without_a_compaction_there_is_nothing_to_take_back(terminal: Terminal) -> None:
    ran = terminal.run("uncompact", str(SAMPLE))

    assert ran.code == 2
    assert "no compaction" in ran.err


@requirement("cli:span:reads")
def test_what_was_left_out_can_be_read_again(terminal: Terminal, compacted: Path) -> None:
    first = project(read_entries(SAMPLE)).items[0].uuid

    by_id = terminal.run("span", "5f0c954e", first[:8], "--json").document
    about = terminal.run("span", "5f0c954e", "--about", "store.py")

    assert "Tidewater" in by_id["text"]
    assert by_id["messages"] == 1
    assert "store.py" in about.out
    assert terminal.run("span", "5f0c954e", "zzzz").code == 2
