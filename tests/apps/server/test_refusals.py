"""What a server refuses: strangers, other tenants, bad paths, lies, secrets, too much. None of it changes anything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import select, text

from reverie.apps.server.accounts import revoke_token
from reverie.apps.server.database import ALL_TENANTS
from reverie.apps.server.entry_paths import find_path_problem, fold_path
from reverie.apps.server.schema import TENANT_TABLES, tokens
from tests.apps.server.kit import REPO, Served, entry, fault, sha
from tests.requirements import requirement


@requirement("server:tokens")
async def test_without_a_valid_token_nothing_is_answered(served: Served) -> None:
    token = served.token(expires_at=int(served.clock()) + 60)
    missing = await served.client().pull()
    unknown = await served.client("rvt_nobody").pull()
    strange = await served.client("a.b.c").push({"a.md": entry("a")})
    valid = await served.client(token).pull()
    served.clock.seconds += 61
    expired = await served.client(token).pull()

    assert fault(missing) == fault(unknown) == fault(strange) == fault(expired) == (401, "unauthorised")
    assert missing.headers["www-authenticate"] == "Bearer"
    assert valid.status_code == 200


@requirement("server:tokens")
async def test_a_token_works_for_its_scope_and_repository_until_revoked(served: Served) -> None:
    reader = served.client(served.token("read"))
    token = served.token("write", repo=REPO)
    writer = served.client(token)

    assert fault(await reader.push({"a.md": entry("a")})) == (403, "forbidden")
    assert (await writer.push({"a.md": entry("a")})).status_code == 200
    assert fault(await writer.pull("acme/other")) == (403, "forbidden")
    assert (await writer.pull("ACME/App.git")).status_code == 200
    with served.database.writing(ALL_TENANTS) as connection:
        stored = connection.execute(select(tokens).where(tokens.c.repo == REPO)).mappings().one()
        revoke_token(connection, stored["id"], 1)
    assert fault(await writer.pull()) == (401, "unauthorised")
    assert token not in str(dict(stored))


@requirement("server:tenants:apart")
async def test_a_tenant_sees_nothing_of_another(served: Served) -> None:
    ours = served.write_client(tenant="ours")
    theirs = served.client(served.token("admin", tenant="theirs"))
    await ours.push({"a.md": entry("ours")})

    before = await theirs.pull()
    versions = await theirs.versions("a.md")
    await theirs.push({"a.md": entry("theirs")}, etag='"0"')
    await theirs.redact("a.md")

    assert before.json()["entries"] == {}
    assert versions == []
    assert await ours.texts() == {"a.md": "ours"}
    assert [row["text"] for row in await ours.versions("a.md")] == ["ours"]


@requirement("server:tenants:apart")
async def test_postgresql_itself_keeps_tenants_apart(served: Served) -> None:
    if not served.database.is_postgresql:
        pytest.skip("SQLite has no row-level security")
    await served.write_client(tenant="ours").push({"a.md": entry("ours")})
    with served.database.writing(ALL_TENANTS) as connection:
        other = served.tenant("theirs", connection)

    with served.database.reading(other) as connection:
        seen = {table: connection.execute(text(f"SELECT count(*) FROM {table}")).scalar() for table in TENANT_TABLES}
    with served.database.engine.begin() as connection:
        unnamed = connection.execute(text("SELECT count(*) FROM entries")).scalar()
    with served.database.writing(other) as connection:
        changed = connection.execute(text("UPDATE entries SET text = 'theirs'")).rowcount

    assert seen == {**dict.fromkeys(TENANT_TABLES, 0), "audit": 1}
    assert (unnamed, changed) == (0, 0)


BAD_PATHS = [
    "../../x.md", "/etc/x.md", "a/../b.md", "./a.md", "a//b.md", "a/", "", ".hidden.md", "a/.git/b.md", "a\\b.md",
    "C:/x.md", "con.md", "nul/a.md", "LPT1.md", "a .md/b.md ", "dir./a.md", " a.md", "a\x00.md", "a\n.md",
    "MEMORY.md", "sub/memory.MD", "a.txt", "a", "cafe\u0301.md", "a\u202e.md", "a\u200b.md",
    "x" * 300 + ".md", "/".join("abcdefghij") + ".md",
]  # fmt: skip


@requirement("server:paths")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_a_bad_path_is_refused(served: Served) -> None:
    client = served.write_client()
    for path in BAD_PATHS:
        answer = await client.push({path: entry("x")})
        assert fault(answer) == (422, "path"), path
        assert find_path_problem(path) is not None
    assert (await client.pull()).json()["version"] == 0


@requirement("server:paths")
def test_good_paths_are_allowed() -> None:
    for path in ("a.md", "ci/pipeline notes.md", "caf\u00e9.md", "\u6771\u4eac.md", "a-b_c (2).md", "conference.md"):
        assert find_path_problem(path) is None, path
    assert fold_path("STRASSE.md") == fold_path("stra\u00dfe.md")


@requirement("server:paths")
async def test_paths_that_differ_in_case_only_cannot_live_together(served: Served) -> None:
    client = served.write_client()
    together = await client.push({"Notes.md": entry("1"), "notes.md": entry("2")})
    await client.push({"Notes.md": entry("1")})
    later = await client.push({"notes.md": entry("2")})
    renamed = await client.push({"notes.md": entry("2"), "Notes.md": {"deleted": True}})

    assert fault(together) == fault(later) == (409, "path_collision")
    assert renamed.status_code == 200
    assert await client.texts() == {"notes.md": "2"}


@requirement("server:secrets")
async def test_a_secret_is_refused_by_rule_and_line(served: Served) -> None:
    client = served.write_client()
    key = "AKIA" + "QWERTYUIOPASDFGH"

    answer = await client.push({"fine.md": entry("fine"), "deploy.md": entry(f"# Deploy\n\nkey: {key}\n")})

    assert fault(answer) == (422, "secret")
    (refused,) = answer.json()["error"]["refused"]
    assert (refused["path"], refused["line"]) == ("deploy.md", 3)
    assert refused["rule"]
    assert key not in answer.text + b"".join(served.lines).decode()
    assert (await client.pull()).json()["version"] == 0
    own = await client.push({"login.md": entry(f"join with {served.token()}\n")})
    assert own.json()["error"]["refused"][0]["rule"] == "reverie-token"


@requirement("server:private")
@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("user", "Ada has built backends for years.", 422),
        ("feedback", "I like short answers.", 422),
        ("feedback", "We write a failing test before every fix.", 200),
        ("project", "I deploy on Fridays until June.", 200),
    ],
)
async def test_memories_about_a_person_are_refused(served: Served, kind: str, body: str, status: int) -> None:
    text = f"---\nname: Something\ndescription: it\ntype: {kind}\n---\n{body}\n"
    answer = await served.write_client().push({"a.md": entry(text)})

    assert answer.status_code == status
    if status == 422:
        assert (fault(answer)[1], "private" in answer.json()["error"]["message"]) == ("private", True)


@requirement("server:body-limit")
async def test_a_body_that_is_too_large_is_refused_unread(served: Served) -> None:
    client = served.write_client()
    asked = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal asked
        while True:
            asked += 1
            yield b" " * 65_536

    promised = await client.http.put(
        "/team_memory", params={"repo": REPO}, headers={"content-length": "1000000000"}, content=endless()
    )
    read_of_promised = asked
    chunked = await client.http.put("/team_memory", params={"repo": REPO}, content=endless())

    assert fault(promised) == fault(chunked) == (413, "body_too_large")
    assert read_of_promised <= 1
    assert asked - read_of_promised <= 5


@requirement("server:limits")
async def test_the_limits_of_a_tenant_hold(served: Served) -> None:
    client = served.limited(
        max_entries=3, max_file_bytes=100, max_repository_bytes=250, max_repositories=2
    ).write_client()
    three = {f"{number}.md": entry(str(number)) for number in range(3)}

    assert (await client.push(three)).status_code == 200
    assert fault(await client.push({"more.md": entry("x")})) == (413, "too_many_entries")
    assert fault(await client.push({"0.md": entry("x" * 101)})) == (413, "too_large")
    full = {f"{number}.md": entry("x" * 90) for number in range(3)}
    assert fault(await client.push(full)) == (413, "repository_full")
    assert (await client.push({"0.md": {"deleted": True}, "more.md": entry("x")})).status_code == 200
    assert (await client.push({"a.md": entry("a")}, "acme/two")).status_code == 200
    assert fault(await client.push({"a.md": entry("a")}, "acme/three")) == (413, "too_many_repositories")


@requirement("server:rate")
async def test_a_token_that_asks_too_often_must_wait(served: Served) -> None:
    client = served.limited(requests_per_minute=3).write_client()

    answers = [await client.pull() for _ in range(4)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert 1 <= int(answers[3].headers["retry-after"]) <= 21


MALFORMED: list[Any] = [
    b"", b"[]", b"{", b'{"entries": []}', b'{"entries": {"a.md": 1}}', b'{"entries": {"a.md": {"text": 1}}}',
    b'{"entries": {"a.md": {"unknown": 1}}}', b'{"entries": {"a.md": {"trust": "high"}}}', b"\xff\xfe", b"\x1f\x8b",
]  # fmt: skip


@requirement("server:push:all-or-nothing")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_a_malformed_request_is_said_to_be_so(served: Served) -> None:
    client = served.write_client()
    for body in MALFORMED:
        answer = await client.http.put("/team_memory", params={"repo": REPO}, content=body)
        assert fault(answer) == (400, "malformed"), body
    for repo in ("", "..", "a b", "x" * 300, "/etc", "a/../b"):
        assert fault(await client.pull(repo)) == (400, "malformed"), repo
    surrogate = b'{"entries": {"a.md": {"text": "\\ud800", "sha256": ""}}}'
    for body in (surrogate, b'{"entries": {"a.md": {"text": "a\\u0000", "sha256": "%s"}}}' % sha("a\0").encode()):
        answer = await client.http.put("/team_memory", params={"repo": REPO}, content=body)
        assert answer.status_code in (400, 422)
    many = "&".join(f"p{number}=1" for number in range(50))
    assert fault(await client.http.get(f"/team_memory?repo={REPO}&{many}")) == (400, "malformed")
    assert fault(await client.pull(view="other")) == (400, "malformed")
    assert fault(await client.http.get("/team_memory/versions", params={"repo": REPO})) == (400, "malformed")
    digits = "9" * 5_000
    assert (await client.pull(since=f'"0.{digits}"')).status_code == 200
    huge = await client.http.put("/team_memory", params={"repo": REPO}, headers={"content-length": digits}, content=b"")
    assert fault(huge) == (413, "body_too_large")
    assert (await client.redact("a.md", "acme/unknown")).json()["redacted"] == 0
    assert (await client.http.head("/team_memory", params={"repo": REPO})).status_code == 200
    assert (await client.http.get("/nothing")).status_code == 404
    assert (await client.http.post("/team_memory")).status_code == 405
    assert (await client.pull()).json()["version"] == 0
