"""Modules and functions of ours that run for one action: `python -m bench.trace [--list ACTION]`.

Each action runs in a process of its own through the public door (the command line, or `Session` for a turn), in a
memory of three topics; a turn is the second one of its session, traced once the background work of the first has
ended and with extraction off, as it begins when the turn is over. The search of memories, which a turn has done in a
thread and which has a row of its own, is counted apart.
Imports are not counted, nor are functions that a module or a class body calls while it is imported (decorators, tables
that are built once): a module counts when one of its functions runs for the action.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOPICS = (
    ("Deploys", "deploys run on Fridays with make ship"),
    ("Database", "the staging database listens on port 5433"),
    ("Reviews", "pull requests need two reviewers"),
)
ACTIONS = {
    "turn": [],
    "save": ["save", "the nightly job writes to the reports bucket"],
    "recall": ["recall", "when do deploys run?"],
    "show": ["show", "Deploys"],
    "list": ["list"],
    "dream": ["dream"],
}
LIMITS = {
    "turn": (45, 180),
    "turn: search": (30, 150),
    "save": (35, 200),
    "recall": (30, 150),
    "show": (20, 80),
    "list": (20, 80),
    "dream": (50, 250),
}
"""How much code one deed may run through; the table shows it beside what was counted."""

APART = {"turn": "Memory.recall_report"}
"""A function of an action that is counted apart, with everything that it calls."""

TRACER = """
import inspect, json, os, sys, threading
seen, searched = set(), set()
apart = os.environ.get("TRACED_APART")
source = os.environ["TRACED_SOURCE"]
is_on, within = False, threading.local()
def profile(frame, event, _argument):
    code = frame.f_code
    if event not in ("call", "return") or not code.co_filename.startswith(source):
        return
    # Modules and class bodies, which run when they are imported, are not optimized code; functions are.
    if not code.co_flags & inspect.CO_OPTIMIZED:
        if code.co_name == "<module>":
            within.imports = getattr(within, "imports", 0) + (1 if event == "call" else -1)
        return
    if event == "call" and is_on and not getattr(within, "imports", 0):
        kept = searched if getattr(within, "search", False) or code.co_qualname == apart else seen
        kept.add((code.co_filename[len(source) + 1:], code.co_qualname))
    if code.co_qualname == apart:
        within.search = event == "call"
def watch():
    # Only threads that begin after this are watched.
    threading.setprofile(profile)
    sys.setprofile(profile)
def start():
    global is_on
    is_on = True
def tell():
    sys.setprofile(None)
    with open(os.environ["TRACED_RESULT"], "w", encoding="utf-8") as file:
        json.dump([sorted(seen), sorted(searched)], file)
"""
COMMAND = """
watch()
start()
sys.argv = ["reverie", *json.loads(os.environ["TRACED_ARGUMENTS"])]
real_exit = os._exit
os._exit = lambda code: (tell(), real_exit(code))
from reverie.__main__ import main
try:
    main()
finally:
    tell()
"""
SECOND_TURN = """
import asyncio
from reverie import Session
async def turn(session, text):
    async for _event in session.send(text):
        pass
async def run():
    watch()
    async with Session.start(".", "offline") as session:
        await turn(session, "what do you know of the database?")
        async with asyncio.timeout(30):
            while len(asyncio.all_tasks()) > 1:
                await asyncio.sleep(0.05)
        start()
        await turn(session, "when do deploys run?")
        tell()
asyncio.run(run())
"""


def trace(action: str, home: Path, project: Path) -> dict[str, list[tuple[str, str]]]:
    """The functions that one action runs through, as (file, qualified name); what is counted apart has its own key."""
    result = home / "trace.json"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TRACED_SOURCE": str(ROOT / "src"),
        "TRACED_ARGUMENTS": json.dumps(ACTIONS[action]),
        "TRACED_RESULT": str(result),
        "TRACED_APART": APART.get(action, ""),
        **({} if ACTIONS[action] else {"REVERIE_EXTRACTION_ENABLED": "false"}),
    }
    ran = subprocess.run(
        [sys.executable, "-c", TRACER + (COMMAND if ACTIONS[action] else SECOND_TURN)],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode != 0 or not result.exists():
        raise SystemExit(f"{action} failed ({ran.returncode}): {ran.stderr.strip()[-2000:]}")
    own, apart = (
        # Lambdas and comprehensions belong to the function they stand in.
        [(file, name) for file, name in functions if not name.rpartition(".")[2].startswith("<")]
        for functions in json.loads(result.read_text(encoding="utf-8"))
    )
    return {action: own, f"{action}: search": apart} if apart else {action: own}


def function_lengths() -> list[int]:
    """Lines of every function of the source."""
    return [
        (node.end_lineno or node.lineno) - node.lineno + 1
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.trace", description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--list", choices=ACTIONS, help="print the functions of one action")
    parser.add_argument("--json", action="store_true", help="print figures as JSON")
    chosen = parser.parse_args()
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        home, project = Path(folder, "home"), Path(folder, "project")
        home.mkdir()
        project.mkdir()
        environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
        for name, text in TOPICS:
            command = [sys.executable, "-m", "reverie", "save", text, "--name", name]
            subprocess.run(command, cwd=project, env=environment, check=True, capture_output=True)
        for action in [chosen.list] if chosen.list else ACTIONS:
            for row, functions in trace(action, home, project).items():
                figures[row] = {"modules": len({file for file, _ in functions}), "functions": len(functions)}
                if chosen.list:
                    print(f"{row}:", *(f"{file} {name}" for file, name in functions), sep="\n")
    if chosen.json:
        print(json.dumps(figures, indent=2))
        return
    print(f"{'action':12} {'modules':>8} {'functions':>10}   wanted")
    for action, figure in figures.items():
        modules, functions_wanted = LIMITS[action]
        print(f"{action:12} {figure['modules']:8} {figure['functions']:10}   {modules} / {functions_wanted}")
    lengths = sorted(function_lengths())
    p90 = lengths[int(len(lengths) * 0.9)]
    print(f"functions: {len(lengths)}, lines median {statistics.median(lengths):.0f}, p90 {p90}, max {lengths[-1]}")


if __name__ == "__main__":
    main()
