"""One directory of topics: read, save, edit, forget, pin, archive. Every change is one commit and updates MEMORY.md.

Any number of stores, in any number of processes, may work on one directory, beside editors and other programs. What was
is `past.py` and `undo.py`; how bytes reach the disk is `writer.py`; which directory is the caller's matter.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NoReturn, TypeAlias

from reverie.errors import Conflict, Damaged, Error, Refused, UserMistake
from reverie.files import append_lines
from reverie.files.places.paths import MemoryFolder
from reverie.files.secret_scan import Finding, redact, scan
from reverie.memory.store.change import Author, Change, render_message
from reverie.memory.store.erased_sentences import ErasedSentences, extract_topic_text, read_erased
from reverie.memory.store.history import History
from reverie.memory.store.index.catalogue import Catalogue
from reverie.memory.store.index.memory_md import IndexLimits
from reverie.memory.store.past import log, original_path, read_at
from reverie.memory.store.worktree import (
    ARCHIVE,
    ARCHIVED_SUFFIX,
    CONFLICTS,
    INDEX_FILE,
    TEAM,
    is_safe_path,
    is_topic_path,
    list_tracked,
    read_topic,
    read_tracked,
)
from reverie.memory.store.writer import Attribute, Files, Writer, conflict_path, find_secrets, merge_bytes
from reverie.memory.topics.filenames import file_name, find_topic, key_of
from reverie.memory.topics.polarity import find_distortion, keep_as_said
from reverie.memory.topics.scope import find_private_reason
from reverie.memory.topics.topic import Source, Topic, parse_topic, render_topic
from reverie.memory.topics.value import Vetted
from reverie.messages.injection import flags
from reverie.values import value

VERSIONS_LOOKED_AT = 100
"""How far back a text that a caller has read is looked for, to merge with what came since."""

_MACHINES: frozenset[Author] = frozenset({"agent", "extraction"})
"""Authors whose new topics are refused if another topic already says the same."""
_WORDING: frozenset[Author] = frozenset({"agent", "extraction", "dream"})
"""Authors whose wording is checked against their quotes."""
REFUSALS = "refused"
"""What was refused, one JSON object a line."""


@value
class Saved:
    """The result of a write."""

    path: str
    """Inside the directory."""
    commit: str | None
    """None when nothing changed, or without history."""
    topic: Topic
    """As it is now, or as it was before it went."""
    warnings: tuple[str, ...] = ()
    is_new: bool = False
    """Whether there was no such topic before."""


Renew: TypeAlias = Callable[[Topic, Topic], Topic]
"""The topic that is there and the one to be saved → what is written."""


def _use_new(_: Topic, new: Topic) -> Topic:
    return new


class Store:
    """The topics of one memory directory."""

    def __init__(
        self,
        folder: MemoryFolder,
        *,
        now: Callable[[], datetime],
        history: History | None = None,
        noticed: Callable[[Files], None] = lambda _: None,
        attribute: Attribute = lambda _: None,
        use: Callable[[], Mapping[str, float]] = dict,
        vetted: Vetted | None = None,
        limits: IndexLimits | None = None,
        similar: Callable[[Topic], Iterable[Topic]] = lambda _: (),
        timeout_seconds: float = 30.0,
    ) -> None:
        """`noticed` is told of every committed change; `use` says how useful each path has been;
        `vetted` lets them know what was looked at already; `limits` bound the index.

        `similar` finds other topics that say nearly the same: a machine does not save a second one.
        """
        self.folder = folder
        self.history = history or History.open(folder)
        self.now = now
        self._own_word: bytes | None = None
        """The content for whose words the caller of `save` answers."""
        self._told = noticed
        self._similar = similar
        self._vetted = vetted or Vetted()
        self._catalogue = Catalogue(self.history, use=use, vetted=self._vetted, limits=limits)
        self.writer = Writer(
            folder,
            self.history,
            now=now,
            follow=self._catalogue.follow,
            noticed=self._notice,
            attribute=attribute,
            admit=self._admit,
            timeout_seconds=timeout_seconds,
        )

    def read(self, name: str) -> Topic:
        """The topic of this path, file name, name or beginning of a file name.

        Raises:
            UserMistake: there is none, or more than one.
            Damaged: its file cannot be read.
        """
        for path in (name, f"{name}.md"):
            if is_safe_path(path) and is_topic_path(path):
                topic = read_topic(self.folder, path)
                if topic is not None:
                    return topic
        path = self.find(name)
        return read_topic(self.folder, path) or _missing(name, self.folder)

    def read_bytes(self, path: str) -> tuple[bytes, str]:
        """A topic's file as it is, and the SHA-256 by which `save` recognises that it has not changed since."""
        content = read_tracked(self.folder, path)
        if content is None:
            raise UserMistake(f"no file {path!r} in {self.folder.directory}")
        return content, hashlib.sha256(content).hexdigest()

    def find(self, name: str) -> str:
        """The path of the topic that a person means."""
        listed = list_tracked(self.folder)
        path = find_topic(name, filter(is_topic_path, listed), lambda: self._catalogue.read_names(listed))
        return path or _missing(name, self.folder)

    def _find_committed(self, name: str) -> str:
        """As `find`, under the lock, where the last commit and the disk are the same but for files held back."""
        paths = filter(is_topic_path, {**self.history.entries, **self.writer.held})
        path = find_topic(name, paths, self._catalogue.names)
        return path or _missing(name, self.folder)

    def save(
        self,
        topic: Topic,
        *,
        author: Author = "user",
        reason: str = "",
        session: str | None = None,
        sources: tuple[Source, ...] = (),
        expect: str | None = None,
        renew: Renew = _use_new,
        is_own_word: bool = False,
    ) -> Saved:
        """Write a topic: over the file of its path, over the one that has its name, or as a new one.

        `expect` is the SHA-256 of the file that the caller had read; a change since is merged. `renew` says what
        becomes of a topic that is there already. `is_own_word` says that the caller answers for the words: they are
        compared neither with what they quote nor with other topics.

        Raises:
            Refused: it holds a secret, was erased, or a machine wants to save what is known already.
            Conflict: the file changed since at the same place; what was to be saved is kept as a conflict copy.
            Damaged: the file in its place cannot be read, and is not overwritten.
        """
        with self.writer.writing():
            path = self._path_for(topic)
            before = self.writer.tree.read(path)
            usual = f"{'save' if before is None else 'edit'} {topic.name}"
            change = Change(author, reason or usual, session, sources or topic.sources)
            topic = _renew_topic(replace(topic, path=path), before, renew)
            topic, content = self._fit(topic, before, author, is_own_word=is_own_word or author == "user")
            if expect is not None and before is not None and hashlib.sha256(before).hexdigest() != expect:
                content = self._merge_concurrent(path, expect, content, before, change)
                topic = parse_topic(path, content.decode())
            self._own_word = content if is_own_word else None
            commit = self.writer.commit({path: content}, change)
        return Saved(path, commit, topic, _suspicions(content), is_new=before is None)

    def save_many(
        self,
        topics: Iterable[Topic],
        *,
        author: Author = "import",
        reason: str = "",
        session: str | None = None,
        renew: Renew = _use_new,
    ) -> tuple[int, str | None]:
        """Write many topics as one commit, all or none; return how many changed and the commit."""
        with self.writer.writing():
            taken: dict[str, str] = {}
            by_name: dict[str, str] = {}
            files: dict[str, bytes | None] = {}
            for topic in topics:
                path = self._free_path(topic, taken, by_name)
                taken[key_of(path)] = path
                by_name[key_of(topic.name)] = path
                before = self.writer.tree.read(path) if path in self.writer.history.entries else None
                _, files[path] = self._fit(_renew_topic(replace(topic, path=path), before, renew), before, author)
            commit = self.writer.commit(files, Change(author, reason or f"save {len(files)} topics", session))
        return len(files), commit

    def edit(
        self,
        name: str,
        change_topic: Callable[[Topic], Topic],
        *,
        author: Author = "user",
        reason: str = "",
        session: str | None = None,
        sources: tuple[Source, ...] = (),
    ) -> Saved:
        """Read, change and write a topic under one lock."""
        with self.writer.writing():
            path = self._find_committed(name)
            before = self.writer.tree.read(path) or b""
            topic = replace(change_topic(parse_topic(path, before.decode())), path=path)
            topic, content = self._fit(topic, before, author)
            change = Change(author, reason or f"edit {topic.name}", session, sources)
            commit = self.writer.commit({path: content}, change)
        return Saved(path, commit, topic, _suspicions(content))

    def write_files(
        self,
        files: Mapping[str, str | None],
        *,
        author: Author,
        reason: str,
        session: str | None = None,
        sources: tuple[Source, ...] = (),
    ) -> str | None:
        """Write files exactly as given, or remove them (None), as one commit; return it.

        Raises:
            UserMistake: a path is neither a topic file nor the index.
            Refused: a text holds a secret, or was erased.
            Damaged: the front matter of a text cannot be read.
        """
        for path, text in files.items():
            is_index = path == INDEX_FILE and text is not None
            if not is_index and not (is_safe_path(path) and is_topic_path(path)):
                raise UserMistake(f"{path!r} cannot be a topic file: name a `.md` file that is not an index")
        with self.writer.writing():
            contents: dict[str, bytes | None] = {}
            removed = [path for path, text in files.items() if text is None]
            for path, text in files.items():
                contents[path] = None if text is None else text.encode()
                if text is None or path == INDEX_FILE:
                    continue
                topic = parse_topic(path, text)
                if path not in self.history.entries:
                    self._refuse_known(topic, author, removed)
                self._vetted.add(text.encode(), topic)
            return self.writer.commit(contents, Change(author, reason, session, sources))

    def update(self, build: Callable[[], Files], change: Change) -> str | None:
        """Write what `build` makes of the files, as one commit; it is called when the directory is up to date.

        The caller has looked for secrets in them.
        """
        with self.writer.writing():
            files = build()
            for path, content in files.items():
                with suppress(Damaged, UnicodeDecodeError):
                    if content is not None and is_topic_path(path) and not path.startswith("."):
                        self._vetted.add(content, parse_topic(path, content.decode()))
            return self.writer.commit(files, change)

    def forget(self, name: str, *, author: Author = "user", reason: str = "", session: str | None = None) -> Saved:
        """Remove a topic from the directory; `undo` brings it back. Its text stays in the history: see `erase`."""
        with self.writer.writing():
            path = self._find_committed(name)
            topic = _parse_leniently(path, self.writer.tree.read(path))
            commit = self.writer.commit({path: None}, Change(author, reason or f"forget {path}", session))
            return Saved(path, commit, topic)

    def pin(self, name: str, *, pinned: bool = True, author: Author = "user", session: str | None = None) -> Saved:
        """Keep a topic first in the index, and never archive it."""
        word = "pin" if pinned else "unpin"
        return self.edit(
            name, lambda topic: replace(topic, pinned=pinned), author=author, reason=f"{word} {name}", session=session
        )

    def archive(self, name: str, *, reason: str, author: Author = "user", session: str | None = None) -> Saved:
        """Archive a topic: kept as a file, but hidden from recall and hosts; `restore` brings it back."""
        with self.writer.writing():
            path = self._find_committed(name)
            target = f"{ARCHIVE}/{path}{ARCHIVED_SUFFIX}"
            content = self.writer.tree.read(path)
            change = Change(author, reason or f"archive {path}", session)
            commit = self.writer.commit({path: None, target: content}, change)
            return Saved(target, commit, _parse_leniently(path, content))

    def list_archived(self) -> tuple[str, ...]:
        """The paths that archived topics had, in order."""
        return tuple(
            sorted(original_path(path) for path in list_tracked(self.folder) if path.startswith(f"{ARCHIVE}/"))
        )

    def read_archived(self) -> Iterator[Topic]:
        """The archived topics that can be read, with the paths they had."""
        for path in self.list_archived():
            content = read_tracked(self.folder, f"{ARCHIVE}/{path}{ARCHIVED_SUFFIX}")
            with suppress(Damaged):
                yield parse_topic(path, (content or b"").decode("utf-8", "replace"))

    def restore(self, name: str, *, author: Author = "user", reason: str = "", session: str | None = None) -> Saved:
        """Bring an archived topic back to its place."""
        with self.writer.writing():
            path = find_topic(
                name, self.list_archived(), lambda: {each.path: each.name for each in self.read_archived()}
            )
            if path is None:
                raise UserMistake(f"no archived memory {name!r} in {self.folder.directory}")
            if self.writer.tree.read(path) is not None:
                raise Conflict(f"{path!r} exists again; forget or rename it before restoring the archived one")
            source = f"{ARCHIVE}/{path}{ARCHIVED_SUFFIX}"
            content = self.writer.tree.read(source)
            change = Change(author, reason or f"restore {path}", session)
            return Saved(
                path, self.writer.commit({source: None, path: content}, change), _parse_leniently(path, content)
            )

    @property
    def held(self) -> Mapping[str, str]:
        """The files that are not committed because somebody wrote a secret into them: path → rules and lines."""
        return {path: describe_findings(withheld.findings) for path, withheld in sorted(self.writer.held.items())}

    def sync(self, attribute: Attribute | None = None) -> tuple[str, ...]:
        """Commit what editors and other programs changed since; return the commits.

        `attribute` may know who made an edit, before transcripts are asked.
        """
        with self.writer.writing(attribute=attribute) as commits:
            return commits

    def _notice(self, files: Files) -> None:
        """Update the derived indexes; if that fails, the change still stands, and the next sweep finds it."""
        self._catalogue.settle()
        with suppress(Error, OSError, ValueError, RuntimeError):
            self._told(files)
        self._vetted.clear()

    def _fit(
        self, topic: Topic, before: bytes | None, author: Author, *, is_own_word: bool = False
    ) -> tuple[Topic, bytes]:
        """A topic and its file as they are to be written, in the place of `before`."""
        if before is None and not is_own_word:
            topic = keep_as_said(topic)
            self._refuse_known(topic, author)
        topic = self._stamp_modified(topic, before)
        content = _render_topic(topic, before).encode()
        self._vetted.add(content, topic)
        return topic, content

    def _refuse_known(self, topic: Topic, author: Author, removed: Collection[str] = ()) -> None:
        """Refuse a new topic by a machine if another topic already says the same."""
        near = [each for each in self._similar(topic) if each.path not in removed] if author in _MACHINES else ()
        if near:
            raise Refused(
                f"{redact(topic.name)!r} was not saved: {near[0].path} ({near[0].name!r}) already says the same; "
                "update that one instead",
                by="duplicate",
            )

    def _admit(self, files: Files, change: Change) -> None:
        """Refuse content that must not be stored (secrets, erased text), and record the refusal."""
        rules = sorted({finding.rule for finding in scan(render_message(change))})
        if rules:
            raise Refused(
                f"nothing was changed: the reason, the session or a quote contains a possible secret "
                f"({', '.join(rules)}); remove it",
                by="secret scan",
            )
        erased = read_erased(self.history.private) if change.author != "user" else ErasedSentences()
        for path, content in files.items():
            if content is None:
                continue
            withheld = self.writer.held.get(path)
            findings = withheld.findings if withheld is not None else find_secrets(path, content)
            if findings:
                name = self._note_refused(path, content, change.author, {finding.rule for finding in findings})
                place = describe_findings(findings)
                raise Refused(
                    f"{path} was not changed: the file contains a possible secret ({place}); "
                    "remove it from the file first"
                    if withheld is not None
                    else f"{name!r} was not saved: it contains a possible secret ({place}); "
                    "save where the secret is stored instead",
                    by="secret scan",
                )
            if path.startswith(TEAM) and is_topic_path(path):
                self._refuse_private(path, content)
            if change.author in _WORDING and is_topic_path(path) and not path.startswith(f"{CONFLICTS}/"):
                self._refuse_distortion(path, content)
            if erased.hashes and path != INDEX_FILE and erased.covers(extract_topic_text(content)):
                name = self._note_refused(path, content, change.author, {"erased"})
                raise Refused(f"{name!r} was not saved: it was erased, and only a person may save it again", by="erase")

    def _refuse_private(self, path: str, content: bytes) -> None:
        """Refuse a topic below `team/` that is about one person."""
        topic = _parse_leniently(path, content)
        reason = find_private_reason(topic)
        if reason:
            raise Refused(f"{topic.name!r} was not saved for the team: {reason}", by="team scope")

    def _refuse_distortion(self, path: str, content: bytes) -> None:
        """Refuse a topic that contradicts the words it quotes."""
        topic = _parse_leniently(path, content)
        if content == self._own_word or not any(source.quote for source in topic.sources):
            return
        before = self.writer.tree.read(path)
        old = None if before is None else _parse_leniently(path, before)
        distortion = find_distortion(topic, old)
        if distortion is not None:
            raise Refused(
                f"{topic.name!r} was not saved: it has {distortion}; "
                "keep the user's words, or quote what was said since",
                by="polarity",
            )

    def _stamp_modified(self, topic: Topic, before: bytes | None) -> Topic:
        """With the stamp that some hosts keep renewed: where it stands already, and only when something changes."""
        try:
            old = parse_topic(topic.path, before.decode()) if before is not None and b"modified" in before else None
        except (Damaged, UnicodeDecodeError):
            return topic
        if old is None or old.modified is None:
            return topic
        as_before = replace(topic, modified=old.modified)
        return as_before if as_before == old else replace(topic, modified=self.now().replace(microsecond=0))

    def _note_refused(self, path: str, content: bytes, author: Author, rules: Iterable[str]) -> str:
        """Keep that something was refused, by which rule; never what. Returns the name of the topic."""
        try:
            name = redact(parse_topic(path, content.decode("utf-8", "replace")).name)
        except Damaged:
            name = redact(path)
        row = {"when": self.now().isoformat(), "author": author, "name": name, "rules": sorted(rules)}
        append_lines(self.history.private / REFUSALS, [json.dumps(row, ensure_ascii=False)], durable=False)
        return name

    def _path_for(self, topic: Topic) -> str:
        if topic.path in self.history.entries and is_topic_path(topic.path):
            return topic.path
        return self._free_path(topic, {}, {})

    def _free_path(self, topic: Topic, taken: Mapping[str, str], by_name: Mapping[str, str]) -> str:
        """Where a topic goes, beside the tracked files and those (key → path, name → path) about to be."""
        if not topic.path:
            there = by_name.get(key_of(topic.name)) or self._catalogue.find_path_by_name(topic.name)
            return there or file_name(topic.type, topic.name, _Taken(taken, self._catalogue))
        if not is_safe_path(topic.path) or not is_topic_path(topic.path):
            raise UserMistake(f"{topic.path!r} cannot be a topic file: name a `.md` file inside the memory directory")
        key = key_of(topic.path)
        return taken.get(key) or self._catalogue.path_with_key(key) or topic.path

    def _merge_concurrent(self, path: str, expect: str, mine: bytes, theirs: bytes, change: Change) -> bytes:
        base = self._version(path, expect)
        merged = merge_bytes(path, base, mine, theirs) if base is not None else None
        if merged is not None:
            return merged
        copy = conflict_path(path, mine)
        self.writer.commit({copy: mine}, replace(change, reason=f"keep a conflicting version of {path}"))
        raise Conflict(f"{path!r} was changed concurrently in the same place; it was kept, your version is in {copy}")

    def _version(self, path: str, digest: str) -> bytes | None:
        """The newest content of a path that has this SHA-256."""
        if not self.history.is_on:
            return None
        for commit in log(self.history, path, limit=VERSIONS_LOOKED_AT):
            content = read_at(self.history, commit.commit, (path,))[path]
            if content is not None and hashlib.sha256(content).hexdigest() == digest:
                return content
        return None


@value
class _Taken:
    """The keys of files that are tracked or about to be."""

    new: Mapping[str, str]
    catalogue: Catalogue

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and (key in self.new or self.catalogue.path_with_key(key) is not None)


def describe_findings(findings: Iterable[Finding]) -> str:
    """Rules and lines of secrets, for a sentence."""
    places = (f"{each.rule} in {f'line {each.line}' if each.line else 'its name'}" for each in findings)
    return ", ".join(dict.fromkeys(places))


def _suspicions(content: bytes) -> tuple[str, ...]:
    """A warning for each thing in a text that looks like an attempt to give orders."""
    suspicions = dict.fromkeys(flag.suspicion.value for flag in flags(content.decode()))
    return tuple(f"the text has {suspicion}; it will only ever be shown as data" for suspicion in suspicions)


def _parse_leniently(path: str, content: bytes | None) -> Topic:
    """A topic as far as it can be read."""
    try:
        return parse_topic(path, (content or b"").decode("utf-8", "replace"))
    except Damaged:
        return Topic(path)


def _renew_topic(topic: Topic, before: bytes | None, renew: Renew) -> Topic:
    if before is None or renew is _use_new:
        return topic
    try:
        return replace(renew(parse_topic(topic.path, before.decode()), topic), path=topic.path)
    except UnicodeDecodeError as error:
        raise Damaged(f"{topic.path} is not UTF-8 text and is not overwritten", path=Path(topic.path)) from error


def _render_topic(topic: Topic, before: bytes | None) -> str:
    try:
        return render_topic(topic, before.decode() if before is not None else None)
    except UnicodeDecodeError as error:
        raise Damaged(f"{topic.path} is not UTF-8 text and is not overwritten", path=Path(topic.path)) from error


def _missing(name: str, folder: MemoryFolder) -> NoReturn:
    raise UserMistake(f"no memory {name!r} in {folder.directory}; run `reverie list` for a list")
