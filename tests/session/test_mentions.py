from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reverie.messages.blocks import Json
from reverie.session.events import Attached
from reverie.session.mentions import find_mentions
from tests.requirements import requirement
from tests.session.session_desk import Desk, desk, told

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def sent(at: Desk, text: str) -> dict[str, Any]:
    async with at.start() as session:
        await told(session, text)
    return at.bodies[0]


@requirement("session:mentions:attached")
@pytest.mark.parametrize("words", ["what is wrong in @src/a.py?", 'look at @"src/a.py", please', "(@src/a.py) why"])
async def test_a_file_that_is_named_is_in_the_first_request(tmp_path: Path, words: str) -> None:
    with desk(tmp_path, [{"then": "fine"}]) as at:
        at.file("src/a.py", "def last(rows):\n    return rows[:-1]\n")

        body = await sent(at, words)

        assert "return rows[:-1]" in json.dumps(body["messages"])


@requirement("session:mentions:attached")
async def test_a_picture_goes_as_a_picture_and_lines_as_lines(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine"}]) as at:
        (at.project / "shot one.png").write_bytes(PIXEL)
        at.file("long.txt", "\n".join(f"line {number}." for number in range(1, 101)))

        body = await sent(at, 'compare @"shot one.png" with @long.txt#L40-41')

        blocks = [block for message in body["messages"] for block in message["content"] if isinstance(block, dict)]
        assert [block["source"]["media_type"] for block in blocks if block["type"] == "image"] == ["image/png"]
        text = json.dumps(blocks)
        assert "line 40." in text
        assert "line 41." in text
        assert "line 42." not in text


@requirement("session:mentions:attached")
async def test_words_that_wait_for_a_boundary_bring_their_files_too(tmp_path: Path) -> None:
    read: Json = {"tool_calls": [{"name": "Glob", "input": {"pattern": "*"}}]}
    with desk(tmp_path, [{"when": {"request": 1}, "then": read}, {"then": "fine"}]) as at:
        at.file("later.txt", "the later words\n")
        async with at.start() as session:
            async for event in session.send("begin"):
                if type(event).__name__ == "ToolStarted":
                    session.queue("and see @later.txt")

        assert "the later words" in json.dumps(at.bodies[-1]["messages"])


@requirement("session:mentions:bounded")
async def test_what_has_no_room_is_named_and_the_session_goes_on(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine"}]) as at:
        at.options["window_tokens"] = 40_000
        for name in ("a.log", "b.log"):
            at.file(name, "\n".join(f"{number} {name} was written at length" for number in range(20_000)))
        async with at.start() as session:
            events = await told(session, "compare @a.log and @b.log")

        text = json.dumps(at.bodies[-1]["messages"])
        assert "5 a.log was written" in text
        assert "not attached: the other attachments have taken the room" in text
        assert next(event.summary for event in events if isinstance(event, Attached) and event.kind == "file") == (
            "attached a.log"
        )


@requirement("session:mentions:denied")
async def test_a_deny_rule_holds_for_what_the_user_names(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine"}]) as at:
        at.settings = replace(at.settings, permissions=replace(at.settings.permissions, deny=("Read(/private.txt)",)))
        at.file("private.txt", "the hidden words\n")

        text = json.dumps((await sent(at, "show @private.txt"))["messages"])

        assert "the hidden words" not in text
        assert "a permission rule denies reading it" in text


@requirement("session:mentions:attached")
async def test_names_of_people_mail_and_code_are_no_files(tmp_path: Path) -> None:
    with desk(tmp_path) as at:
        at.file("mira", "x")
        at.file("example.org", "x")
        async with at.start() as session:
            where = session.parts.desk
            assert find_mentions("ask me@example.org or `@mira` or @nobody, @pytest.fixture", where) == []
            assert [one.path.name for one in find_mentions("@mira. @mira", where)] == ["mira"]
