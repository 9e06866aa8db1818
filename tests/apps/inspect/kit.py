"""The page of a project, asked without a browser."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import httpx2

from reverie import Memory
from reverie.apps.inspect.app import build_app
from reverie.apps.inspect.page import Inspected
from reverie.settings.load import SettingsFlags, from_process
from tests.person import Person

ORIGIN = "http://127.0.0.1:4000"
TOKEN = "opened"
HOSTILE = "<script>alert(1)</script>"


class Browser:
    """Asks as the browser does that came with the token."""

    def __init__(self, person: Person, project: Path, *, can_edit: bool = True) -> None:
        homes = (f"home={person.settings.home}", f"config_home={person.settings.config_home}")
        flags = SettingsFlags(project=project, assignments=homes)
        self.inspected = Inspected(
            from_process(flags), project, lambda: person.open(project), can_edit=can_edit, now=person.clock
        )
        self.app = build_app(self.inspected, port=4000, token=TOKEN)
        self.client = httpx2.AsyncClient(transport=httpx2.ASGITransport(self.app), base_url=ORIGIN)

    async def get(self, path: str, **headers: str) -> httpx2.Response:
        if not self.client.cookies:
            await self.client.get(f"/?token={TOKEN}")
        return await self.client.get(path, headers=headers)

    async def post(self, path: str, *fields: tuple[str, str], **headers: str) -> httpx2.Response:
        if not self.client.cookies:
            await self.client.get(f"/?token={TOKEN}")
        content = urlencode(fields)
        form = {"content-type": "application/x-www-form-urlencoded", "origin": ORIGIN}
        return await self.client.post(path, content=content, headers=form | headers)


def save(memory: Memory, name: str, body: str, kind: str = "feedback") -> str:
    return memory.save(name=name, description=body[:60], type=kind, body=body).path
