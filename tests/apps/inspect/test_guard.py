from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from tests.apps.inspect.kit import ORIGIN, TOKEN, Browser, save
from tests.person import Person
from tests.requirements import requirement


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "harbour").mkdir()
    return tmp_path / "harbour"


@requirement("inspect:guard:token")
async def test_the_address_works_once(person: Person, project: Path) -> None:
    browser = Browser(person, project)
    stranger = httpx2.AsyncClient(transport=httpx2.ASGITransport(browser.app), base_url=ORIGIN)

    assert (await stranger.get("/memories")).status_code == 403
    assert (await stranger.get("/?token=wrong")).status_code == 403
    assert (await browser.get("/memories")).status_code == 200
    again = await stranger.get(f"/?token={TOKEN}")
    assert again.status_code == 403
    assert "reverie inspect" in again.text


@requirement("inspect:guard:sites")
async def test_other_sites_read_and_change_nothing(person: Person, project: Path) -> None:
    with person.open(project) as memory:
        path = save(memory, "Tabs", "Use tabs.")
    browser = Browser(person, project)

    assert (await browser.get("/memories", host="evil.example:4000")).status_code == 421
    for headers in ({"origin": "http://evil.example"}, {"origin": "null"}, {"origin": "http://127.0.0.1:5000"}):
        assert (await browser.post(f"/memories/project/{path}/forget", **headers)).status_code == 403
    read_only = Browser(person, project, can_edit=False)
    refused = await read_only.post(f"/memories/project/{path}/forget")
    assert refused.status_code == 403
    assert "--edit" in refused.text
    with person.open(project) as memory:
        assert memory.read(path).body == "Use tabs."


@requirement("inspect:guard:headers")
async def test_a_page_loads_nothing_from_elsewhere(person: Person, project: Path) -> None:
    headers = (await Browser(person, project).get("/memories")).headers

    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert headers["cache-control"] == "no-store"
