"""The code describes itself truly: reading orders, documents, exports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from tokenize import COMMENT, NL, STRING, generate_tokens

import pytest

import reverie
from tests.requirements import requirement

SOURCE = Path(reverie.__file__).parent
ROOT = SOURCE.parent.parent
PACKAGES = sorted(path.parent for path in SOURCE.rglob("__init__.py"))


@requirement("docs:packages:reading-order")
@pytest.mark.parametrize("package", PACKAGES[1:], ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_package_names_all_its_modules(package: Path) -> None:
    docstring = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
    modules = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
    folders = {path.parent.name for path in package.glob("*/__init__.py")}

    if package.name == "cli":
        from reverie.apps.cli.program import COMMANDS

        modules -= {listed.module for listed in COMMANDS}
    unnamed = {name for name in modules | folders if f"`{name}`" not in docstring}

    assert unnamed == set()


@requirement("docs:packages:reading-order")
def test_every_module_says_what_it_owns() -> None:
    silent = []
    for path in SOURCE.rglob("*.py"):
        with path.open(encoding="utf-8") as file:
            tokens = (each for each in generate_tokens(file.readline) if each.type not in (COMMENT, NL))
            first = next(tokens)
        if first.type != STRING or not first.string.strip("'\""):
            silent.append(str(path.relative_to(SOURCE)))
    assert silent == []


@requirement("docs:exports")
def test_public_names_are_there_and_load_when_asked_for() -> None:
    for name in reverie.__all__:
        assert getattr(reverie, name) is not None
    code = "import sys, reverie; print(len([m for m in sys.modules if m.startswith('reverie')]))"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.strip() == "1"


@requirement("docs:examples:run")
@pytest.mark.parametrize("example", sorted((ROOT / "docs" / "examples").glob("*.py")), ids=lambda path: path.name)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}

    ran = subprocess.run(
        [sys.executable, str(example)], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout


@requirement("docs:no-machine-paths")
def test_no_file_names_this_machine_or_a_registry() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode != 0:
        pytest.skip("not a git checkout")
    forbidden = ["/" + "root/", "pypi" + ".org", "npmjs" + ".org", "files.python" + "hosted"]
    for name in tracked.stdout.split("\n"):
        path = ROOT / name
        if not name or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="ignore")
        assert not [word for word in forbidden if word in text], name


@requirement("docs:packages:one-meaning")
def test_a_public_class_name_has_one_meaning() -> None:
    places: dict[str, list[str]] = {}
    for root in (SOURCE, SOURCE.parent / "reverie_simulator"):
        for path in sorted(root.rglob("*.py")):
            for name in re.findall(r"(?m)^class ([A-Z]\w*)", path.read_text(encoding="utf-8")):
                places.setdefault(name, []).append(str(path.relative_to(SOURCE.parent)))

    assert {name: found for name, found in places.items() if len(found) > 1} == {}
