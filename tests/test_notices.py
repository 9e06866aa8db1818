"""Every dependency is on the page of licences."""

from __future__ import annotations

import re

from release.notices import PAGE, list_direct_dependencies, list_shipped_rows

from tests.requirements import requirement


@requirement("docs:licences")
def test_every_dependency_is_listed_with_its_licence_and_what_brings_it() -> None:
    rows = re.findall(r"(?m)^\| ([a-z0-9.-]+) \| ([^|]+) \| ([a-z, -]+) \|$", PAGE.read_text(encoding="utf-8"))
    listed = {(name, group) for name, licence, groups in rows for group in groups.split(", ") if licence.strip()}
    named = {
        (requirement.name.lower(), group)
        for group, requirements in list_direct_dependencies().items()
        for requirement in requirements
    }

    assert named - listed == set(), "run `python -m release.notices` where all extras are installed"
    assert {(name, group) for name, group in listed - named if group in list_direct_dependencies()} == set()


@requirement("docs:licences")
def test_files_of_others_in_the_package_are_listed_and_no_more_than_these() -> None:
    shipped = list(list_shipped_rows())

    assert shipped
    assert PAGE.read_text(encoding="utf-8").rstrip().endswith("| --- | --- | --- |\n" + "\n".join(shipped))
