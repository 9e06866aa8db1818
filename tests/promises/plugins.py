"""What we promise of plugins and of the servers that are named in files."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "plugins:servers:read": Requirement(
        "Servers of `.mcp.json`, of the host's state file, of our home and of plugins become values with their place.",
        source="spec 8 §1.9; issue 5, item 8",
    ),
    "plugins:servers:precedence": Requirement(
        "Of servers with one name the nearest source counts as a whole: local, project, user, plugin.",
        source="spec 8 §1.9",
    ),
    "plugins:servers:variables": Requirement(
        "`${VAR}` and `${VAR:-default}` are filled in; an unset variable stays as written and is named.",
        source="spec 8 §1.9",
    ),
    "plugins:servers:trust": Requirement(
        "A server that came with the project waits until the user agreed to it, and hides nobody until then.",
        source="spec 7, row 63; spec 8 §1.7",
    ),
    "plugins:servers:broken": Requirement(
        "A broken entry is named with its file and left out; the others stay.", source="spec 8 §1.9"
    ),
    "plugins:servers:secrets": Requirement(
        "What a server is given in variables is not shown when the value is printed or asked about.",
        source="issue 5, item 8",
    ),
}
