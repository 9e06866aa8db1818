"""What we promise of plugins and of the servers that are named in files."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "plugins:servers:read": Requirement(
        "Servers of `.mcp.json`, of the host's state file, of our home and of plugins become values with their place."
    ),
    "plugins:servers:precedence": Requirement(
        "Of servers with one name the nearest source counts as a whole: local, project, user, plugin."
    ),
    "plugins:servers:variables": Requirement(
        "`${VAR}` and `${VAR:-default}` are filled in; an unset variable stays as written and is named."
    ),
    "plugins:servers:trust": Requirement(
        "A server that came with the project waits until the user agreed to it, and hides nobody until then."
    ),
    "plugins:servers:broken": Requirement("A broken entry is named with its file and left out; the others stay."),
    "plugins:servers:secrets": Requirement(
        "What a server is given in variables is not shown when the value is printed or asked about."
    ),
    "plugins:found:enabled": Requirement(
        "Enabled plugins are found where the host installed them, in our home, and in folders that a flag names."
    ),
    "plugins:found:trust": Requirement(
        "A file that came with the project switches a plugin on only when the user trusts the project."
    ),
    "plugins:parts:read": Requirement(
        "A plugin brings hooks, skills, commands, agents and servers, from their folders and from its manifest."
    ),
    "plugins:parts:inside": Requirement(
        "Nothing that a plugin names lies outside its folder, not even through a link."
    ),
    "plugins:parts:broken": Requirement("A broken plugin is named and left out; a broken part costs only itself."),
    "plugins:front-matter": Requirement(
        "The head of a Markdown file is read as texts, lists and flags in the words people use, and forgives colons."
    ),
}
