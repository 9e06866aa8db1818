"""The launchers in `<home>/bin`: fixed paths for the settings of other agents, whatever Python we are installed in.

Agents ask for trust again when the text of a command changes, so the text names a launcher and never changes; upgrades
rewrite the launcher.
"""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote

from reverie.errors import Error
from reverie.files import write_atomic

_HEAD = """#!/bin/sh
# Written by `reverie install` and rewritten by upgrades; settings of other agents name this path.
{home}python={python}
"""
_HOOK = """if [ -x "$python" ]; then "$python" -P -m reverie hook "$@" 2>/dev/null
elif [ -z "$REVERIE_LAUNCHER" ]; then REVERIE_LAUNCHER=1 reverie hook "$@" 2>/dev/null; fi
exit 0
"""
_PROGRAM = """if [ -x "$python" ]; then exec "$python" -P -m reverie "$@"; fi
[ -z "$REVERIE_LAUNCHER" ] || { echo "reverie is no longer installed; run reverie install again" >&2; exit 1; }
REVERIE_LAUNCHER=1 exec reverie "$@"
"""


def hook_launcher(home: Path) -> Path:
    """What hooks start; it ends with 0 whatever happens."""
    return home / "bin" / "reverie-hook"


def program_launcher(home: Path) -> Path:
    """The program itself, for MCP entries."""
    return home / "bin" / "reverie"


def write_launchers(home: Path, user_home: Path) -> None:
    """Write both launchers for the Python that runs now, where they are not as they should be."""
    named_home = (
        "" if home == user_home / ".reverie" else f'REVERIE_HOME="${{REVERIE_HOME:-{home}}}"\nexport REVERIE_HOME\n'
    )
    head = _HEAD.format(home=named_home, python=quote(sys.executable))
    for path, body in ((hook_launcher(home), _HOOK), (program_launcher(home), _PROGRAM)):
        text = head + body
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write_atomic(path, text)
        if path.stat().st_mode & 0o777 != 0o700:
            path.chmod(0o700)


def renew_launchers(home: Path, user_home: Path) -> None:
    """Rewrite launchers that exist and are of another version or another Python that is gone; never fails."""
    path = hook_launcher(home)
    try:
        text = path.read_text(encoding="utf-8")
        python = text.partition("\npython=")[2].partition("\n")[0].strip("'\"")
        if python == sys.executable or not Path(python).exists():
            write_launchers(home, user_home)
    except (OSError, Error):
        return
