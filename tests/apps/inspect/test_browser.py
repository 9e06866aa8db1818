"""The page in a real Chromium; the project's script installs it (`.ci/system-tools`)."""

from __future__ import annotations

import asyncio
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.apps.inspect.kit import HOSTILE, save
from tests.apps.inspect.test_hostile import write_session
from tests.person import Person
from tests.requirements import requirement

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(600),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; run .ci/system-tools to install it"),
]
PAGES = ("memories", "refused", "sessions", "sessions/s-1", "background", "cost", "relations")


@pytest.fixture
def project(person: Person, tmp_path: Path) -> Path:
    project = person.repository(tmp_path / "harbour")
    (project / "app.py").write_text("x = 1\n", encoding="utf-8")
    with person.open(project) as memory:
        save(memory, "Staging database", "The staging database runs on kiwi, see `app.py`.", "project")
        save(memory, f"Hostile {HOSTILE}", f"{HOSTILE} <img src=x onerror=alert(2)> [go](javascript:alert(3))")
        for name, part in (("Release", "release"), ("Freeze", "freeze")):
            memory.save(
                name=name,
                description=name,
                type="project",
                body=f"We {part} tomorrow.",
                observed=date(2026, 4, 1),
            )
        asyncio.run(memory.dreams.run("nothing"))
    write_session(person.home / ".claude" / "projects" / "-harbour", str(project))
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


@requirement("inspect:browser", "inspect:command", "inspect:accessible", "inspect:hostile")
def test_the_page_in_a_browser(person: Person, project: Path, address: str) -> None:
    ran: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda problem: ran.append(str(problem)))
        page.on("console", lambda line: ran.append(line.text) if line.type == "error" else None)
        page.goto(address)
        root = address.partition("?")[0]
        search_and_open(page)
        edit_and_undo(page)
        page.on("dialog", lambda dialog: ran.append(dialog.message))
        look_at_all(page, root)
        read_a_session(page, root)
        review_a_dream(page, root)
        browser.close()
    assert ran == []
    with person.open(project) as memory:
        assert "2026-04-02" in memory.read("Release").body
        assert "tomorrow." in memory.read("Freeze").body


def search_and_open(page: Any) -> None:
    """With the keyboard alone."""
    page.keyboard.press("/")
    page.keyboard.type("kiwi database")
    page.wait_for_selector(".why")
    assert page.locator("ul.rows li").count() == 1
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector(".prose:has-text('kiwi')")


def edit_and_undo(page: Any) -> None:
    page.keyboard.press("e")
    page.fill("textarea", "The staging database runs on mango.")
    page.click("button:has-text('Save')")
    page.wait_for_selector(".prose:has-text('mango')")
    page.locator("button:has-text('Undo this change')").first.click()
    page.wait_for_selector(".prose:has-text('kiwi')")


def look_at_all(page: Any, root: str) -> None:
    """Each page has its place on a phone, in light and dark, and nothing that a check of accessibility minds."""
    from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

    page.goto(f"{root}memories")
    hostile = page.locator(".row-name:has-text('Hostile')").get_attribute("href")
    pages = [*PAGES, hostile.removeprefix("/")]
    wide = "[...document.querySelectorAll('main, main *, .bar *')].filter(e => e.getBoundingClientRect().right > 391"
    wide += " && !e.closest('.table, .graph, .sr')).map(e => e.outerHTML.slice(0, 80))"
    for scheme, width in (("light", 1280), ("dark", 390)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 844})
        for each in pages:
            page.goto(f"{root}{each}")
            page.wait_for_load_state("networkidle")
            violations = Axe().run(page).response["violations"]
            assert [(one["id"], one["nodes"][0]["html"][:200]) for one in violations] == [], (each, scheme)
            assert width > 390 or page.evaluate(wide) == [], each


def read_a_session(page: Any, root: str) -> None:
    """The plot follows the arrow keys and the width of the page, and a search finds its place."""
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"{root}sessions/s-1")
    page.wait_for_selector(".plot canvas")
    page.set_viewport_size({"width": 700, "height": 900})
    # The page forbids scripts that wait for more than the presence of something.
    sync_api.expect(page.locator(".plot .uplot").first).to_have_css(
        "width", re.compile(r"^[1-6]\d\dpx|^[1-6]\d\d\.\d+px")
    )
    page.locator(".plot [role=group]").first.focus()
    page.keyboard.press("End")
    page.wait_for_selector(".plot .now:has-text('request 2')")
    page.set_viewport_size({"width": 1000, "height": 900})
    sync_api.expect(page.locator(".plot .uplot").first).to_have_css("width", re.compile(r"^[7-9]\d\d(\.\d+)?px"))
    page.wait_for_selector(".plot .now:has-text('request 2')")
    page.fill("#transcript-title ~ form input[type=search]", "onmouseover")
    page.wait_for_selector("#transcript mark")
    page.locator("#transcript a:has-text('in its place')").first.click()
    page.wait_for_selector(".message.target")


def review_a_dream(page: Any, root: str) -> None:
    """Take one piece, leave the other."""
    page.goto(f"{root}background")
    hunks = page.locator("fieldset.hunk")
    assert hunks.count() == 2
    page.locator("fieldset.hunk:has-text('freeze') input").uncheck()
    page.click("button:has-text('Apply')")
    page.wait_for_selector("text=Applied.")
