"""Pull and push as clients do, on both databases."""

from __future__ import annotations

import asyncio
import json

from tests.apps.server.kit import REPO, Served, deletion, entry, fault, sha
from tests.requirements import requirement


@requirement("server:pull:etag")
async def test_a_pull_gives_entries_and_304_until_something_changes(served: Served) -> None:
    client = served.write_client()
    nothing = await client.pull()
    assert nothing.json() == {"version": 0, "since": 0, "entries": {}}
    assert (await client.pull(etag=nothing.headers["etag"])).status_code == 304

    pushed = await client.push({"ci.md": entry("Run the linter.", trust="said", author="ada")}, etag='"0"')
    pulled = await client.pull(etag=nothing.headers["etag"])

    assert pushed.status_code == 200
    assert pushed.json() == {"version": 1, "changed": ["ci.md"]}
    assert pulled.headers["etag"] == pushed.headers["etag"]
    assert pulled.json()["entries"] == {
        "ci.md": {
            "text": "Run the linter.",
            "sha256": sha("Run the linter."),
            "author": "ada",
            "author_verified": False,
            "trust": "said",
            "deleted": False,
            "version": 1,
        }
    }
    unchanged = await client.pull(etag=pulled.headers["etag"])
    assert unchanged.status_code == 304
    assert unchanged.content == b""


@requirement("server:pull:etag")
async def test_a_pull_since_an_etag_gives_what_changed_after_it(served: Served) -> None:
    client = served.write_client()
    first = await client.push({"a.md": entry("a"), "b.md": entry("b")})
    await client.push({"b.md": deletion(), "c.md": entry("c")})

    changed = (await client.pull(since=first.headers["etag"])).json()
    hashes = (await client.pull(view="hashes")).json()["entries"]
    foreign = (await client.pull(since='"ffffffff.1"')).json()

    assert changed["since"] == 1
    assert {path: row["deleted"] for path, row in changed["entries"].items()} == {"b.md": True, "c.md": False}
    assert all("text" not in row for row in hashes.values())
    assert {path: row["sha256"] for path, row in hashes.items()} == {
        "a.md": sha("a"),
        "b.md": sha("b"),
        "c.md": sha("c"),
    }
    assert (foreign["since"], len(foreign["entries"])) == (0, 3)


@requirement("server:push:all-or-nothing", "server:hash", "server:audit")
async def test_one_bad_entry_refuses_the_whole_batch(served: Served) -> None:
    client = served.write_client()
    before = await client.push({"a.md": entry("a")})

    lie = await client.push({"b.md": entry("b"), "c.md": {"text": "c", "sha256": sha("d")}})

    assert fault(lie) == (422, "sha256")
    assert [refused["path"] for refused in lie.json()["error"]["refused"]] == ["c.md"]
    assert (await client.pull(etag=before.headers["etag"])).status_code == 304
    assert await client.texts() == {"a.md": "a"}


@requirement("server:push:conflict")
async def test_a_push_with_an_old_etag_is_refused(served: Served) -> None:
    client = served.write_client()
    old = await client.push({"a.md": entry("1")})
    new = await client.push({"a.md": entry("2")}, etag=old.headers["etag"])

    refused = await client.push({"a.md": entry("3")}, etag=old.headers["etag"])
    without = await client.push({"a.md": entry("3")}, etag=None)

    assert fault(refused) == (412, "changed")
    assert refused.headers["etag"] == new.headers["etag"]
    assert fault(without) == (428, "precondition_required")
    assert await client.texts() == {"a.md": "2"}


@requirement("server:push:conflict")
async def test_base_hashes_let_writers_of_different_entries_pass(served: Served) -> None:
    client = served.write_client()
    await client.push({"a.md": entry("1"), "b.md": entry("1")})

    await client.push({"b.md": entry("2", base_sha256=sha("1"))}, etag=None)
    passed = await client.push({"a.md": entry("2", base_sha256=sha("1"))}, etag=None)
    late = await client.push(
        {"a.md": entry("3", base_sha256=sha("1")), "new.md": entry("n", base_sha256="")}, etag=None
    )

    assert passed.status_code == 200
    assert fault(late) == (412, "changed")
    assert late.json()["error"]["conflicts"] == {"a.md": {"sha256": sha("2"), "deleted": False, "version": 3}}
    assert await client.texts() == {"a.md": "2", "b.md": "2"}


@requirement("server:push:conflict")
async def test_a_batch_sent_again_changes_nothing(served: Served) -> None:
    client = served.write_client()
    batch = {"a.md": entry("1", base_sha256=""), "b.md": entry("2", base_sha256="")}
    first = await client.push(batch, etag=None)

    again = await client.push(batch, etag=None)

    assert again.json() == {"version": 1, "changed": []}
    assert again.headers["etag"] == first.headers["etag"]


@requirement("server:push:conflict")
async def test_of_many_writers_of_one_entry_one_wins_at_each_version(served: Served) -> None:
    client = served.write_client()
    await client.push({"a.md": entry("0")})

    answers = await asyncio.gather(
        *(client.push({"a.md": entry(str(number), base_sha256=sha("0"))}, etag=None) for number in range(1, 9))
    )

    assert sorted(answer.status_code for answer in answers) == [200] + [412] * 7
    assert (await client.pull()).json()["version"] == 2


@requirement("server:push:tombstone")
async def test_a_deletion_stays_and_a_new_entry_of_the_name_is_possible(served: Served) -> None:
    client = served.write_client()
    await client.push({"a.md": entry("1")})
    deleted = await client.push({"a.md": deletion(base_sha256=sha("1"))}, etag=None)

    late_edit = await client.push({"a.md": entry("2", base_sha256=sha("1"))}, etag=None)
    row = (await client.entries())["a.md"]
    again = await client.push({"a.md": deletion(base_sha256=sha("1"))}, etag=None)
    new = await client.push({"a.md": entry("new", base_sha256="")}, etag=None)

    assert deleted.status_code == 200
    assert fault(late_edit) == (412, "changed")
    assert late_edit.json()["error"]["conflicts"]["a.md"]["deleted"] is True
    assert (row["deleted"], row["text"], row["sha256"]) == (True, "", sha("1"))
    assert again.json()["changed"] == []
    assert new.status_code == 200
    assert await client.texts() == {"a.md": "new"}


@requirement("server:push:tombstone")
async def test_a_deleted_entry_has_no_text(served: Served) -> None:
    client = served.write_client()

    answer = await client.push({"a.md": {"deleted": True, "text": "still", "sha256": sha("still")}})

    assert fault(answer) == (422, "deleted")


@requirement("server:versions", "server:audit")
async def test_earlier_texts_are_kept_and_redacted_by_who_may(served: Served) -> None:
    ada, bob = served.write_client(member="ada"), served.write_client(member="bob")
    admin = served.client(served.token("admin"))
    for number in range(7):
        await ada.push({"a.md": entry(f"text {number}")})
    kept = [row["text"] for row in await ada.versions("a.md")]

    by_other = await bob.redact("a.md")
    by_author = await ada.redact("a.md")
    after = await ada.versions("a.md")
    await bob.push({"a.md": deletion()})
    by_admin = await admin.redact("a.md")

    assert kept == ["text 6", "text 5", "text 4", "text 3", "text 2"]
    assert fault(by_other) == (403, "forbidden")
    assert by_author.json()["redacted"] == 4
    assert [(row["text"], row["redacted"]) for row in after][:2] == [("text 6", False), (None, True)]
    assert by_admin.json()["redacted"] == 2
    assert all(row["text"] is None and not row["sha256"] for row in await ada.versions("a.md"))


@requirement("server:author")
async def test_the_author_is_the_member_of_the_token(served: Served) -> None:
    ada = served.write_client(member="ada")

    await ada.push({"a.md": entry("1", author="the boss", trust="said")})

    row = (await ada.entries())["a.md"]
    assert (row["author"], row["author_verified"], row["trust"]) == ("ada", True, "said")


@requirement("server:observable")
async def test_log_and_figures_hold_no_content_and_no_token(served: Served) -> None:
    token = served.token()
    client = served.client(token)
    await client.push({"private-plan.md": entry("the word is swordfish")})
    await client.pull()
    health = await client.http.get("/healthz")
    figures = (await client.http.get("/metrics")).text

    logged = b"".join(served.lines).decode()
    assert health.json()["status"] == "ok"
    assert 'reverie_http_requests_total{method="PUT",route="/team_memory",status="200"} 1.0' in figures
    assert [line["status"] for line in served.log] == [200, 200, 200, 200]
    assert served.log[0]["repo"] == REPO
    for secret in ("swordfish", "private-plan", token):
        assert secret not in logged + figures
    assert json.loads(served.lines[0])["milliseconds"] > 0


@requirement("server:push:all-or-nothing")
def test_the_migrations_make_the_tables_that_the_code_knows(database_url: str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from reverie.apps.server.database import open_database
    from reverie.apps.server.schema import metadata

    for _ in range(2):
        database = open_database(database_url)
        with database.engine.connect() as connection:
            assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        database.close()
