"""Access to the system clipboard: text through tmux, pictures through `wl-paste`, `xclip` or `pngpaste`."""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

_SECONDS = 2.0
_IMAGE_PROGRAMS = (
    ("wl-paste", "--no-newline", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-target", "image/png", "-out"),
    ("pngpaste", "-"),
)
_PNG = b"\x89PNG\r\n\x1a\n"


def copy_to_tmux(text: str) -> None:
    """Hand a text to the tmux around us, which passes it on to the terminal's clipboard; never fails."""
    with suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            ["tmux", "load-buffer", "-w", "-"], input=text.encode(), capture_output=True, check=False, timeout=_SECONDS
        )


def save_clipboard_image() -> Path | None:
    """Write the picture on the clipboard to a private temporary file; None where there is none or no program for it."""
    for command in _IMAGE_PROGRAMS:
        with suppress(OSError, subprocess.SubprocessError):
            data = subprocess.run(command, capture_output=True, check=False, timeout=_SECONDS).stdout
            if data.startswith(_PNG):
                handle, name = tempfile.mkstemp(prefix="pasted-", suffix=".png")
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                return Path(name)
    return None
