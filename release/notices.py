"""Writes `NOTICES.md`: the licences of what Reverie depends on, directly and through others, and of what it ships.

`python -m release.notices` reads the metadata of the installed packages, so all extras must be installed (`make test`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "NOTICES.md"
_OPENING = """\
# Licences of dependencies

Reverie itself is under Apache-2.0 ([LICENSE](LICENSE)). This page is written by `python -m release.notices` from the
metadata of the packages; a test checks that every dependency is on it. Nothing below is copied into the package, except
what is named last.
"""
_SHIPPED = """\
## Shipped in the package

| what | version | licence |
| --- | --- | --- |
"""


def list_direct_dependencies() -> dict[str, list[Requirement]]:
    """The requirements by what brings them: `core`, or the name of an extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups: Mapping[str, list[str]] = {"core": project["dependencies"], **project["optional-dependencies"]}
    return {
        name: [requirement for text in texts if (requirement := Requirement(text)).name != project["name"]]
        for name, texts in groups.items()
        if name != "all"
    }


def write_page() -> str:
    """The page; raises `PackageNotFoundError` where a direct dependency is not installed."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _OPENING
    groups = list_direct_dependencies()
    direct: dict[str, list[str]] = {}
    for group, requirements in groups.items():
        for requirement in requirements:
            direct.setdefault(canonicalize_name(requirement.name), []).append(group)
    yield "## Named by the project\n\n| package | licence | brought by |\n| --- | --- | --- |"
    for name in sorted(direct):
        yield f"| {name} | {_licence(distribution(name))} | {', '.join(sorted(set(direct[name])))} |"
    reached = sorted(_reach(requirement for requirements in groups.values() for requirement in requirements))
    yield "\n## Needed by these\n\n| package | licence |\n| --- | --- |"
    yield from (f"| {name} | {_licence(distribution(name))} |" for name in reached if name not in direct)
    yield "\n" + _SHIPPED + "\n".join(list_shipped_rows())


def _reach(requirements: Iterator[Requirement]) -> set[str]:
    """The names of all installed packages that these lead to."""
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = list(requirements)
    while waiting:
        requirement = waiting.pop()
        place = (canonicalize_name(requirement.name), frozenset(requirement.extras))
        try:
            found = distribution(place[0])
        except PackageNotFoundError:
            continue
        if place in seen:
            continue
        seen.add(place)
        for text in found.requires or ():
            inner = Requirement(text)
            if inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in ("", *place[1])):
                waiting.append(inner)
    return {name for name, _ in seen}


def _licence(package: Distribution) -> str:
    about = package.metadata
    stated = {name: (about[name] or "").strip() for name in ("License-Expression", "License") if name in about}
    classified = [
        line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or [] if line.startswith("License :: ")
    ]
    free_text = stated.get("License", "").partition("\n")[0]
    return (
        stated.get("License-Expression")
        or ", ".join(classified)
        or (free_text if 0 < len(free_text) < 60 else "")
        or _read_licence_file(package)
    )


def _read_licence_file(package: Distribution) -> str:
    """What the licence file says, where the metadata names no licence."""
    texts = [file.read_text() for file in package.files or () if file.name.upper().startswith("LICEN")]
    return "MIT" if any("Permission is hereby granted, free of charge" in text for text in texts) else "unknown"


def list_shipped_rows() -> Iterator[str]:
    """A row for each project of which files are in the package."""
    notice = ROOT / "src" / "reverie" / "apps" / "inspect" / "static" / "NOTICE"
    for line in notice.read_text(encoding="utf-8").split("\n"):
        found = re.match(r".+  (?P<what>\w[\w ]*) (?P<version>[\d.]+), (?P<licence>.+)", line)
        if found:
            yield f"| {found['what']} | {found['version']} | {found['licence']} |"


if __name__ == "__main__":
    PAGE.write_text(write_page(), encoding="utf-8")
