"""Team memory over a server: what travels, what is refused, and what happens when the network or the server fails."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from sqlalchemy import select, update

from reverie.apps.server.accounts import find_tenant
from reverie.apps.server.database import ALL_TENANTS
from reverie.apps.server.schema import entries, repos, revisions, tenants
from reverie.errors import Unauthenticated, Unavailable, UserMistake
from reverie.memory.team.http_remote import is_server_address
from reverie.memory.team.state import read_sending, team_folder
from reverie.memory.team.watch import TeamWatcher, run_watcher
from tests.cutting_proxy import running_proxy
from tests.memory.team.people import Colleague, ServerRepo, Watched, hire
from tests.requirements import requirement
from tests.team_server import TeamServer

BODY = "First line of it.\n\nSecond line of it.\n\nThird line of it."


@pytest.fixture
def repo(team_server: TeamServer) -> ServerRepo:
    return ServerRepo(team_server, team_server.new_repo())


@pytest.fixture
def pair(tmp_path: Path, repo: ServerRepo) -> tuple[Colleague, Colleague]:
    return hire(tmp_path, "Ada", repo), hire(tmp_path, "Bob", repo)


def read_log(repo: ServerRepo) -> list[dict[str, Any]]:
    """What the server answered to requests about a repository."""
    rows = [json.loads(line) for line in repo.server.requests]
    return [row for row in rows if row.get("repo") == repo.name]


@pytest.mark.parametrize(
    ("address", "is_server"),
    [
        ("https://memory.example.org", True),
        ("http://127.0.0.1:8377/", True),
        ("HTTPS://example.org/team", True),
        ("https://example.org/acme/app.git", False),
        ("git+https://example.org/acme/app", False),
        ("git@example.org:acme/app.git", False),
        ("ssh://example.org/acme/app", False),
        ("/srv/git/memory.git", False),
    ],
)
@requirement("team:http:join")
def test_a_server_is_told_apart_from_a_git_remote(address: str, *, is_server: bool) -> None:
    assert is_server_address(address) is is_server


@requirement("team:http:conditional")
def test_an_unchanged_pull_is_a_304_and_a_changed_one_brings_only_the_change(
    pair: tuple[Colleague, Colleague], repo: ServerRepo
) -> None:
    ada, bob = pair
    for number in range(5):
        ada.save(f"Rule {number}", BODY)
    ada.memory.team.push()
    bob.memory.team.pull()
    repo.server.requests.clear()
    ada.memory.team.pull()
    bob.memory.team.pull()
    assert [row["status"] for row in read_log(repo)] == [304, 304]
    ada.save("Rule 6", BODY)
    ada.memory.team.push()
    bob.memory.team.pull()

    assert [(row["method"], row["status"], row.get("entries")) for row in read_log(repo)[2:]] == [
        ("GET", 304, None),
        ("PUT", 200, 1),
        ("GET", 200, 1),
    ]
    ada.memory.team.pull()
    assert read_log(repo)[-1]["status"] == 304


@requirement("team:http:batches")
def test_a_large_push_travels_in_small_bodies(pair: tuple[Colleague, Colleague], repo: ServerRepo) -> None:
    ada, bob = pair
    ada.memory.team.directory.mkdir(exist_ok=True)
    for number in range(9):
        text = f"---\nname: Rule {number}\ndescription: long\ntype: project\n---\n" + f"We do it {number}.\n" * 4_000
        (ada.memory.team.directory / f"rule_{number}.md").write_text(text, encoding="utf-8")
    assert len(ada.memory.team.push().pushed) == 9
    bob.memory.team.pull()

    sizes = [row["received_bytes"] for row in read_log(repo) if row["method"] == "PUT"]
    assert len(sizes) >= 3
    assert max(sizes) <= 204_800
    assert ada.files == bob.files
    assert len(bob.files) == 9
    repo.server.requests.clear()
    ada.memory.team.pull()
    assert [row["status"] for row in read_log(repo)] == [304]


@pytest.mark.parametrize("cut", ["before", "answer", "middle"])
@requirement("team:http:interrupted")
def test_a_batch_whose_connection_broke_is_resumed(tmp_path: Path, repo: ServerRepo, cut: str) -> None:
    with running_proxy(repo.server.url) as proxy:
        ada, bob = hire(tmp_path, "Ada", replace(repo, through=proxy.url)), hire(tmp_path, "Bob", repo)
        path = ada.save("Importer", BODY)
        ada.memory.team.push()
        bob.memory.team.pull()
        ada.edit(path, "First line", "First edited line")
        ada.save("New", BODY)
        plan = ["never", cut, cut]  # the pull; the push and its second try
        proxy.choose_cut = lambda: plan.pop(0) if plan else "never"
        with pytest.raises(Unavailable):
            ada.memory.team.push()
        assert read_sending(team_folder(ada.memory.scope.folder)).keys() == {"project_importer.md", "project_new.md"}
        # Edited on, while nobody knows what the server has.
        ada.edit(path, "First edited line", "First line edited twice")
        assert ada.memory.team.push().conflicts == ()
    bob.memory.team.pull()

    assert ada.files == bob.files
    assert "First line edited twice" in bob.body(path)
    assert ada.copies == bob.copies == []
    assert ada.memory.describe_shared({path: "said"}) == {}
    assert read_sending(team_folder(ada.memory.scope.folder)) == {}


@requirement("team:http:interrupted")
def test_one_broken_connection_is_not_noticed(tmp_path: Path, repo: ServerRepo) -> None:
    with running_proxy(repo.server.url) as proxy:
        ada, bob = hire(tmp_path, "Ada", replace(repo, through=proxy.url)), hire(tmp_path, "Bob", repo)
        ada.save("Importer", BODY)
        plan = ["answer", "never", "middle", "never"]
        proxy.choose_cut = lambda: plan.pop(0) if plan else "never"
        assert len(ada.memory.team.push().pushed) == 1
        assert plan == []
    assert len(bob.memory.team.pull().pulled) == 1


@requirement("team:hostile")
def test_a_text_without_its_hash_is_not_taken(pair: tuple[Colleague, Colleague], repo: ServerRepo) -> None:
    ada, bob = pair
    bad, good = ada.save("Bad", BODY), ada.save("Good", BODY)
    ada.memory.team.push()
    with repo.server.database.writing(ALL_TENANTS) as connection:
        is_bad = entries.c.path == bad.removeprefix("team/")
        connection.execute(update(entries).where(is_bad).values(text="something else"))
    report = bob.memory.team.pull()

    assert [str(each) for each in report.refused] == ["project_bad.md: a text that does not have its SHA-256"]
    assert bob.files.keys() == {good.removeprefix("team/")}
    assert bob.memory.team.pull().refused == report.refused
    ada.edit(bad, "First line", "Edited line")
    ada.memory.team.push()
    assert bob.memory.team.pull().refused == ()
    assert ada.files == bob.files


@requirement("team:http:token")
def test_a_token_lies_in_a_file_of_its_own_and_goes_with_leaving(
    tmp_path: Path, repo: ServerRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = hire(tmp_path, "Ada", repo)
    (place,) = (ada.person.home / ".reverie" / "team-tokens").iterdir()
    token = place.read_text(encoding="utf-8").strip()
    assert place.stat().st_mode & 0o777 == 0o600
    assert place.parent.stat().st_mode & 0o777 == 0o700
    others = [path for path in tmp_path.rglob("*") if path.is_file() and path != place]
    assert not any(token.encode() in path.read_bytes() for path in others)

    ada.memory.team.leave()
    assert not place.exists()
    with pytest.raises(Unauthenticated, match="REVERIE_TEAM_TOKEN"):
        ada.memory.team.join(repo.server.url, repo=repo.name)
    monkeypatch.setenv("REVERIE_TEAM_TOKEN", token)
    ada.memory.team.join(repo.server.url, repo=repo.name)
    ada.memory.team.pull()
    assert not place.exists()


@requirement("team:http:join")
def test_who_one_is_and_which_repository_is_meant_follows_from_the_token(tmp_path: Path, repo: ServerRepo) -> None:
    ada, bob = hire(tmp_path, "Ada", repo), hire(tmp_path, "Bob", repo)
    ada.memory.team.leave()
    token = repo.server.token("Ada Lovelace", repo=repo.name)
    joined = ada.memory.team.join(repo.server.url, token=token, name="Somebody Else")
    assert (joined.name, joined.repo) == ("Ada Lovelace", repo.name)
    ada.memory.team.allow_push()
    path = ada.save("Importer", BODY)
    ada.memory.team.push()
    bob.memory.team.pull()
    assert bob.memory.describe_shared({path: "said"}) == {path: "said by Ada Lovelace (team)"}

    bob.memory.team.leave()
    with pytest.raises(UserMistake, match="--repo OWNER/NAME"):
        bob.memory.team.join(repo.server.url, token=repo.server.token())
    with pytest.raises(Unauthenticated, match="not for the repository acme/other"):
        bob.memory.team.join(repo.server.url, repo="acme/other", token=token)
    with pytest.raises(Unauthenticated, match="does not accept the token"):
        bob.memory.team.join(repo.server.url, repo=repo.name, token="rvt_" + "x" * 43)
    assert bob.memory.team.joined is None


@requirement("team:http:full")
def test_what_a_full_server_refuses_waits_and_goes_out_once_there_is_room(
    pair: tuple[Colleague, Colleague], repo: ServerRepo
) -> None:
    ada, bob = pair
    old = [ada.save(f"Old {number}", BODY) for number in range(3)]
    ada.memory.team.push()
    with limited(repo.server, max_entries=4):
        ada.edit(old[0], "First line", "Edited line")
        for number in range(5):
            ada.save(f"New {number}", BODY)
        report = ada.memory.team.push()
        assert len(report.pushed) == 2
        assert {each.rule for each in report.refused} == {"the server holds as many entries as it may"}
        ada.memory.forget(old[1])
        report = ada.memory.team.push()
        assert (len(report.pushed), len(report.deleted), len(report.refused)) == (1, 1, 3)
    report = ada.memory.team.push()
    assert (len(report.pushed), report.refused) == (3, ())
    bob.memory.team.pull()
    assert ada.files == bob.files


class limited:  # noqa: N801 - used like a function
    """The default tenant with other limits for a while."""

    def __init__(self, server: TeamServer, **limits: int) -> None:
        self._server, self._limits = server, limits

    def __enter__(self) -> None:
        self._write(json.dumps(self._limits))

    def __exit__(self, *_exception: object) -> None:
        self._write("{}")

    def _write(self, limits: str) -> None:
        with self._server.database.writing(ALL_TENANTS) as connection:
            tenant = find_tenant(connection, "default", 1)
            connection.execute(update(tenants).where(tenants.c.id == tenant).values(limits=limits))


@requirement("team:http:suppression")
def test_without_permission_to_write_pulls_go_on(pair: tuple[Colleague, Colleague], repo: ServerRepo) -> None:
    ada, bob = pair
    ada.memory.team.join(repo.server.url, repo=repo.name, token=repo.server.token(scope="read"))
    watched = Watched(ada)
    watched.at(0)
    ada.save("Importer", BODY)
    watched.at(1)
    (told,) = watched.at(4)
    assert "this token has the scope read; write is required" in told
    (problem,) = ada.memory.team.status().problems
    assert problem.cause == "permission"
    bob.save("Of Bob", BODY)
    bob.memory.team.push()

    assert watched.at(40) == ["team memory: 1 memory new or changed"]
    assert [each.cause for each in ada.memory.team.status().problems] == ["permission"]
    assert watched.at(200) == []
    ada.memory.team.join(repo.server.url, repo=repo.name, token=repo.server.token())
    assert watched.at(201) == ["team memory is in sync again", "team memory: 1 memory shared"]
    assert ada.memory.team.status().problems == ()


@requirement("team:http:suppression")
def test_a_new_token_is_tried_at_once_and_a_second_failure_is_told_again(
    pair: tuple[Colleague, Colleague], repo: ServerRepo
) -> None:
    ada, _ = pair
    watched = Watched(ada)
    assert watched.at(0) == []
    repo.server.revoke_all()
    for minute in (6, 60):
        (told,) = watched.at(minute * 60)
        assert "this token was revoked; run `reverie team join http://" in told
        assert watched.at(minute * 60 + 31) == watched.at(minute * 60 + 91) == []
        ada.memory.team.join(repo.server.url, repo=repo.name, token=repo.server.token())
        assert watched.at(minute * 60 + 92) == ["team memory is in sync again"]
        repo.server.revoke_all()


@requirement("team:http:suppression")
def test_a_server_that_asks_to_wait_is_left_alone(pair: tuple[Colleague, Colleague], repo: ServerRepo) -> None:
    ada, _ = pair
    watched = Watched(ada)
    with limited(repo.server, requests_per_minute=1):
        assert watched.at(0) == []
        (told,) = watched.at(301)
        assert "more than 1 requests per minute" in told
        repo.server.requests.clear()
        watched.at(303)
        assert read_log(repo) == []
    assert watched.at(400) == ["team memory is in sync again"]


@requirement("team:http:join")
def test_what_is_no_team_server_is_named(tmp_path: Path, repo: ServerRepo) -> None:
    ada = hire(tmp_path, "Ada", repo)
    ada.memory.team.leave()
    with pytest.raises(Unavailable, match=r"no team server answers at http://.*/elsewhere.*git\+http://"):
        ada.memory.team.join(f"{repo.server.url}/elsewhere", repo=repo.name, token=repo.server.token())
    with pytest.raises(Unavailable, match="cannot reach"):
        ada.memory.team.join("http://127.0.0.1:9", repo=repo.name, token=repo.server.token())


def read_kept(repo: ServerRepo, path: str) -> list[str]:
    """The texts that the server keeps of an entry."""
    with repo.server.database.reading(ALL_TENANTS) as connection:
        query = select(revisions.c.text).join(repos).where(repos.c.name == repo.name, revisions.c.path == path)
        return [text for (text,) in connection.execute(query) if text]


@requirement("team:erase")
def test_erasing_removes_the_versions_at_the_server_or_names_what_keeps_them(tmp_path: Path, repo: ServerRepo) -> None:
    ada, bob = hire(tmp_path, "Ada", repo), hire(tmp_path, "Bob", repo)
    for colleague, member in ((ada, "Ada of erase"), (bob, "Bob of erase")):
        colleague.memory.team.join(repo.server.url, repo=repo.name, token=repo.server.token(member))
    own, shared = ada.save("Own", BODY), ada.save("Shared", BODY.replace("it", "them"))
    ada.memory.team.push()
    ada.edit(own, "First line", "Edited line")
    ada.memory.team.push()
    bob.memory.team.pull()
    bob.edit(shared, "First line", "Bob's line")
    bob.memory.team.push()
    ada.memory.team.pull()
    assert len(read_kept(repo, "project_own.md")) == len(read_kept(repo, "project_shared.md")) == 2

    (place,) = ada.memory.erase("Own").elsewhere
    assert place == f"{repo.server.url} ({repo.name}): backups, and the histories of colleagues"
    assert read_kept(repo, "project_own.md") == []
    (place,) = ada.memory.erase("Shared").elsewhere
    assert "versions of project_shared.md" in place
    assert "admin scope" in place
    assert len(read_kept(repo, "project_shared.md")) == 2
    assert bob.memory.team.pull().deleted == ("project_own.md", "project_shared.md")


@requirement("team:watch")
def test_the_watcher_hears_of_an_edit_and_does_not_send_back_what_it_pulled(
    pair: tuple[Colleague, Colleague], repo: ServerRepo
) -> None:
    ada, bob = pair
    path = ada.save("Importer", BODY)
    ada.memory.team.push()
    own = ada.person.open(ada.project).team
    quick = replace(own, settings=replace(own.settings, debounce_seconds=0.05, pull_minutes=0.01))
    told, stop, news = list[str](), Event(), Event()

    def tell(message: str) -> None:
        told.append(message)
        news.set()

    thread = Thread(target=run_watcher, args=(TeamWatcher(quick, tell), stop))
    thread.start()
    try:
        ada.edit(path, "First line", "Edited line")
        assert news.wait(30)
        news.clear()
        bob.memory.team.pull()
        bob.edit(path, "Third line", "Line of Bob")
        bob.memory.team.push()
        assert news.wait(30)
    finally:
        stop.set()
        thread.join(30)

    assert told == ["team memory: 1 memory shared", "team memory: 1 memory new or changed"]
    assert [row["method"] for row in read_log(repo) if row.get("entries") and row["method"] == "PUT"] == ["PUT"] * 3
    assert ada.files == bob.files
