"""Two people and a bare repository or a team server: what one shares, the other has, by the same rules over both."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from reverie.errors import Conflict, Refused, Unavailable, UserMistake
from reverie.files.places.paths import MemoryFolder
from reverie.memory.team.entry import SentChanges, TeamEntry, TeamRemote, TeamSnapshot
from reverie.memory.team.state import read_agreed, team_folder
from reverie.memory.team.sync import TeamSync
from reverie.memory.topics.value import MemoryType, Trust
from tests.memory.team.people import Colleague, Remote, ServerRepo, hire, is_untouched, join, make_remote
from tests.requirements import requirement
from tests.team_server import TeamServer

BODY = "First line of it.\n\nSecond line of it.\n\nThird line of it."


@pytest.fixture(params=["git", "server"])
def remote(request: pytest.FixtureRequest, tmp_path: Path) -> Remote:
    if request.param == "git":
        return make_remote(tmp_path)
    server: TeamServer = request.getfixturevalue("team_server")
    return ServerRepo(server, server.new_repo())


@pytest.fixture
def pair(tmp_path: Path, remote: Remote) -> tuple[Colleague, Colleague]:
    return hire(tmp_path, "Ada", remote), hire(tmp_path, "Bob", remote)


@requirement("team:sync:two-people", "team:attribution")
def test_what_one_shares_the_other_recalls_as_said_by_them(pair: tuple[Colleague, Colleague]) -> None:
    ada, bob = pair
    path = ada.save("Database tests", "Integration tests need the compose database.")
    assert ada.memory.team.push().pushed == (path.removeprefix("team/"),)

    assert bob.memory.team.pull().pulled == (path.removeprefix("team/"),)
    (hit,) = bob.memory.recall("which database do integration tests need", fresh=True)

    assert hit.header.startswith("Said by Ada (team): a colleague's note")
    assert "trust: said by Ada (team)\n" in hit.text
    assert ada.files == bob.files
    assert bob.memory.log()[0].change.author == "sync"
    (own,) = ada.memory.recall("which database do integration tests need", fresh=True)
    assert "(team)" not in own.header


@requirement("team:attribution")
def test_a_colleague_who_takes_the_users_name_does_not_speak_for_them(tmp_path: Path, remote: Remote) -> None:
    ada, mallory = hire(tmp_path, "Ada", remote), hire(tmp_path, "mallory", remote)
    mallory.memory.team.leave()
    join(mallory.memory, remote, "Ada")
    mallory.memory.team.allow_push()
    path = mallory.save("Deploys", "Deploys go out on Fridays without review.")
    mallory.memory.team.push()
    ada.memory.team.pull()

    assert ada.memory.describe_shared({path: "said"}) == {path: "said by Ada (team)"}
    assert mallory.memory.describe_shared({path: "said"}) == {}


@requirement("team:sync:two-people")
def test_edits_on_both_sides_are_merged(pair: tuple[Colleague, Colleague]) -> None:
    ada, bob = pair
    path = ada.save("Importer", BODY)
    ada.memory.team.push()
    bob.memory.team.pull()
    ada.edit(path, "First line", "First edited line")
    bob.edit(path, "Third line", "Third edited line")
    ada.memory.team.push()
    bob.memory.team.push()
    ada.memory.team.pull()

    assert ada.files == bob.files
    assert "First edited line" in ada.body(path)
    assert "Third edited line" in ada.body(path)
    assert ada.copies == bob.copies == []


@requirement("team:merge:loser-kept")
def test_an_overlapping_edit_is_kept_as_a_conflict_copy(pair: tuple[Colleague, Colleague]) -> None:
    ada, bob = pair
    path = ada.save("Importer", BODY)
    ada.memory.team.push()
    bob.memory.team.pull()
    ada.edit(path, "First line", "Ada's line")
    bob.edit(path, "First line", "Bob's line")
    ada.memory.team.push()
    report = bob.memory.team.push()

    assert len(report.conflicts) == 1
    assert "Ada's line" in bob.body(path)
    assert any("Bob's line" in copy for copy in bob.copies)
    assert ada.memory.team.pull().pulled == ()


@requirement("team:merge:delete-wins")
def test_a_delete_wins_over_an_edit_and_the_edit_is_kept(pair: tuple[Colleague, Colleague]) -> None:
    ada, bob = pair
    path = ada.save("Importer", BODY)
    ada.memory.team.push()
    bob.memory.team.pull()
    bob.edit(path, "First line", "Bob's line")
    ada.memory.forget(path)
    assert ada.memory.team.push().deleted == (path.removeprefix("team/"),)
    report = bob.memory.team.push()

    assert ada.files == bob.files == {}
    assert report.pushed == ()
    assert any("Bob's line" in copy for copy in bob.copies)
    bob.memory.team.push()
    ada.memory.team.pull()
    assert ada.files == {}


@requirement("team:merge:delete-wins")
def test_a_name_that_is_saved_again_is_shared_again(pair: tuple[Colleague, Colleague]) -> None:
    ada, bob = pair
    path = ada.save("Importer", BODY)
    ada.memory.team.push()
    bob.memory.team.pull()
    bob.memory.forget(path)
    bob.memory.team.push()
    ada.memory.team.pull()
    assert ada.files == {}
    ada.save("Importer", "It was written anew.")
    ada.memory.team.push()
    bob.memory.team.pull()

    assert "It was written anew." in bob.body(path)


@requirement("team:merge:delete-wins")
def test_whoever_leaves_and_joins_again_brings_nothing_back(pair: tuple[Colleague, Colleague], remote: Remote) -> None:
    ada, bob = pair
    ada.save("Importer", BODY)
    ada.memory.team.push()
    bob.memory.team.pull()
    bob.memory.team.leave(forget=True)
    ada.memory.forget("Importer")
    ada.memory.team.push()
    join(bob.memory, remote)
    bob.memory.team.allow_push()
    bob.memory.team.push()
    ada.memory.team.pull()

    assert ada.files == bob.files == {}


@requirement("team:sync:offline")
def test_somebody_who_was_away_for_a_month_converges(pair: tuple[Colleague, Colleague]) -> None:
    ada, bob = pair
    paths = [ada.save(f"Rule {number}", BODY) for number in range(6)]
    ada.memory.team.push()
    bob.memory.team.pull()
    bob.edit(paths[0], "Third line", "Edited offline")
    bob.edit(paths[1], "First line", "Edited offline")
    bob.memory.forget(paths[2])
    bob.save("Rule of Bob", "Said while away.")
    for day in range(6):
        ada.person.clock.forward(days=5)
        ada.edit(paths[0], "First line" if day == 0 else f"Day {day - 1}", f"Day {day}")
        ada.edit(paths[3], "Second line" if day == 0 else f"Day {day - 1}", f"Day {day}")
        ada.memory.team.push()
    ada.memory.forget(paths[1])
    ada.edit(paths[2], "First line", "Edited meanwhile")
    ada.memory.team.push()
    bob.person.clock.forward(days=31)
    bob.memory.team.push()
    ada.memory.team.pull()

    assert ada.files == bob.files
    assert {path.removeprefix("team/") for path in (paths[0], paths[3], paths[4], paths[5])} < ada.files.keys()
    assert "Day 5" in ada.body(paths[0])
    assert "Edited offline" in ada.body(paths[0])
    assert sorted(path for path in (paths[1], paths[2]) if (ada.memory.directory / path).exists()) == []
    assert any("Edited offline" in copy for copy in bob.copies)
    assert any("Edited meanwhile" in copy for copy in bob.copies)


@requirement("team:sync:races")
def test_people_who_push_at_the_same_moment_all_get_in(tmp_path: Path, remote: Remote) -> None:
    people = [hire(tmp_path, name, remote) for name in ("Ada", "Bob", "Cleo")]
    problems: list[BaseException] = []

    def work(colleague: Colleague) -> None:
        try:
            for number in range(3):
                colleague.save(f"Rule {number} of {colleague.person.home.parent.name}", BODY)
                colleague.memory.team.push()
        except BaseException as problem:  # noqa: BLE001 - told by the test
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(each,)) for each in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for each in people:
        each.memory.team.pull()

    assert problems == []
    assert [len(each.files) for each in people] == [9, 9, 9]
    assert people[0].files == people[1].files == people[2].files


class CutRemote:
    """A remote whose answer gets lost: before it acts, or after."""

    def __init__(self, remote: TeamRemote, cut: str) -> None:
        self._remote, self._cut = remote, cut

    def read_version(self) -> str:
        return self._remote.read_version()

    def fetch(self, known: dict[str, TeamEntry], version: str) -> TeamSnapshot | None:
        if self._cut == "fetch":
            raise Unavailable("cut")
        return self._remote.fetch(known, version)

    def send(self, snapshot: TeamSnapshot, changes: dict[str, TeamEntry]) -> SentChanges:
        if self._cut == "before":
            raise Unavailable("cut")
        sent = self._remote.send(snapshot, changes)
        if self._cut == "after":
            raise Unavailable("cut")
        return sent


@requirement("team:sync:killed")
@pytest.mark.parametrize("cut", ["fetch", "before", "after"])
def test_an_exchange_that_was_cut_is_done_by_the_next(pair: tuple[Colleague, Colleague], cut: str) -> None:
    ada, bob = pair
    kept, gone = ada.save("Kept", BODY), ada.save("Gone", BODY)
    ada.memory.team.push()
    bob.memory.team.pull()
    ada.edit(kept, "First line", "Edited line")
    ada.memory.forget(gone)
    ada.save("New", BODY)
    sync = _sync_of(ada)
    with pytest.raises(Unavailable):
        TeamSync(
            sync.store,
            sync.folder,
            CutRemote(sync.remote, cut),  # type: ignore[arg-type] # the same methods
            "Ada",
            sync.settings,
            sync.now,
        ).push()
    ada.memory.team.push()
    bob.memory.team.pull()

    assert ada.files == bob.files
    assert "Edited line" in bob.body(kept)
    assert len(bob.files) == 2
    assert ada.memory.describe_shared({kept: "said"}) == {}
    assert ada.copies == bob.copies == []


def _sync_of(colleague: Colleague) -> TeamSync:
    team = colleague.memory.team
    joined = team.joined
    assert joined is not None
    return team.build_sync(joined)


@requirement("team:sync:killed")
def test_a_pull_that_ended_before_it_noted_its_end_is_harmless(
    pair: tuple[Colleague, Colleague], tmp_path: Path
) -> None:
    ada, bob = pair
    path = ada.save("Importer", BODY)
    ada.memory.team.push()
    bob.memory.team.pull()
    state = team_folder(bob.memory.scope.folder)
    shutil.copytree(state.directory, tmp_path / "before")
    ada.edit(path, "First line", "Ada's line")
    bob.edit(path, "Third line", "Bob's line")
    ada.memory.team.push()
    bob.memory.team.pull()
    shutil.rmtree(state.directory)
    (tmp_path / "before").rename(state.directory)
    bob.memory.team.push()
    ada.memory.team.pull()

    assert ada.files == bob.files
    assert "Ada's line" in ada.body(path)
    assert "Bob's line" in ada.body(path) or any("Bob's line" in copy for copy in bob.copies)


@requirement("team:sync:mass-deletion")
@pytest.mark.parametrize("remote", ["server"], indirect=True)
def test_a_directory_that_vanished_is_not_sent(pair: tuple[Colleague, Colleague]) -> None:
    ada, bob = pair
    for number in range(12):
        ada.save(f"Rule {number}", f"{BODY}\n\nNumber {number}.")
    ada.memory.team.push()
    bob.memory.team.pull()
    for path in bob.memory.team.directory.glob("*.md"):
        path.unlink()
    with pytest.raises(Refused, match=r"12 of 12 team memories are missing here .*team push --yes"):
        bob.memory.team.push()
    ada.memory.team.pull()
    assert len(ada.files) == 12

    bob.memory.team.push(may_delete_many=True)
    ada.memory.team.pull()
    assert ada.files == {}


@requirement("team:consent")
@pytest.mark.parametrize("remote", ["server"], indirect=True)
def test_nothing_is_sent_before_the_user_agreed(tmp_path: Path, remote: Remote) -> None:
    ada = hire(tmp_path, "Ada", remote, pushes=False)
    ada.save("Importer", BODY)
    with pytest.raises(Refused, match="team push --yes"):
        ada.memory.team.push()

    assert is_untouched(remote)
    (outgoing,) = ada.memory.team.status().outgoing
    assert (outgoing.change, outgoing.author, outgoing.trust) == ("new", "Ada", "said")


@requirement("team:commands")
def test_without_a_remote_the_next_step_is_named(person_folder: Path) -> None:
    from tests.person import person_in

    person = person_in(person_folder)
    project = person_folder / "project"
    project.mkdir()
    team = person.open(project).team
    with pytest.raises(UserMistake, match="reverie team join REMOTE"):
        team.pull()
    with pytest.raises(UserMistake, match="git init --bare"):
        team.join(str(person_folder / "missing.git"), name="Ada")
    with pytest.raises(Unavailable, match="REVERIE_TEAM_TOKEN"):
        team.join("https://example.org/x", name="Ada")
    with pytest.raises(UserMistake, match="unencrypted"):
        team.join("http://example.org/x", name="Ada", token="t")
    with pytest.raises(UserMistake, match="for a team server"):
        team.join(str(project), name="Ada", repo="acme/app")
    with pytest.raises(UserMistake, match="credential helper"):
        team.join("https://ada:pass@example.org/x.git", name="Ada")
    for address in ("ext::sh -c id", "--upload-pack=id", "-x"):
        with pytest.raises(UserMistake):
            team.join(address, name="Ada")
    with pytest.raises(Unavailable, match="git ls-remote"):
        team.join(str(project), name="Ada")
    assert team.joined is None


@pytest.fixture
def person_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "one"
    folder.mkdir()
    return folder


@requirement("team:scope")
@pytest.mark.parametrize(
    ("kind", "body", "is_private"),
    [
        (MemoryType.user, "Ada has built backends for years.", True),
        (MemoryType.feedback, "I like short answers without bullet points.", True),
        (MemoryType.feedback, "The user prefers tabs over spaces in diffs.", True),
        (MemoryType.feedback, "We write a failing test before every fix.", False),
        (MemoryType.feedback, "Integration tests use a real database; mocks hid a broken migration.", False),
        (MemoryType.project, "I deploy on Fridays until the end of June.", False),
        (MemoryType.reference, "Duty rota: channel #ops.", False),
    ],
)
@pytest.mark.parametrize("remote", ["server"], indirect=True)
def test_what_is_about_one_person_stays_private(
    pair: tuple[Colleague, Colleague], kind: MemoryType, body: str, *, is_private: bool
) -> None:
    ada, _ = pair
    if is_private:
        with pytest.raises(UserMistake, match="without --team"):
            ada.save("Something", body, kind=kind)
        source = f"---\nname: Something\ndescription: it\ntype: {kind}\n---\n{body}\n"
        from reverie.memory.topics.topic import Source

        with pytest.raises(Refused, match="private"):
            ada.memory.write_files(
                {"team/x.md": source}, author="agent", reason="by a tool", source=Source(session="s")
            )
        assert ada.files == {}
    else:
        assert ada.save("Something", body, kind=kind, trust=Trust.said).startswith("team/")


@requirement("team:sync:killed")
@pytest.mark.parametrize("remote", ["server"], indirect=True)
def test_what_was_agreed_is_written_whole(pair: tuple[Colleague, Colleague]) -> None:
    ada, _ = pair
    path = ada.save("Importer", BODY)
    ada.memory.team.push()
    agreed = read_agreed(team_folder(MemoryFolder(ada.memory.directory, ada.memory.scope.folder.aside)))

    assert agreed.entries[path.removeprefix("team/")].text == (ada.memory.directory / path).read_text(encoding="utf-8")
    assert agreed.mine == {path.removeprefix("team/")}


@requirement("team:sync:races")
@pytest.mark.parametrize("remote", ["server"], indirect=True)
def test_a_push_that_always_loses_says_so(pair: tuple[Colleague, Colleague]) -> None:
    ada, _ = pair
    ada.save("Importer", BODY)
    sync = _sync_of(ada)

    class Losing(CutRemote):
        def send(self, snapshot: TeamSnapshot, changes: dict[str, TeamEntry]) -> SentChanges:  # noqa: ARG002
            raise Conflict("others keep changing it; run `reverie team push` again")

    losing = Losing(sync.remote, "")
    with pytest.raises(Conflict, match="again"):
        TeamSync(sync.store, sync.folder, losing, "Ada", sync.settings, sync.now).push()  # type: ignore[arg-type]
