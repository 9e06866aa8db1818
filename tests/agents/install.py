"""Bring the agents of other vendors from npm into `.cache/agents`: `python -m tests.agents.install`.

Each version gets a directory of its own, and an older one goes. What cannot be installed is named; the tests that need
it are skipped and say so.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from tests.agents.programs import AGENTS, INSPECTOR, NpmPackage, has_new_node, node_package

INSTALL_SECONDS = 600


def install(package: NpmPackage) -> str:
    """Install one program; the answer is what went wrong, or empty."""
    if package.path.exists():
        return ""
    shutil.rmtree(package.directory.parent, ignore_errors=True)
    draft = package.directory.parent / "draft"
    draft.mkdir(parents=True)
    quiet = ("--no-audit", "--no-fund", "--loglevel=error", "--no-update-notifier")
    command = ["npm", "install", "--prefix", str(draft), *quiet, f"{package.package}@{package.version}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return str(problem)
    if done.returncode != 0:
        return done.stderr.strip().partition("\n")[0] or f"npm ended with {done.returncode}"
    draft.rename(package.directory)
    return "" if package.path.exists() else f"{package.command} is not in the package"


def main() -> int:
    wanted = [*(() if has_new_node() else (node_package(),)), *AGENTS, INSPECTOR]
    with ThreadPoolExecutor(2) as pool:
        problems = dict(zip(wanted, pool.map(install, wanted), strict=True))
    for package, problem in problems.items():
        if problem:
            print(f"{package.package} {package.version} could not be installed, its tests are skipped: {problem}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
