"""The files that the program writes, and files of version 0.1.0 that every later version opens."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from tests.golden.golden import FOLDER, Golden
from tests.golden.place import Place, place, slug
from tests.golden.scenarios import SCENARIOS
from tests.requirements import requirement

KEPT = FOLDER / "kept-0.1.0"
"""A home as version 0.1.0 left it; `<project>` and `<slug>` stand for the directory in which it worked."""
SETTINGS = "[recall]\nmax_files = 3\n\n[compaction]\nkeep_min_tokens = 0\n"
ORDERS = "orders = []\n"
_SAVE = (
    *("save", "--type", "feedback", "--name", "No mocks", "--description", "Never mock the database in tests."),
    *("--body", "Mocks hid a broken migration.", "--when", "tests/**", "--when", "task:test", "--anchor", "orders.py"),
    *("--about", "orders", "--expires", "2999-12-31", "--quote", "no mocks, please", "--reason", "asked for", "--pin"),
)


@requirement("golden:files")
def test_the_files_of_a_memory_and_a_session(golden: Golden) -> None:
    with place(list(SCENARIOS["compaction"].script)) as at:
        _write(at)
        if golden.updates:
            _keep(at)
        memory = _memory(at)
        commits = _git(memory, "log", "--format=%an <%ae>%n%cn <%ce>%n%B")
        state = sorted(str(path.relative_to(memory)) for path in memory.glob(".reverie/*") if path.is_file())
        written = {
            "topic.md": (memory / "feedback_no_mocks.md").read_text(encoding="utf-8"),
            "MEMORY.md": (memory / "MEMORY.md").read_text(encoding="utf-8"),
            "commits.txt": commits,
            "tracked.txt": _git(memory, "ls-files"),
            "state.txt": "\n".join(state),
            "recalled.jsonl": (memory / ".reverie" / "recalled.jsonl").read_text(encoding="utf-8"),
        }
        for name, text in written.items():
            golden.check(f"files/{name}", at.normaliser.text(text))
        (transcript,) = at.files(".reverie/projects/*/*.jsonl")
        golden.check("files/transcript.txt", _shapes(transcript))
        golden.check("files/ledger.txt", _shapes(*at.files(".reverie/ledger/*.jsonl")))
        golden.check("files/identity.txt", _shapes(*at.files(".reverie/projects/*/identity.json")))


@requirement("golden:kept")
def test_files_of_an_earlier_version_open() -> None:
    with place([{"then": {"text": "Still here."}}]) as at:
        _unpack(at)
        (session,) = [entry["id"] for entry in at.json("sessions")]
        assert {topic["name"] for topic in at.json("list")} == {"No mocks", "Deploys happen on Tuesday"}
        assert [hit["name"] for hit in at.json("recall", "mock the database in tests")["hits"]] == ["No mocks"]
        assert [entry["author"] for entry in at.json("log")] == ["user", "user"]
        assert at.json("why", "No mocks")["sources"][0]["quote"] == "no mocks, please"
        assert at.json("doctor")["problems"] == []
        assert at.json("search", "harbour low tide")["hits"]
        assert at.json("context", session)["messages"]
        assert at.json("cost", "--by", "purpose")
        assert at.json("settings", "recall.max_files")[0]["value"] == 3
        assert at.ask("Fourth: go on", "--resume", session) == "Still here.\n"
        assert "low tide" in json.dumps(at.provider.requests[-1].body)
        at.run("uncompact", session)
        at.run("save", "A memory of the later version.")
        assert len(at.json("list")) == 3


def _write(at: Place) -> None:
    (at.home / ".reverie").mkdir()
    (at.home / ".reverie" / "settings.toml").write_text(SETTINGS, encoding="utf-8")
    (at.project / "orders.py").write_text(ORDERS, encoding="utf-8")
    at.run(*_SAVE)
    at.run(
        "save",
        "--type",
        "project",
        "--name",
        "Deploys happen on Tuesday",
        "--description",
        "Deploys: Tuesday.",
        "--body",
        "x",
    )
    at.run("recall", "mock the database in tests")
    SCENARIOS["compaction"].act(at)


def _memory(at: Place) -> Path:
    (memory,) = at.files(".reverie/projects/*/memory")
    return memory


def _git(memory: Path, *arguments: str, stdin: str = "") -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": str(memory), "LANG": "C.UTF-8"}
    command = ["git", "-C", str(memory), *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, env=environment, check=True, timeout=60)
    return done.stdout


def _shapes(*paths: Path) -> str:
    """Each kind of record once, in the order in which it first appears, as the names and types of its fields."""
    shapes: dict[str, None] = {}
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines() if path.suffix == ".jsonl" else [path.read_text()]:
            record = json.loads(line)
            kind = " ".join(
                str(record[key]) for key in ("type", "subtype", "purpose") if isinstance(record.get(key), str)
            )
            shapes[f"{kind}: {json.dumps(_shape(record))}"] = None
    return "\n".join(shapes)


def _shape(value: object) -> object:
    if isinstance(value, dict):
        return {name: "..." if name == "input_schema" else _shape(inner) for name, inner in value.items()}
    if isinstance(value, list):
        shapes = [_shape(inner) for inner in value]
        return [shape for at, shape in enumerate(shapes) if shape not in shapes[:at]]
    return "null" if value is None else type(value).__name__


def _keep(at: Place) -> None:
    """Write the home of this version down as text, its history as a stream of `git fast-export`.

    The search index is left out: it is derived, and rebuilt by every version that does not find its own.
    """
    if KEPT.exists():
        return
    for path in at.home.rglob("*"):
        inner = path.relative_to(at.home)
        if (
            path.is_file()
            and not {"objects", "refs", "index", ".index", "cache"} & set(inner.parts)
            and "lock" not in path.name
        ):
            _copy(
                path, KEPT / _templated(str(inner), at).replace("/.git/", "/dot-git/").replace("<slug>", "__slug__"), at
            )
    history = _git(_memory(at), "fast-export", "--all")
    (KEPT / "history.txt").write_text(_templated(history, at), encoding="utf-8")


def _copy(source: Path, target: Path, at: Place) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(_templated(source.read_text(encoding="utf-8"), at), encoding="utf-8")


def _templated(text: str, at: Place) -> str:
    return text.replace(str(at.folder), "<folder>").replace(slug(at.folder), "<slug>")


def _unpack(at: Place) -> None:
    for path in KEPT.rglob("*"):
        if path.is_file():
            name = str(path.relative_to(KEPT)).replace("dot-git", ".git").replace("__slug__", slug(at.folder))
            text = (
                path.read_text(encoding="utf-8").replace("<folder>", str(at.folder)).replace("<slug>", slug(at.folder))
            )
            (at.home / name).parent.mkdir(parents=True, exist_ok=True)
            (at.home / name).write_text(text, encoding="utf-8")
    history = at.home / "history.txt"
    memory = _memory(at)
    for name in ("objects", "refs"):
        (memory / ".git" / name).mkdir()
    _git(memory, "fast-import", "--quiet", stdin=history.read_text(encoding="utf-8"))
    _git(memory, "reset", "--quiet")
    history.unlink()
    (at.project / "orders.py").write_text(ORDERS, encoding="utf-8")
