"""The page in a real Chromium; the project's script installs it (`.ci/system-tools`)."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from tests.apps.inspect.kit import HOSTILE, save
from tests.person import Person
from tests.requirements import requirement

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; run .ci/system-tools to install it"),
]


@pytest.fixture
def project(person: Person, tmp_path: Path) -> Path:
    project = person.repository(tmp_path / "harbour")
    with person.open(project) as memory:
        save(memory, "Staging database", "The staging database runs on kiwi.", "project")
        save(memory, f"Hostile {HOSTILE}", f"{HOSTILE} <img src=x onerror=alert(2)> [go](javascript:alert(3))")
        memory.save(
            name="Release",
            description="release",
            type="project",
            body="We release tomorrow.",
            observed=date(2026, 4, 1),
        )
    return project


@pytest.fixture
def address(person: Person, project: Path) -> Iterator[str]:
    """The running program; ends with Ctrl-C and without a word."""
    environment = {"HOME": str(person.home), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-m", "reverie", "--project", str(project), "inspect", "--edit", "--no-browser"]
    program = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert program.stdout is not None
    yield program.stdout.readline().strip()
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=60)
    assert "Traceback" not in errors


@requirement("inspect:browser", "inspect:command")
def test_search_edit_undo_and_review_in_a_browser(person: Person, project: Path, address: str) -> None:
    ran: list[str] = []
    with person.open(project) as memory:
        import asyncio

        asyncio.run(memory.dreams.run("nothing"))
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda problem: ran.append(str(problem)))
        page.goto(address)

        page.keyboard.press("/")
        page.keyboard.type("kiwi database")
        page.wait_for_selector(".why")
        assert page.locator("ul.rows li").count() == 1

        page.click("text=Staging database")
        page.click("summary:has-text('Edit')")
        page.fill("textarea", "The staging database runs on mango.")
        page.click("button:has-text('Save')")
        page.wait_for_selector("article:has-text('mango')")
        page.locator("button:has-text('Undo this change')").first.click()
        page.wait_for_selector("article:has-text('kiwi')")

        page.on("dialog", lambda dialog: ran.append(dialog.message))
        page.goto(f"{address.split('?', maxsplit=1)[0]}memories")
        page.click("text=Hostile")
        page.wait_for_selector("article")
        page.set_viewport_size({"width": 390, "height": 800})
        wide = "e => e.getBoundingClientRect().right > 391"
        wide = f"[...document.querySelectorAll('*')].filter({wide}).map(e => e.outerHTML.slice(0, 80))"
        assert page.evaluate(wide) == []

        page.goto(f"{address.split('?', maxsplit=1)[0]}background")
        page.uncheck("input[name=hunk] >> nth=0")
        page.check("input[name=hunk] >> nth=0")
        page.click("button:has-text('Apply')")
        page.wait_for_selector("text=Applied.")
        browser.close()
    assert ran == []
    with person.open(project) as memory:
        assert "2026-04-02" in memory.read("Release").body
