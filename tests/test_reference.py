"""The reference pages are what the code says."""

from __future__ import annotations

import pytest
from release.reference import FOLDER, PAGES, RESULTS, write_python_page

from reverie.apps.cli.program import COMMANDS
from tests.requirements import requirement


@requirement("docs:reference")
@pytest.mark.parametrize("name", PAGES)
def test_a_reference_page_is_what_the_code_says(name: str) -> None:
    committed = (FOLDER / name).read_text(encoding="utf-8")

    assert committed == PAGES[name](), "run `python -m release.reference`"


@requirement("docs:reference")
def test_the_pages_have_every_command_and_every_public_name() -> None:
    import reverie

    commands = PAGES["cli.md"]()
    names = write_python_page()

    assert [listed.name for listed in COMMANDS if f"### `reverie {listed.name}`" not in commands] == []
    assert [name for name in reverie.__all__ if name != "__version__" and f"## `{name}`" not in names] == []
    assert [name for values in RESULTS.values() for _, name in values if f"### `{name}`" not in names] == []
