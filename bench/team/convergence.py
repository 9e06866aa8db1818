"""`python -m bench.team.convergence`: clients edit and delete the same files while servers and connections die.

Each client is a memory directory of its own with the real sync, behind a proxy that cuts connections; servers are
killed and restarted. Afterwards all clients must hold the same bytes, and the history at the server is compared with
what every client did: no acknowledged write is lost, every losing edit is in a conflict copy, no deleted file returns.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import select, update
from tests.apps.server.kit import Served
from tests.apps.server.replica import Replica
from tests.cutting_proxy import CuttingProxy, cut_at_random, running_proxy
from tests.person import person_in

from reverie import Memory
from reverie.apps.server.database import ALL_TENANTS, open_database
from reverie.apps.server.schema import repos, revisions, tenants
from reverie.errors import Error

REPO = "bench/storm"
SLOTS = 4
CUT_SHARE = 0.08
SETTLING_ROUNDS = 10


@dataclass
class Diary:
    """What all clients did; the truth that the server's history is held against. A marker names one edit."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    markers: set[str] = field(default_factory=set)
    replaced: dict[str, str] = field(default_factory=dict)
    """Marker → the one that its author saw in its place."""
    deleted: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    """Path and generation → markers that somebody saw when deleting it."""
    acknowledged: set[tuple[str, str]] = field(default_factory=set)
    """Path and SHA-256 of texts that a server said it stored."""
    counts: Counter[str] = field(default_factory=Counter)

    def find_ancestors(self, marker: str) -> set[str]:
        """A marker and everything that it replaced, one after another."""
        chain = {marker}
        while (marker := self.replaced.get(marker, "")) and marker not in chain:
            chain.add(marker)
        return chain


@dataclass
class Client:
    """Somebody who edits by hand and pushes."""

    number: int
    memory: Memory
    diary: Diary
    dice: random.Random
    files: int
    edits: int = 0

    def work(self, until: float) -> None:
        while time.monotonic() < until:
            for _ in range(self.dice.randint(1, 3)):
                self._act()
            self.push()
            time.sleep(self.dice.uniform(0, 0.2))

    def push(self) -> bool:
        """Exchange; whether it succeeded."""
        diary = self.diary
        try:
            report = self.memory.team.push(may_delete_many=True)
        except (Error, OSError) as problem:
            with diary.lock:
                diary.counts[f"failed: {type(problem).__name__}"] += 1
            return False
        with diary.lock:
            diary.counts["exchanges"] += 1
            diary.counts["entries stored"] += len(report.pushed)
            diary.counts["conflict copies"] += len(report.conflicts)
            for path in report.pushed:
                diary.acknowledged.add((path, hash_file(self._place(path))))
        return True

    def _act(self) -> None:
        path = f"topic_{self.dice.randrange(self.files)}.md"
        place = self._place(path)
        with self.diary.lock:
            if not place.exists():
                self._create(path)
            elif self.dice.random() < 0.2:
                self._delete(path)
            else:
                self._edit(path)

    def _create(self, path: str) -> None:
        markers = [self._new_marker("") for _ in range(SLOTS)]
        generation = f"g{self.number}x{self.edits}"
        self.diary.counts["created"] += 1
        self._write(path, generation, markers)

    def _edit(self, path: str) -> None:
        generation, markers = read_text(self._place(path).read_text(encoding="utf-8"))
        slot = self.dice.randrange(SLOTS)
        markers[slot] = self._new_marker(markers[slot])
        self.diary.counts["edited"] += 1
        self._write(path, generation, markers)

    def _delete(self, path: str) -> None:
        generation, markers = read_text(self._place(path).read_text(encoding="utf-8"))
        self.diary.deleted[path, generation].update(markers)
        self.diary.counts["deleted"] += 1
        self._place(path).unlink()

    def _new_marker(self, before: str) -> str:
        self.edits += 1
        marker = f"m{self.number}x{self.edits}"
        self.diary.markers.add(marker)
        if before:
            self.diary.replaced[marker] = before
        return marker

    def _write(self, path: str, generation: str, markers: list[str]) -> None:
        lines = "\n\n".join(f"We note in part {slot}: {marker}." for slot, marker in enumerate(markers))
        head = f"---\nname: {path}\ndescription: of generation {generation}\ntype: project\n---\n"
        self._place(path).parent.mkdir(exist_ok=True)
        self._place(path).write_text(f"{head}{lines}\n", encoding="utf-8")

    def _place(self, path: str) -> Path:
        return self.memory.team.directory / path

    @property
    def texts(self) -> dict[str, str]:
        found = self.memory.team.directory.glob("*.md")
        return {path.name: path.read_text(encoding="utf-8") for path in found if path.name != "MEMORY.md"}

    @property
    def copies(self) -> Iterable[str]:
        return (path.read_text(encoding="utf-8") for path in (self.memory.scope.folder.aside / ".conflicts").glob("*"))


def hash_file(place: Path) -> str:
    return hashlib.sha256(place.read_bytes()).hexdigest()


def read_text(text: str) -> tuple[str, list[str]]:
    """The generation of a text and the markers of its slots."""
    generation = text.partition("of generation ")[2].partition("\n")[0]
    return generation, [line.rpartition(": ")[2].rstrip(".") for line in text.splitlines() if line.startswith("We ")]


def find_violations(diary: Diary, history: dict[str, list[str | None]], clients: list[Client]) -> list[str]:
    """What was lost or came back, in words; `history` has the texts of every entry in order, None for a deletion."""
    problems: list[str] = []
    kept = {marker for client in clients for copy in client.copies for marker in read_text(copy)[1]}
    stored: set[str] = set()
    for path, texts in history.items():
        gone: set[str] = set()
        before: tuple[str, list[str]] | None = None
        for text in texts:
            now = None if text is None else read_text(text)
            if now is not None:
                stored.update(now[1])
                if now[0] in gone:
                    problems.append(f"{path}: generation {now[0]} returned after its deletion")
            if before is not None:
                problems += _find_lost(path, before, now, diary, kept)
                if now is None or now[0] != before[0]:
                    gone.add(before[0])
            before = now
    seen = set(diary.replaced.values()).union(*diary.deleted.values())
    lost = diary.markers - stored - kept - seen
    problems += [
        f"edit {marker} is neither stored nor in a conflict copy" for marker in sorted(lost) if marker[0] == "m"
    ]
    hashes = {
        (path, hashlib.sha256(text.encode()).hexdigest()) for path, texts in history.items() for text in texts if text
    }
    problems += [f"{path}: an acknowledged text was never stored" for path, _ in diary.acknowledged - hashes]
    return problems


def _find_lost(
    path: str, before: tuple[str, list[str]], now: tuple[str, list[str]] | None, diary: Diary, kept: set[str]
) -> Iterable[str]:
    """Edits that the next version of a text does not have although its author never saw them."""
    if now is not None and now[0] == before[0]:
        for old, new in zip(before[1], now[1], strict=True):
            if old not in diary.find_ancestors(new) and old not in kept:
                yield f"{path}: {old} was overwritten by {new}, whose author had not seen it"
        return
    seen = {each for marker in diary.deleted[path, before[0]] for each in diary.find_ancestors(marker)}
    for marker in before[1]:
        if marker not in seen and marker not in kept:
            yield f"{path}: {marker} was deleted by somebody who had not seen it, and is in no conflict copy"


@dataclass
class StormResult:
    """What a run came to."""

    counts: Counter[str]
    problems: list[str]
    seconds: float

    def __str__(self) -> str:
        counted = ", ".join(f"{count:,} {name}" for name, count in sorted(self.counts.items()))
        verdict = "; ".join(self.problems[:20]) or "no violation"
        return f"{self.seconds:.0f} s: {counted}\n{len(self.problems)} violations: {verdict}"


def run_storm(
    database_url: str, folder: Path, *, replicas: int, clients: int, files: int, seconds: float, seed: int
) -> StormResult:
    """Let the clients work while servers and connections die, then let them settle and look."""
    began, dice, diary = time.monotonic(), random.Random(seed), Diary()
    with ExitStack() as stack:
        servers = [Replica(database_url, folder) for _ in range(replicas)]
        for server in servers:
            server.start()
            stack.callback(server.stop)
        proxies = [stack.enter_context(running_proxy(server.url)) for server in servers]
        tokens = _prepare(database_url, clients)
        people = [
            _hire(
                folder, number, proxies[number % replicas], tokens[number], diary, random.Random(seed + number), files
            )
            for number in range(clients)
        ]
        for proxy in proxies:
            proxy.choose_cut = cut_at_random(random.Random(dice.random()), CUT_SHARE)
        until = time.monotonic() + seconds
        threads = [threading.Thread(target=person.work, args=(until,)) for person in people]
        for thread in threads:
            thread.start()
        while time.monotonic() < until:
            time.sleep(min(dice.uniform(1, 6), max(0.0, until - time.monotonic())))
            server = dice.choice(servers)
            server.kill()
            time.sleep(dice.uniform(0, 1))
            server.start()
            diary.counts["servers killed"] += 1
        for thread in threads:
            thread.join()
        diary.counts["connections cut"] = sum(proxy.cuts for proxy in proxies)
        for proxy in proxies:
            proxy.choose_cut = lambda: "never"
        problems = _settle(people)
    problems += find_violations(diary, _read_history(database_url), people)
    return StormResult(diary.counts, problems, time.monotonic() - began)


def _prepare(database_url: str, clients: int) -> list[str]:
    """Tokens for the clients; the server keeps every version."""
    database = open_database(database_url)
    served = Served(database)
    tokens = [served.token(member=f"client {number}") for number in range(clients)]
    with database.writing(ALL_TENANTS) as connection:
        connection.execute(update(tenants).values(limits='{"versions_kept": 1000000}'))
    database.close()
    return tokens


def _hire(
    folder: Path, number: int, proxy: CuttingProxy, token: str, diary: Diary, dice: random.Random, files: int
) -> Client:
    home = folder / f"client-{number}"
    project = home / "project"
    project.mkdir(parents=True)
    memory = person_in(home).open(project)
    memory.team.join(proxy.url, repo=REPO, token=token)
    memory.team.allow_push()
    return Client(number, memory, diary, dice, files)


def _settle(people: list[Client]) -> list[str]:
    """Push and pull until nothing changes; what then differs between two clients."""
    for _ in range(SETTLING_ROUNDS):
        pushed = [person.push() for person in people]
        if all(pushed) and not any(person.memory.team.has_outgoing() for person in people):
            break
    for person in people:
        person.memory.team.pull()
    first = people[0].texts
    return [
        f"client {person.number} differs from client 0 in {path}"
        for person in people[1:]
        for path in sorted({*first, *person.texts})
        if first.get(path) != person.texts.get(path)
    ]


def _read_history(database_url: str) -> dict[str, list[str | None]]:
    """The texts of every entry in order, as the server keeps them."""
    database = open_database(database_url)
    history: dict[str, list[str | None]] = defaultdict(list)
    with database.reading(ALL_TENANTS) as connection:
        query = select(revisions.c.path, revisions.c.text, revisions.c.deleted).join(repos).where(repos.c.name == REPO)
        for path, text, is_deleted in connection.execute(query.order_by(revisions.c.path, revisions.c.revision)):
            history[path].append(None if is_deleted else text)
    database.close()
    return history


def main() -> int:
    """Run on SQLite with one server, and on PostgreSQL with two."""
    parser = argparse.ArgumentParser(prog="python -m bench.team.convergence", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("sqlite", "postgresql"))
    given = parser.parse_args()
    from bench.team.__main__ import start_postgresql

    is_clean, missing = True, list[str]()
    for name, replicas in (("sqlite", 1), ("postgresql", 2)):
        if given.only not in (None, name):
            continue
        with tempfile.TemporaryDirectory(prefix="bench-team-") as folder:
            url = f"sqlite:///{folder}/server.db" if name == "sqlite" else start_postgresql(missing)
            if url is None:
                print(*missing)
                continue
            result = run_storm(
                url, Path(folder), replicas=replicas, clients=given.clients, files=given.files,
                seconds=given.seconds, seed=given.seed,
            )  # fmt: skip
        print(f"{name}, {replicas} server(s), {given.clients} clients, {given.files} files, {result}", flush=True)
        is_clean = is_clean and not result.problems
    return 0 if is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
