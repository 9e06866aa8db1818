"""The documents speak of what there is: files, links, commands, keys, settings, events."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import reverie
from tests.requirements import requirement

SOURCE = Path(reverie.__file__).parent
ROOT = SOURCE.parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").glob("*.md")])
_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_MODULE = re.compile(r"(?:src/reverie/)?([a-z_]+(?:/[a-z_]+)+)(?:\.py|/|\.[A-Za-z_][A-Za-z_.]*)?")


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def anchors(path: Path) -> frozenset[str]:
    """The places of a document that a link may name."""
    headings = re.findall(r"(?m)^#+ (.+)$", path.read_text(encoding="utf-8"))
    return frozenset(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)


def cells(text: str, heading: str) -> str:
    """The part of a document under one heading."""
    return text.partition(f"{heading}\n")[2].partition("\n## ")[0]


@requirement("docs:true")
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_link_leads_to_a_file_and_a_heading(document: Path) -> None:
    broken = []
    for link in _LINK.findall(document.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = document.parent / name if name else document
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)

    assert broken == []


@requirement("docs:true")
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_that_a_document_names_is_there(document: Path) -> None:
    packages = {path.name for path in SOURCE.iterdir() if path.is_dir()}
    missing = []
    for code in _CODE.findall(document.read_text(encoding="utf-8")):
        found = _MODULE.fullmatch(code)
        if found is None or found[1].partition("/")[0] not in packages:
            continue
        place = SOURCE / found[1]
        if not place.is_dir() and not place.with_suffix(".py").is_file():
            missing.append(code)

    assert missing == []


def _defined(body: list[ast.stmt]) -> dict[str, list[ast.stmt]]:
    """The functions, classes and variables of a module or a class, each with what is defined inside it."""
    names: dict[str, list[ast.stmt]] = {}
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names[name] = []
            case ast.ClassDef(name=name):
                names[name] = node.body
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                names[name] = []
    return names


def _is_defined(place: str) -> bool:
    module, _, path = place.partition(".")
    body = ast.parse((SOURCE / module).with_suffix(".py").read_text(encoding="utf-8")).body
    for name in path.split("."):
        inside = _defined(body).get(name)
        if inside is None:
            return False
        body = inside
    return True


@requirement("docs:true")
def test_the_places_of_the_architecture_exist() -> None:
    table = cells(text_of("docs/architecture.md"), "## Where do I find")
    places = re.findall(r"(?m)^\| .+? \| `([a-z_/]+/[a-z_]+\.[A-Za-z_.]+)`", table)

    assert len(places) > 20
    assert [place for place in places if not _is_defined(place)] == []


@requirement("docs:true")
def test_the_files_to_read_first_are_six_and_short() -> None:
    named = re.findall(
        r"(?m)^\d\. `([a-z_/]+\.py)`", cells(text_of("docs/architecture.md"), "## Six files to read first")
    )
    lines = sum(len((SOURCE / name).read_text(encoding="utf-8").split("\n")) for name in named)

    assert len(named) == 6
    assert lines < 900


@requirement("docs:true")
def test_the_glossary_has_one_meaning_per_word_and_names_what_exists() -> None:
    rows = re.findall(r"(?m)^\| ([^|]+) \| [^|]+ \| ([^|]+) \|$", text_of("docs/glossary.md"))[1:]
    words = [word for word, _ in rows]
    names = {name for _, places in rows for name in re.findall(r"`([A-Z]\w+)`", places)}
    bodies = (ast.parse(path.read_text(encoding="utf-8")).body for path in SOURCE.rglob("*.py"))
    defined = {name for body in bodies for name in _defined(body)}

    assert len(words) > 40
    assert words == sorted(set(words), key=str.lower)
    assert names - defined == set()


@requirement("docs:true")
def test_the_code_cites_no_paper_that_is_not_in_the_repository() -> None:
    citation = re.compile(
        r"(?i)\b(?:spec|product|style|house|contract|issue|findings?|critique) (?:\u00a7 ?)?\d|product\s+promise|\u00a7"
    )
    folders = (SOURCE.parent, ROOT / "tests", ROOT / "bench")
    sources = [path for folder in folders for path in folder.rglob("*") if path.suffix in {".py", ".md"}]

    cited = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
        if citation.search(line)
    ]

    assert len(sources) > 600
    assert cited == []


@requirement("docs:true")
def test_the_readme_is_short_and_has_its_parts() -> None:
    readme = text_of("README.md")
    parts = re.findall(r"(?m)^## (.+)$", readme)

    assert len(readme.split("\n")) < 160
    assert sum(part.startswith("Quick start") for part in parts) == 3
    assert {"Compared", "Figures", "Documents"} <= set(parts)
    assert readme.count("<!-- figures -->") == readme.count("<!-- /figures -->") == 1


@requirement("docs:true")
def test_every_document_is_in_the_sidebar_of_the_site() -> None:
    from runpy import run_path

    sidebar = run_path(str(ROOT / "docs" / "conf.py"))["SIDEBAR"]
    listed = {f"{page}.md" for pages in sidebar.values() for page in pages if not page.startswith("/")}
    pages = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}

    assert {page for page in pages if not page.startswith("adr/0")} == listed


@requirement("docs:true")
def test_the_messages_of_the_troubleshooting_page_are_those_of_the_program() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py")))
    code = re.sub(r'"\s*\n\s*f?"', "", code)
    rows = re.findall(r"(?m)^\| `([^`]+ [^`]+)`", text_of("docs/troubleshooting.md"))
    pieces = {piece.strip() for row in rows for piece in re.split(r"[…`]", row) if len(piece.strip()) > 8}

    assert len(rows) > 25
    assert sorted(piece for piece in pieces if piece not in code) == ["reverie: command not found"]


@requirement("docs:true")
def test_every_slash_command_is_explained() -> None:
    from reverie.apps.tui.commands import COMMANDS

    words = {word.split()[0] for word in _CODE.findall(text_of("docs/session.md")) if re.match(r"/[a-z]", word)}

    assert {f"/{command.name}" for command in COMMANDS} <= words


@requirement("docs:true")
def test_the_guide_names_the_permission_modes() -> None:
    from reverie.permissions.policy import Mode

    table = cells(text_of("docs/session.md"), "## Permissions")
    named = set(re.findall(r"(?m)^\| `(\w+)` \|", table))

    assert named >= {str(mode) for mode in Mode}


@requirement("docs:true")
def test_the_hook_events_of_the_guide_are_those_that_fire() -> None:
    from reverie.extensions.hooks.events import EVENTS

    told = cells(text_of("docs/session.md"), "## Hooks").partition("These events fire")[2]
    fires, _, never = told.partition("These are read and never fire")
    named = {word for word in _CODE.findall(fires) if word in EVENTS}
    explained = set(re.findall(r"`(\w+)`", "".join(re.findall(r"(?m)^\|([^|]*)\|", never))))
    code = "\n".join(
        path.read_text(encoding="utf-8") for part in ("session",) for path in (SOURCE / part).rglob("*.py")
    )

    assert named == {name for name in EVENTS if f'"{name}"' in code}
    assert explained == EVENTS.keys() - named


@requirement("docs:true")
@pytest.mark.parametrize("document", ["README.md", "docs/session.md", "docs/background.md", "docs/formats.md"])
def test_a_setting_that_a_guide_names_is_there(document: str) -> None:
    from reverie.settings.schema import keys

    known = {".".join(path) for path in keys()}
    areas = {name.partition(".")[0] for name in known if "." in name}
    named = {code.partition(" = ")[0] for code in _CODE.findall(text_of(document))}
    settings = {name for name in named if re.fullmatch(r"[a-z_]+(\.[a-z_]+)+", name) and name.split(".")[0] in areas}

    assert settings - known == set()


@requirement("docs:true")
def test_the_layers_of_the_documents_are_those_that_are_checked() -> None:
    import tomllib

    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    drawn = text_of("docs/adr/0006-layers.md").partition("```text\n")[2].partition("```")[0]
    table = cells(text_of("docs/architecture.md"), "## Layers")
    rows = re.findall(r"(?m)^\| (`[^|]+) \|", table)

    assert drawn.strip().split("\n") == layers
    assert [" | ".join(_CODE.findall(row)) for row in rows] == layers
