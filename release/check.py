"""A dry run of a release: `make release-check` builds sdist and wheel, checks them and tries them where users will.

For every supported Python that is found on this machine the wheel is installed into a clean environment with its core
dependencies only, `reverie` is used there as a new user would, and a quick part of the tests runs. The sdist is
installed with the newest one as well.
Nothing is uploaded.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
_PATTERNS_NOT_SHIPPED = re.compile(r"(^|/)(tests|bench|docs|release|\.venv|__pycache__)/|\.pyc$|\.jsonl\.zst$")
_DATA = (
    "reverie/py.typed",
    "reverie_simulator/py.typed",
    "reverie/apps/inspect/static/htmx.min.js",
    "reverie/apps/inspect/templates/",
    "reverie/session/prompts/",
    "reverie/memory/extraction/",
)
"""What is no Python and must be in the wheel."""
_EXTRA_MODULES = ("anthropic", "openai", "numpy", "textual", "starlette", "mcp")
"""None of them may be there after an installation without extras."""
_TESTS = ("tests/messages", "tests/memory/topics")
"""Tests of the core that are quick."""


class Failed(Exception):
    """The release is not ready; the message says what to do."""


def main() -> None:
    """Run all steps; exits with 1 at the first one that fails."""
    try:
        wheel, sdist = build()
        check_metadata(wheel, sdist)
        check_content(wheel, sdist)
        pythons = find_pythons()
        missing = sorted(set(supported_versions()) - pythons.keys())
        for version, python in pythons.items():
            try_package(wheel, python, version)
            if python != sys.executable:
                run_tests(wheel, python, version)
        newest = max(pythons, key=_as_numbers)
        try_package(sdist, pythons[newest], newest)
    except Failed as problem:
        raise SystemExit(f"release-check: {problem}") from None
    print(f"ready: {wheel.name}, {sdist.name}; tried with Python {', '.join(pythons)}")
    if missing:
        print(f"not on this machine, so not tried: Python {', '.join(missing)}")


def build() -> tuple[Path, Path]:
    """The wheel and the sdist, the wheel built from the sdist as installers do."""
    shutil.rmtree(DIST, ignore_errors=True)
    say("building sdist and wheel")
    uv = shutil.which("uv")
    command = [uv, "build", "--quiet"] if uv else [sys.executable, "-m", "build", "--quiet"]
    out = "--out-dir" if uv else "--outdir"
    run([*command, out, str(DIST), str(ROOT)])
    (wheel,), (sdist,) = list(DIST.glob("*.whl")), list(DIST.glob("*.tar.gz"))
    return wheel, sdist


def check_metadata(wheel: Path, sdist: Path) -> None:
    """What an index will show: readable, with the version that the changelog and the code name."""
    run([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)])
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(name).decode()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for wanted in ("License-Expression: Apache-2.0", f"Requires-Python: {project['requires-python']}", "License-File:"):
        if wanted not in metadata:
            raise Failed(f"the metadata has no {wanted!r}; see [project] in pyproject.toml")
    version = re.search(r"(?m)^Version: (.+)$", metadata)
    code = (ROOT / "src" / "reverie" / "__init__.py").read_text(encoding="utf-8")
    if version is None or f'__version__ = "{version[1]}"' not in code:
        raise Failed("the version of the wheel is not `reverie.__version__`")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if "## Unreleased" not in changes and f"## {version[1]}" not in changes:
        raise Failed(f"CHANGELOG.md has neither 'Unreleased' nor {version[1]}")


def check_content(wheel: Path, sdist: Path) -> None:
    """All data files, nothing of tests and benchmarks, no path of this machine."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        strange = [name for name in names if _PATTERNS_NOT_SHIPPED.search(name)]
        missing = [wanted for wanted in _DATA if not any(name.startswith(wanted) for name in names)]
        own = str(ROOT).encode()
        leaking = [name for name in names if own in archive.read(name)]
    run([sys.executable, "-m", "check_wheel_contents", "--ignore", "W002,W009", str(wheel)])
    if strange:
        raise Failed(f"the wheel has files that are not part of the package: {', '.join(strange[:5])}")
    if missing:
        raise Failed(f"the wheel lacks {', '.join(missing)}; see [tool.hatch.build] in pyproject.toml")
    if leaking:
        raise Failed(f"files of the wheel name {ROOT}: {', '.join(leaking[:5])}")
    with tarfile.open(sdist) as archive_of_sources:
        inside = {name.partition("/")[2] for name in archive_of_sources.getnames()}
    for wanted in ("README.md", "LICENSE", "NOTICES.md", "CHANGELOG.md", "pyproject.toml", "src/reverie/py.typed"):
        if wanted not in inside:
            raise Failed(f"the sdist lacks {wanted}")


def supported_versions() -> list[str]:
    """The Python versions that the classifiers promise."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [found[1] for line in project["classifiers"] if (found := re.search(r":: Python :: (3\.\d+)$", line))]


def find_pythons() -> dict[str, str]:
    """An interpreter for each supported version that is here, on PATH or below a version manager."""
    found = {}
    for version in supported_versions():
        for candidate in _candidates(version):
            shown = subprocess.run(
                [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                capture_output=True,
                text=True,
                check=False,
            )
            if shown.returncode == 0 and shown.stdout.strip() == version:
                found[version] = candidate
                break
    return found


def _candidates(version: str) -> Iterator[str]:
    yield sys.executable
    on_path = shutil.which(f"python{version}")
    if on_path:
        yield on_path
    managed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    yield from (str(folder / "bin" / "python") for folder in sorted(managed.glob(f"{version}.*")))


def try_package(package: Path, python: str, version: str) -> None:
    """Install into an empty environment, and do what the quick start says."""
    say(f"Python {version}: {package.name}")
    with tempfile.TemporaryDirectory(prefix="reverie-release") as folder:
        place = Path(folder)
        environment = {"HOME": str(place / "home"), "PATH": os.environ["PATH"], "NO_COLOR": "1", "LANG": "C.UTF-8"}
        (place / "home").mkdir()
        project = place / "project"
        project.mkdir()
        inside = _create_environment(place, python)
        _install(inside, str(package))
        program = str(inside / "reverie")

        def use(*arguments: str) -> str:
            return run([program, *arguments], cwd=project, env=environment)

        for words in (["--help"], ["--version"], ["settings"], ["doctor"], ["sessions", "--all"], ["models"]):
            use(*words)
        use("save", "Never mock the database in integration tests; a mock hid a broken migration.")
        (hit,) = json.loads(use("recall", "may I mock the database here?", "--json"))["hits"]
        if hit["name"] != "Never mock the database in integration tests":
            raise Failed(f"Python {version}: recall returned {hit['name']!r}")
        use("log")
        use("undo")
        use("-p", "Remember: never deploy on a Friday.", "--model", "offline")
        use("dream", "--dry-run")
        _check_import(inside / "python", project, environment)


def run_tests(wheel: Path, python: str, version: str) -> None:
    """Run those tests that need no extra, against the installed wheel; `make test` has run all of them with another."""
    say(f"Python {version}: {' '.join(_TESTS)}")
    with tempfile.TemporaryDirectory(prefix="reverie-release") as folder:
        inside = _create_environment(Path(folder), python)
        _install(inside, str(wheel), "pytest", "pytest-asyncio", "pytest-timeout", "hypothesis")
        options = ["-q", "-p", "no:cacheprovider", "--override-ini", "addopts=-m 'not program'"]
        run([str(inside / "python"), "-m", "pytest", *options, *_TESTS], cwd=ROOT)


def _create_environment(folder: Path, python: str) -> Path:
    run([python, "-m", "venv", *(["--without-pip"] if shutil.which("uv") else []), str(folder / "venv")])
    return folder / "venv" / "bin"


def _install(inside: Path, *packages: str) -> None:
    """With the constraints of the project, so that an update of somebody else does not fail this run."""
    uv = shutil.which("uv")
    python = str(inside / "python")
    installer = [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install"]
    run([*installer, "--quiet", "-c", str(ROOT / "constraints.txt"), *packages])


def _check_import(python: Path, project: Path, environment: dict[str, str]) -> None:
    code = f"""
import importlib.util, pathlib, reverie
assert (pathlib.Path(reverie.__file__).parent / "py.typed").is_file()
there = [name for name in {_EXTRA_MODULES!r} if importlib.util.find_spec(name)]
assert not there, f"the core brings {{there}}"
for name in reverie.__all__:
    getattr(reverie, name)
with reverie.Memory.open(".") as memory:
    memory.save(name="Real database", type="feedback", description="Tests use a real database")
    assert memory.recall("which database do tests use?")
window = reverie.Window("claude-sonnet-5")
assert window.prepare([{{"role": "user", "content": "hello"}}]).body["messages"]
"""
    run([str(python), "-W", "error", "-c", code], cwd=project, env=environment)


def run(command: list[str], *, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """What a command prints; raises `Failed` with all of it when it fails."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def say(text: str) -> None:
    """Progress, at once."""
    print(f"· {text}", flush=True)


def _as_numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


if __name__ == "__main__":
    main()
