from __future__ import annotations

from reverie.agents.built_in import built_in
from tests.requirements import requirement


@requirement("agents:found:built-in")
def test_every_built_in_role_has_a_prompt_and_is_without_fault() -> None:
    for role in built_in():
        assert len(role.prompt) > 100
        assert role.problems == ()
        assert role.source == "built-in"
