from __future__ import annotations

import textwrap
import tomllib

from reverie.session.subagents.definitions.built_in import built_in
from reverie.settings.documents import givens_of_vendor
from reverie.settings.schema import keys
from reverie.settings.values import read
from tests.requirements import requirement


@requirement("agents:found:built-in")
def test_every_built_in_role_has_a_prompt_and_is_without_fault() -> None:
    for role in built_in():
        assert len(role.prompt) > 100
        assert role.problems == ()
        assert role.source == "built-in"


@requirement("agents:found:built-in")
def test_what_the_status_line_role_writes_is_a_setting() -> None:
    (role,) = (one for one in built_in() if one.name == "statusline-setup")
    written = tomllib.loads(textwrap.dedent(role.prompt.partition("```toml\n")[2].partition("```")[0]))

    assert read(keys()["status_line", "command"], written["status_line"]["command"]) == "sh ~/.reverie/status-line.sh"
    assert [given.path for given in givens_of_vendor({"statusLine": {"type": "command", "command": "x"}}, str)] == [
        ("status_line", "command")
    ]
