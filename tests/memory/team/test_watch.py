"""The watcher: when it pulls, when it pushes, what it tells."""

from __future__ import annotations

from pathlib import Path

from tests.memory.team.people import Watched, git_out, hire, make_remote
from tests.requirements import requirement


@requirement("team:watch")
def test_an_edit_is_sent_once_it_rests_and_nothing_is_sent_back(tmp_path: Path) -> None:
    remote = make_remote(tmp_path)
    ada, bob = hire(tmp_path, "Ada", remote), hire(tmp_path, "Bob", remote)
    mine, theirs = Watched(ada), Watched(bob)
    assert mine.at(0) == theirs.at(0) == []
    path = ada.save("Importer", "We import at night.")

    assert mine.at(1) == []
    ada.edit(path, "at night", "at noon")
    assert mine.at(2.5) == []
    assert mine.at(4.6) == ["team memory: 1 memory shared"]
    commits = git_out(remote, "rev-list", "--count", "reverie-memory")
    assert theirs.at(299) == []
    assert theirs.at(301) == ["team memory: 1 memory new or changed"]
    assert theirs.at(304) == theirs.at(610) == []
    assert mine.at(310) == []
    assert git_out(remote, "rev-list", "--count", "reverie-memory") == commits


@requirement("team:watch")
def test_a_remote_that_is_away_is_told_once_and_tried_again(tmp_path: Path) -> None:
    remote = make_remote(tmp_path)
    ada = hire(tmp_path, "Ada", remote)
    watched = Watched(ada)
    watched.at(0)
    remote.rename(tmp_path / "away.git")
    ada.save("Importer", "We import at night.")
    watched.at(1)
    (told,) = watched.at(4)
    assert told.startswith("team memory is not in sync: cannot reach ")
    assert watched.at(20) == watched.at(35) == []
    (tmp_path / "away.git").rename(remote)

    assert watched.at(100) == ["team memory is in sync again", "team memory: 1 memory shared"]


@requirement("team:watch", "team:consent")
def test_without_consent_it_only_pulls(tmp_path: Path) -> None:
    remote = make_remote(tmp_path)
    ada = hire(tmp_path, "Ada", remote, pushes=False)
    watched = Watched(ada)
    watched.at(0)
    ada.save("Importer", "We import at night.")
    watched.at(1)
    watched.at(4)

    assert git_out(remote, "for-each-ref") == ""
