"""The pictures of the web page in the README, of the demonstration's home: `make pictures`.

Looked at before they are committed: what a person would not understand at once is no picture for the README.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import FloatRect, Page, ViewportSize, sync_playwright

PICTURES = Path(__file__).parents[3] / "docs" / "pictures"
MOST_BYTES = 150_000
SIZE = ViewportSize(width=1200, height=760)


def main() -> int:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("no Chromium; run .ci/system-tools to install it")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        environment = {"HOME": folder, "PATH": os.environ["PATH"]}
        command = [sys.executable, "-m", "reverie", "inspect", "--demo", "--edit", "--no-browser"]
        with subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.PIPE, text=True) as program:
            assert program.stdout is not None
            address = program.stdout.readline().strip()
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
                page = browser.new_page(viewport=SIZE)
                page.set_default_timeout(120_000)
                page.goto(address)
                take_all(page, address.partition("?")[0])
                browser.close()
            program.send_signal(signal.SIGINT)
    large = [file.name for file in PICTURES.glob("inspect-*.png") if file.stat().st_size > MOST_BYTES]
    print(f"larger than {MOST_BYTES:,} bytes: {', '.join(large)}" if large else f"written to {PICTURES}")
    return bool(large)


def take_all(page: Page, root: str) -> None:
    """One picture for each thing that is worth a look."""
    page.goto(f"{root}memories?q=may+I+mock+the+database+in+a+test%3F")
    take(page, "memories", "light", height=540)
    page.goto(f"{root}sessions")
    links = page.locator(".row", has_text="message").all()
    longest = max(links, key=lambda row: _messages(row.inner_text()))
    longest.locator(".row-name").click()
    page.wait_for_selector(".plot canvas")
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(500)
    page.locator(".plot [role=group]").first.hover(position={"x": 640, "y": 120})
    take(page, "session", "dark")
    page.goto(f"{root}background")
    take(page, "dream", "light")
    page.goto(f"{root}relations")
    page.wait_for_selector(".graph svg")
    take(page, "relations", "dark")


def take(page: Page, name: str, scheme: str, height: int = 760) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(300)
    clip = FloatRect(x=0, y=0, width=SIZE["width"], height=height)
    page.screenshot(path=PICTURES / f"inspect-{name}.png", clip=clip)


def _messages(text: str) -> int:
    words = text.replace(",", "").replace("~", "").split()
    return max((int(words[at - 1]) for at, word in enumerate(words) if word.startswith("message")), default=0)


if __name__ == "__main__":
    sys.exit(main())
