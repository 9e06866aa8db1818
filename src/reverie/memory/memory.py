"""`Memory`: the public interface to all memory operations. Every memory command only calls this.

It joins the store (files and history), the search index and recall, for one project, its user and one clock. Settings
and time that the caller does not give come from this process (`settings.load`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Self

from reverie.errors import Damaged, Error, Refused, Unavailable, UserMistake
from reverie.files.places import Places, find_checkout, memory_folder, open_project
from reverie.memory.directories import MemoryDirectories, Scope, project_scope, user_scope, without_mentions
from reverie.settings import Settings
from reverie.settings.features import find_off_reason
from reverie.settings.load import fresh_marker, places_of, process_settings, system_now

if TYPE_CHECKING:
    from reverie.files.places import ProjectFolder
    from reverie.hosts.memory_files import HostStore
    from reverie.hosts.memory_targets import MemoryTarget
    from reverie.memory.agent_files import ExportedNotes, ImportedNotes
    from reverie.memory.conversation import ConversationMemory, MessageLearner
    from reverie.memory.doctor import Problem
    from reverie.memory.dream.dreams import Dreams, Dreamt
    from reverie.memory.extraction.candidate import UserMessage
    from reverie.memory.extraction.learn import Learned
    from reverie.memory.retention import SessionFile
    from reverie.memory.search.document import Query
    from reverie.memory.search.passages import PastHit, PastQuery, PastSearchResult
    from reverie.memory.search.past_sessions import Past
    from reverie.memory.search.recall import Recalled
    from reverie.memory.search.render import Hit, RenderLimits
    from reverie.memory.search.topic_index import IndexedFolder
    from reverie.memory.search.topic_table import Indexed
    from reverie.memory.store.bundle import Imported
    from reverie.memory.store.change import Author, Commit
    from reverie.memory.store.erase import ErasureResult
    from reverie.memory.store.timeline import Provenance, SaveRefusal, UndoResult
    from reverie.memory.store.topic_store import Saved, Store
    from reverie.memory.store.writer import Attribute
    from reverie.memory.team.own_machines import PersonalSync
    from reverie.memory.team.team import Team
    from reverie.memory.topics.anchors import AnchorCheck
    from reverie.memory.topics.draft import Given
    from reverie.memory.topics.situations import When
    from reverie.memory.topics.value import MemoryType, Source, Topic, Trust
    from reverie.models.ports import Model

AnyPath = str | PathLike[str]

_ANCHORS_DERIVED_UP_TO = 200
"""In larger batches anchors are not derived, because each text costs a few reads of the project."""


class Memory:
    """The memories of one project, or of one directory."""

    def __init__(
        self,
        directory: AnyPath,
        *,
        project: AnyPath | None = None,
        settings: Settings | None = None,
        now: Callable[[], datetime] = system_now,
    ) -> None:
        """Open exactly this directory; `project` is where its anchors are looked for.

        Raises:
            UserMistake: it is a file, the root, the home directory, or holds the system's own things, as `/tmp` does.
        """
        place = Path(os.path.normpath(Path(directory).expanduser().absolute()))
        if place in (Path(place.anchor), Path.home()) or _holds_other_things(place):
            raise UserMistake(f"{place} contains other files; choose an empty or dedicated directory")
        if place.exists() and not place.is_dir():
            raise UserMistake(f"{place} is not a directory; name an existing or new directory")
        root = Path(project).absolute() if project is not None else None
        if settings is None:
            places, settings = process_settings(root or Path.cwd())
        else:
            places = places_of(settings)
        scope = Scope("project", memory_folder(places, place), "named by the caller")
        self._set_up(places, settings, scope, root=root, now=now)

    @classmethod
    def open(
        cls, project: AnyPath = ".", *, settings: Settings | None = None, now: Callable[[], datetime] = system_now
    ) -> Memory:
        """Open the memory of the project around a directory; create it if there is none.

        The store belongs to the repository: it is found again after a move, and all work trees share it.
        """
        directory = Path(project).expanduser().absolute()
        if not directory.is_dir():
            raise UserMistake(f"{directory} does not exist; name a directory inside the project")
        if settings is None:
            places, settings = process_settings(directory)
        else:
            places = places_of(settings)
        return cls.at(places, settings, directory, now=now)

    @classmethod
    def at(
        cls, places: Places, settings: Settings, directory: Path, *, now: Callable[[], datetime] = system_now
    ) -> Memory:
        """As `open`, with paths and settings that the caller has loaded."""
        memory = cls.__new__(cls)
        checkout = find_checkout(directory)
        root = checkout.root if checkout else directory
        if find_off_reason(settings) is not None:
            store = places.project(root)
        else:
            marker = fresh_marker()
            store = open_project(places, directory, new_marker=marker, first_commit=_first_commit, now=now()).folder
        scope = project_scope(places, settings, store, root, Path.home())
        top = checkout.top if checkout else directory
        memory._set_up(places, settings, scope, root=top, now=now, is_project=True)
        return memory

    def _set_up(
        self,
        places: Places,
        settings: Settings,
        scope: Scope,
        *,
        root: Path | None,
        now: Callable[[], datetime],
        is_project: bool = False,
    ) -> None:
        self.scope = scope
        self.settings = settings
        self._places = places
        self._root = root
        self._now = now
        self._directories = MemoryDirectories(places, scope, root=root, is_project=is_project)
        self._store: Store | None = None
        self._user: Memory | None = None
        self._others: dict[Path, Memory] = {}
        self._past: Past | None = None
        self._learner: MessageLearner | None = None
        self._dreams: Dreams | None = None
        self.off = find_off_reason(settings)

    @property
    def directory(self) -> Path:
        """The directory of the topic files."""
        return self.scope.folder.directory

    @property
    def user(self) -> Memory:
        """The user memory, which applies in every project and is searched together with this one."""
        if self._user is None:
            self._user = Memory.__new__(Memory)
            self._user._set_up(self._places, self.settings, user_scope(self._places), root=None, now=self._now)
        return self._user

    def __repr__(self) -> str:
        return f"Memory({str(self.directory)!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close files and threads; what is being learnt from a conversation is finished first."""
        if self._learner is not None:
            self._learner.close()
        self._directories.close()
        if self._past is not None:
            self._past.close()
            self._past = None
        for other in (*([self._user] if self._user is not None else []), *self._others.values()):
            other.close()

    def save(
        self,
        *,
        name: str,
        description: str,
        type: str | MemoryType | None,  # noqa: A002 - the name that callers use
        body: str = "",
        when: When | Iterable[str] = (),
        asks: Iterable[str] = (),
        observed: date | None = None,
        source: Given = None,
        trust: str | Trust = "inferred",
    ) -> Topic:
        """Save a memory as one commit; one of the same name is updated.

        `when` says in which situations it applies: globs, names of tools, kinds of task, `always`, or words of a
        request. `asks` are up to five requests for which it should come up, in other words than its own. What is left
        out of both is derived, or kept from the memory that is updated. `observed` is the day on which it was true.

        Raises:
            UserMistake: a field is missing or unknown, or the asks are too many or too long.
            Refused: it holds a secret, was erased, or would make an instruction of what was only seen.
        """
        from reverie.memory.topics.draft import draft_topic

        topic = draft_topic(
            name, description, type, body, trust=trust, source=source, when=when, asks=asks, observed=observed
        )
        return self.keep(topic).topic

    def keep(
        self,
        topic: Topic,
        *,
        team: bool = False,
        reason: str = "",
        session: str | None = None,
        author: Author | None = None,
    ) -> Saved:
        """Save a topic and return the result; missing fields are derived from its text."""
        from reverie.memory.drafts import near_topics, same_text
        from reverie.memory.store.topic_store import Saved
        from reverie.memory.topics.draft import check_asks, check_trust, complete_topic, update_topic

        self._refuse_when_off()
        who: Author = author or ("user" if topic.trust == "said" else "agent")
        check_trust(topic)
        is_named = not topic.path
        check_asks(topic, self._read_saved(topic.path) if topic.asks and topic.path else None)
        draft = topic = self._for_team(topic) if team else topic

        def complete(topic: Topic) -> Topic:
            return complete_topic(topic, self._now(), self._root, self._has_commit)

        topic = complete(draft)
        index = self.index
        twin = same_text(index, topic)
        if twin is not None and twin.name != topic.name and self._says(twin):
            warning = f"nothing saved: {twin.path} ({twin.name!r}) says exactly this already"
            return Saved(twin.path, None, twin, (warning,))
        saved = self.store.save(
            topic,
            author=who,
            reason=reason,
            session=session,
            renew=lambda old, new: update_topic(old, draft, complete) if is_named else new,
            is_own_word=author is None,
        )
        near = (
            f"{near.path} ({near.name!r}) says nearly the same; one of them may be enough"
            for near in near_topics(index, saved.topic)
        )
        return replace(saved, warnings=(*saved.warnings, *near))

    def save_many(self, topics: Iterable[Topic], *, author: Author = "import", reason: str = "") -> int:
        """Save many topics as one commit, all or none; return how many."""
        from reverie.memory.topics.draft import check_asks, check_trust, complete_topic, update_topic

        self._refuse_when_off()
        batch = list(topics)
        root = self._root if len(batch) <= _ANCHORS_DERIVED_UP_TO else None
        now = self._now()
        unplaced = {topic.name: topic for topic in batch if not topic.path}
        for topic in batch:
            check_trust(topic)
            check_asks(topic, self._read_saved(topic.path) if topic.asks and topic.path else None)

        def complete(topic: Topic) -> Topic:
            return complete_topic(topic, now, root)

        def renew(old: Topic, new: Topic) -> Topic:
            return update_topic(old, unplaced[new.name], complete) if new.name in unplaced else new

        done, _ = self.store.save_many(map(complete, batch), author=author, reason=reason, renew=renew)
        return done

    def write_files(
        self, files: Mapping[str, str | None], *, author: Author, reason: str, source: Source, as_given: bool = False
    ) -> Mapping[str, str | None]:
        """Write whole files of the directory as an agent made them, or remove them (None), as one commit.

        Topics are completed by what every memory has, unless they are to stay `as_given`; returned is what the files
        hold. In daily-log mode a log may be added to.

        Raises:
            Refused: a file holds a secret, was erased, says what is known already, or cannot be a memory.
            Damaged: front matter that cannot be read.
        """
        from reverie.memory.model_asks import drop_bad_asks
        from reverie.memory.store.worktree import is_topic_path
        from reverie.memory.topics.draft import check_asks, check_trust, complete_agent_topic, complete_topic
        from reverie.memory.topics.topic import parse_topic, render_topic

        self._refuse_when_off()
        texts = dict(files)
        for path, text in files.items():
            if text is None or not is_topic_path(path):
                continue
            old = self._read_saved(path)
            topic = complete_agent_topic(parse_topic(path, text), old, source, is_judged=author == "extraction")
            topic = complete_topic(topic, self._now(), self._root, self._has_commit)
            check_trust(topic)
            if author == "extraction":
                topic, _ = drop_bad_asks(topic, old)
            check_asks(topic, old)
            texts[path] = text if as_given else render_topic(topic, text)
        self.store.write_files(texts, author=author, reason=reason, session=source.session, sources=(source,))
        return texts

    def _read_saved(self, path: str) -> Topic | None:
        """The topic in a file as it stands; None where there is none that can be read."""
        from reverie.memory.store.worktree import read_tracked
        from reverie.memory.topics.topic import parse_topic

        before = read_tracked(self.scope.folder, path)
        with suppress(Damaged):
            return None if before is None else parse_topic(path, before.decode("utf-8", "replace"))
        return None

    def holding(self, path: Path) -> tuple[Memory, str] | None:
        """The memory in whose directory a path lies, and the path inside it; None where it lies in none."""
        from reverie.memory.directories import find_memory_directory

        real = Path(os.path.realpath(path))
        own = Path(os.path.realpath(self.directory))
        directory = own if real.is_relative_to(own) else find_memory_directory(self._places, real)
        if directory is None or real == directory:
            return None
        return (self if directory == own else self._other(directory)), real.relative_to(directory).as_posix()

    def reachable(self, cwd: Path) -> tuple[Memory, ...]:
        """This memory, the user's and those of the agents that work in a directory, as far as they exist."""
        from reverie.memory.directories import agent_directories

        others = [self._other(Path(os.path.realpath(each))) for each in agent_directories(self._places, cwd=cwd)]
        user = [self.user] if self.user is not self and self.user.directory.is_dir() else []
        return (self, *user, *others)

    def _other(self, directory: Path) -> Memory:
        """The memory of another directory; the user's own, an agent's, or another project's."""
        if directory == Path(os.path.realpath(self.user.directory)):
            return self.user
        if directory not in self._others:
            other = self._others[directory] = Memory.__new__(Memory)
            scope = Scope("other", memory_folder(self._places, directory), "named by a path in it")
            other._set_up(self._places, self.settings, scope, root=None, now=self._now)
        return self._others[directory]

    def forget(self, name: str, *, reason: str = "", author: Author = "user") -> Saved:
        """Remove a memory from the directory; `undo` restores it."""
        self._refuse_when_off()
        return self.store.forget(self.path_of(name), author=author, reason=reason)

    def archive(self, name: str, *, reason: str = "") -> Saved:
        """Archive a memory: it is kept as a file but not recalled; `restore` or `undo` brings it back."""
        self._refuse_when_off()
        return self.store.archive(self.path_of(name), reason=reason)

    def restore(self, name: str, *, reason: str = "") -> Saved:
        """Restore an archived memory, by the name or the path it had."""
        self._refuse_when_off()
        return self.store.restore(name, reason=reason)

    def archived(self) -> tuple[Topic, ...]:
        """The archived memories in the order of paths, each with the path it had."""
        return tuple(self.store.read_archived()) if self.directory.is_dir() else ()

    def pin(self, name: str, *, pinned: bool = True) -> Topic:
        """Keep a memory at the top of the index, below rules that always apply, and never archive it."""
        return self.pin_report(name, pinned=pinned).topic

    def pin_report(self, name: str, *, pinned: bool = True) -> Saved:
        """As `pin`, and return the commit too."""
        self._refuse_when_off()
        return self.store.pin(self.path_of(name), pinned=pinned)

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        exclude: Iterable[Topic | AnyPath] = (),
        context: str = "",
        files: Iterable[str] = (),
        tools: Iterable[str] = (),
        fresh: bool = False,
        session: str | None = None,
    ) -> list[Hit]:
        """The memories that are relevant to a query, best first; may be empty. Never asks a model.

        `exclude` names memories that were shown or read already; `files` and `tools` are those of the last turns;
        `fresh` looks at the directory at once instead of at most once a second.
        """
        built = self.build_query(query, limit=limit, exclude=exclude, context=context, files=files, tools=tools)
        hits = self.recall_report(built, fresh=fresh).hits
        self.note_recalled(hits, query, session=session)
        return list(hits)

    def build_query(
        self,
        text: str,
        *,
        limit: int | None = None,
        exclude: Iterable[Topic | AnyPath] = (),
        named: Iterable[str] = (),
        context: str = "",
        files: Iterable[str] = (),
        tools: Iterable[str] = (),
    ) -> Query:
        """A query for `recall_report` and `select`."""
        from reverie.memory.search.document import Query

        if limit is not None and (not isinstance(limit, int) or limit < 1):
            raise UserMistake(f"limit={limit!r} must be a positive integer")
        shown = frozenset(path for each in exclude for path in self._whole_paths(each))
        return Query(
            text=_as_text(text),
            now=self._now(),
            context=_as_text(context),
            files=tuple(files),
            tools=tuple(tools),
            exclude=shown,
            named=frozenset(named),
            caution=self.settings.recall.caution,
            limit=self.limits.hits if limit is None else limit,
        )

    def recall_report(self, query: Query, *, fresh: bool = False) -> Recalled:
        """As `recall`, with the number of memories searched; does not record the use."""
        from reverie.memory.search.recall import Recalled, recall

        if self.off is not None:
            return Recalled(hits=(), searched=0, skipped=self.off)
        searched = self._directories.for_query(query.text, fresh=fresh)
        query = replace(query, text=without_mentions(query.text))
        recalled = recall(searched, query, limits=self.limits, check=self._check)
        return replace(recalled, hits=self._mark_shared(recalled.hits))

    async def recall_async(
        self,
        query: str,
        *,
        model: Model | str | None = None,
        limit: int | None = None,
        exclude: Iterable[Topic | AnyPath] = (),
        context: str = "",
        files: Iterable[str] = (),
        tools: Iterable[str] = (),
    ) -> list[Hit]:
        """As `recall`, with a model's choice among the best; if it fails, the result without a model is returned."""
        import asyncio

        built = self.build_query(query, limit=limit, exclude=exclude, context=context, files=files, tools=tools)
        hits: Sequence[Hit] = (await asyncio.to_thread(self.recall_report, built)).hits
        if model is not None and self.off is None and self.settings.recall.rerank:
            with suppress(TimeoutError):
                hits = await asyncio.wait_for(self.select(built, hits, model), self.settings.recall.timeout_seconds)
        self.note_recalled(hits, query)
        return list(hits)

    async def select(self, query: Query, embedded: Sequence[Hit], model: Model | str) -> Sequence[Hit]:
        """The hits that a model chooses among the best, beside the first of the embedded ones; those, when it fails."""
        from reverie.memory.search.model_selection import select

        searched = self._directories.for_query(query.text, fresh=False)
        hits = await select(
            searched, query, embedded, self._model(model), self.settings.recall, limits=self.limits, check=self._check
        )
        return self._mark_shared(hits)

    def describe_shared(self, trusts: Mapping[str, str | None]) -> dict[str, str]:
        """Path → whose word it is, for those of these memories (path → trust) that a colleague wrote."""
        if not any(map(_is_shared, trusts)):
            return {}
        from reverie.memory.team.team import describe_trust

        authors = self.team.find_authors(list(trusts))
        return {path: describe_trust(trusts[path], author) for path, author in authors.items()}

    def _mark_shared(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """Name the colleague whose word a recalled memory is."""
        is_shared = any(_is_shared(hit.topic.path) for hit in hits)
        return self.team.attribute(hits) if is_shared else tuple(hits)

    @property
    def team(self) -> Team:
        """The part that is shared with colleagues, and its remote."""
        from reverie.memory.team.team import Team

        tokens = self._places.home / "team-tokens"
        return Team(self.scope.folder, lambda: self.store, self.settings.team, self._root, self._now, tokens)

    @property
    def private_sync(self) -> PersonalSync:
        """What keeps this memory the same on several machines of one person."""
        from reverie.memory.team.own_machines import PersonalSync

        project = None if self.scope.name == "user" else self._root or self.directory
        return PersonalSync(self.scope.folder, lambda: self.store, self.settings.team, project, self._now)

    @property
    def has_vectors(self) -> bool:
        """Whether vectors are available: the embedding model and what runs it are installed."""
        return self._directories.has_vectors

    def note_recalled(self, hits: Sequence[Hit], query: str, *, session: str | None = None) -> None:
        """Record which memories were shown whole for a query; skipped if the directory is read-only."""
        hits = [hit for hit in hits if hit.shown == "whole"]
        if not hits:
            return
        from reverie.memory.store.usage_log import Use, append_uses, redact_query

        when, redacted = self._now().isoformat(timespec="seconds"), redact_query(_as_text(query))
        for scope in self._directories.scopes:
            uses = [Use(hit.topic.path, when, redacted, hit.score, session) for hit in hits if hit.scope == scope.name]
            with suppress(Error, OSError):
                append_uses(scope.folder, uses)

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        session: str | None = None,
        since: date | datetime | None = None,
        role: str | None = None,
        fresh: bool = False,
    ) -> list[PastHit]:
        """Passages of the project's past sessions, best first; empty if no selective word of the query occurs.

        `session` is the beginning of an id; `role` is `user`, `assistant`, `tool` or `summary`; `fresh` reads every
        transcript again. What is found is data, whatever it says.
        """
        from reverie.memory.search.passages import PastQuery

        start = since if isinstance(since, datetime) else None
        if since is not None and start is None:
            start = datetime(since.year, since.month, since.day, tzinfo=self._now().tzinfo)
        roles = () if role is None else (role,)
        return list(self.search_report(PastQuery(_as_text(query), limit, session, start, roles), fresh=fresh).hits)

    def search_report(
        self, query: PastQuery, *, fresh: bool = False, progress: Callable[[int, int], None] = lambda _done, _of: None
    ) -> PastSearchResult:
        """As `search`, with how much was searched; `progress` is called with bytes read and bytes in total."""
        from reverie.memory.search.past_sessions import Past

        if self._past is None:
            if self._root is None:
                raise UserMistake(
                    f"{self.directory} belongs to no project; open a project's memory to search its sessions"
                )
            self._past = Past(self._places, self._root)
        return self._past.search(query, now=self._now(), fresh=fresh, progress=progress)

    def follow_conversation(self, session: str = "", *, shown: Iterable[str] = ()) -> ConversationMemory:
        """Recall for a conversation that somebody else keeps, and learn from it.

        `session` names it in the history; `shown` are paths of memories that stand in it already.
        """
        from reverie.memory.conversation import ConversationMemory, MessageLearner

        if self._learner is None:
            self._learner = MessageLearner(self._learn_from_message)
        return ConversationMemory(self.recall, self.settings.recall, self._learner, session, shown)

    def _learn_from_message(self, message: UserMessage) -> None:
        from reverie.memory.conversation import learn_from_message

        if self.off is None and self.settings.extraction.enabled:
            learn_from_message(message, store=self.store, index=self.index, root=self._root, now=self._now())

    def wait_until_learnt(self, timeout_seconds: float | None = None) -> None:
        """Wait until everything is learnt that was said in the conversations that are followed."""
        if self._learner is not None:
            self._learner.wait(timeout_seconds)

    async def learn(
        self,
        paths: Iterable[AnyPath],
        *,
        model: Model | str | None = None,
        dry_run: bool = False,
        progress: Callable[[int, int, str], None] = lambda _done, _of, _session: None,
    ) -> Learned:
        """Learn from existing transcripts (files, or folders that hold some); a second run over them adds nothing.

        With a model its answers go through the same gate as what the rules find; `dry_run` only says what would be.
        """
        from reverie.memory.extraction.learn import LearnTarget, learn

        self._refuse_when_off()
        return await learn(
            LearnTarget(self.store, self.index, self._root, self._places.ledger, self.settings.budget),
            [Path(path) for path in paths],
            model=None if model is None else self._model(model),
            dry_run=dry_run,
            now=self._now(),
            # The machine's own zone knows about summer time; the offset of this moment does not.
            zone=None if self._now is system_now else self._now().tzinfo,
            progress=progress,
        )

    @property
    def dreams(self) -> Dreams:
        """The dreams of this memory: background consolidation."""
        from reverie.memory.dream.dreams import Dreams

        if self._dreams is None:
            self._dreams = Dreams(
                self.scope.folder,
                lambda: self.store,
                self.settings,
                self._places,
                self._now,
                root=self._root,
                off=self.off,
            )
        return self._dreams

    async def dream(self, *, review: bool = False) -> Dreamt:
        """Consolidate the memories now, as one commit; large changes, or with `review` all, wait as a proposal.

        By rules; `dreams.run(forks=…)` lets the model of a session do it, in a copy and checked.
        """
        self._refuse_when_off()
        return await self.dreams.run("nothing" if review else "limits")

    def topics(self) -> Iterator[Topic]:
        """Every readable memory, in the order of paths."""
        return (each.topic for each in self.entries())

    def related(self) -> tuple[Path, ...]:
        """Memory directories of other projects that began with the same commit, which forks and templates share too."""
        from reverie.files.places import find_project, list_projects

        mine = find_project(self._places, self._root) if self._root is not None else None
        if mine is None or mine.identity.first_commit is None:
            return ()
        return tuple(
            folder.memory
            for folder, identity in list_projects(self._places)
            if folder != mine.folder and identity.first_commit == mine.identity.first_commit and folder.memory.is_dir()
        )

    def entries(self) -> Iterator[Indexed]:
        """As `topics`, each with what its file adds."""
        if self.off is not None:
            return iter(())
        self.index.sweep()
        return self.index.topics()

    def read(self, name: str) -> Topic:
        """The memory of this name, path or beginning of a file name.

        Raises:
            UserMistake: there is none, or more than one.
            Damaged: its file cannot be read.
        """
        path = self.path_of(name)
        indexed = self.index.read([path])
        if path in indexed:  # in step with the file since the name was looked up
            return indexed[path].topic
        from reverie.memory.store.worktree import read_topic
        from reverie.memory.topic_names import missing

        try:
            return read_topic(self.scope.folder, path) or missing(self.index, name)
        except Damaged as problem:
            raise Damaged(
                f"{self.directory}/{problem}", path=self.directory / problem.path, line=problem.line
            ) from None

    def path_of(self, name: str) -> str:
        """The path, inside the directory, of the memory that a person means."""
        from reverie.memory.topic_names import find_path, missing

        path = find_path(self.index, name)
        return path if path is not None else missing(self.index, name)

    @property
    def has_foreign_edits(self) -> bool:
        """Whether recall has seen edits by others that no commit holds yet; `sync` makes one."""
        return self.index.has_news

    def sync(self, attribute: Attribute | None = None) -> tuple[str, ...]:
        """Commit edits by editors and other programs; return the commits.

        `attribute` may know who made an edit, before transcripts are asked.
        """
        self.index.has_news = False
        return self.store.sync(attribute) if self.directory.is_dir() else ()

    def _sync_if_allowed(self) -> None:
        """As `sync`, before reading: where nothing can be written, the past is read as it is."""
        with suppress(Unavailable):
            self.sync()

    def log(self, name: str | None = None, *, limit: int | None = None) -> tuple[Commit, ...]:
        """The changes, newest first; of one memory also if it was removed."""
        from reverie.memory.store import timeline
        from reverie.memory.topic_names import resolved_path

        self._sync_if_allowed()
        if name is None:
            return timeline.log(self.store, limit=limit)
        with resolved_path(self.index, name) as path:
            return timeline.log(self.store, path, limit=limit)

    def refusals(self) -> tuple[SaveRefusal, ...]:
        """What was not saved and by which rule, the latest last; a secret is never quoted."""
        from reverie.memory.extraction.learn import refusals_of
        from reverie.memory.store import timeline

        refusals = (*timeline.refusals(self.store), *refusals_of(self.scope.folder, self._now()))
        return tuple(sorted(refusals, key=lambda each: each.when))

    def knows(self, commit: str) -> bool:
        """Whether the history has a commit of this id or beginning of an id."""
        from reverie.memory.store.past import find_commit

        with suppress(UserMistake, Unavailable):
            return bool(find_commit(self.store.history, commit))
        return False

    def diff(self, commit: str | None = None) -> str:
        """The diff of a change; of the last one by default."""
        from reverie.memory.store import timeline

        self._sync_if_allowed()
        return timeline.diff(self.store, commit)

    def why(self, name: str) -> Provenance:
        """The sources of a memory, its changes, and when it was recalled."""
        from reverie.memory.store import timeline
        from reverie.memory.topic_names import resolved_path

        self._sync_if_allowed()
        with resolved_path(self.index, name) as path:
            return timeline.why(self.store, path)

    def topics_at(self, when: date | datetime) -> tuple[Topic, ...]:
        """The memories at a given time, or at the end of a day."""
        from reverie.memory.store import timeline

        self._sync_if_allowed()
        return timeline.topics_at(self.store, self._moment(when))

    def read_at(self, name: str, when: date | datetime) -> Topic:
        """One memory at a given time."""
        from reverie.memory.topic_names import inside
        from reverie.memory.topics.filenames import find_topic

        topics = {topic.path: topic for topic in self.topics_at(when)}
        wanted = inside(self.directory, name)
        path = find_topic(wanted, topics, lambda: {path: topic.name for path, topic in topics.items()})
        if path is None:
            hint = f"`reverie at {when:%Y-%m-%d}` lists those there were"
            raise UserMistake(f"no memory {name!r} in {self.directory} on {when:%Y-%m-%d}; {hint}")
        return topics[path]

    def undo(self, *commits: str) -> UndoResult:
        """Undo changes of any age; a conflict with later changes writes nothing.

        Without one the newest change is meant that was not taken back yet; if it belongs to a run of `learn`, all of
        that run.
        """
        from reverie.memory.store import timeline

        self._refuse_when_off()
        if not commits:
            newest = timeline.newest_change(self.store).commit
            commits = next((run for run in self.learn_runs() if newest in run), (newest,))
        return timeline.undo(self.store, *commits)

    def learn_runs(self) -> tuple[tuple[str, ...], ...]:
        """The commits of each run of `learn`, the newest run first."""
        from reverie.memory.extraction.learnt import read_runs

        return tuple(reversed(read_runs(self.scope.folder)))

    def erase(self, name: str, *, redact: Iterable[Path] = ()) -> ErasureResult:
        """Erase a memory from the directory, its history, everything derived and spilled results.

        `redact` names further files that may quote it, such as `transcripts()`.
        """
        from reverie.memory.dream.proposal import remove_proposal_about
        from reverie.memory.extraction.refusals import remove_refusals
        from reverie.memory.store import timeline
        from reverie.memory.store.erased_sentences import extract_topic_text
        from reverie.memory.store.usage_log import remove_uses
        from reverie.memory.topic_names import resolved_path

        self._refuse_when_off()
        with resolved_path(self.index, name) as path:
            texts = (extract_topic_text(self.store.read_bytes(path)[0]),) if (self.directory / path).is_file() else ()
            files = dict.fromkeys((*redact, *(file.path for file in self._session_files() if file.kind == "spill")))
            erased = timeline.erase(self.store, path, redact=files)
        remove_uses(self.scope.folder, erased.paths)
        remove_refusals(self.scope.folder, erased.paths, texts)
        remove_proposal_about(self.scope.folder, erased.paths)
        self.index.remove()
        if erased.redacted:
            from reverie.memory.search.past_sessions import remove_erased

            remove_erased(self._places, self._root)
        elsewhere = self.team.erase(erased.paths) if any(map(_is_shared, erased.paths)) else ()
        elsewhere += self.private_sync.erase(erased.paths)
        return replace(erased, elsewhere=(*erased.elsewhere, *elsewhere)) if elsewhere else erased

    def transcripts(self) -> tuple[Path, ...]:
        """Every file of the project's sessions that may quote a memory: transcripts, spilled results and notes."""
        files = {file.path: file.session for file in self._session_files()}
        sessions = dict.fromkeys(path.parent / path.stem for path, session in files.items() if path.stem == session)
        notes = (note for each in sessions for note in sorted([*each.glob("session-memory/*.md"), *each.glob("*.md")]))
        return (*files, *notes)

    def _session_files(self) -> Iterator[SessionFile]:
        from reverie.memory.retention import list_session_files
        from reverie.memory.search.passages.listing import list_all_folders, list_session_folders

        folders: Iterable[ProjectFolder] = ()
        if self._root is not None:
            folders = list_session_folders(self._places, self._root)
        elif self.scope.name == "user":
            folders = list_all_folders(self._places)
        return (file for folder in folders for file in list_session_files(folder.directory))

    def cautions(self) -> tuple[str, ...]:
        """Warnings about what was found while this memory was open: damage, secrets in files that others edited."""
        why = self.index.rebuilt
        rebuilt = (f"the search index of {self.directory} could not be used and was rebuilt: {why}",) if why else ()
        if self._store is None:
            return rebuilt
        withheld, recovered = self._store.held, self._store.history.recovered
        damage = (f"the history of {self.directory} was damaged: {recovered}",) if recovered else ()
        warnings = tuple(
            f"{path} holds what looks like a secret ({places}) that was not written by Reverie; the file stays as it "
            f"is, but is not committed, recalled or shared: take the secret out, or `reverie erase {path}`"
            for path, places in withheld.items()
        )
        committed = tuple(
            f"{each.path}: {each.detail}, and another program committed it; it is not recalled or exported: "
            f"`reverie erase {each.path}`, then make a new secret"
            for each in self.index.unreadable()
            if each.is_secret and each.path not in withheld
        )
        return (*rebuilt, *damage, *warnings, *committed)

    def problems(self) -> tuple[Problem, ...]:
        """Problems of the directory, and how to fix them."""
        from reverie.memory.doctor import find_problems

        return find_problems(self.store, self.index, self._root, self._now())

    def repair(self) -> tuple[str, ...]:
        """Make the repairs that are safe without asking; return what was done."""
        from reverie.memory.doctor import repair

        return repair(self.store, self.index)

    def export(self, target: AnyPath) -> Path:
        """Write the directory with its history into one file."""
        from reverie.memory.store import timeline

        place = Path(target).expanduser().absolute()
        if place.is_dir() or not place.parent.is_dir():
            raise UserMistake(f"cannot write {place}; name a file in an existing directory")
        return timeline.write_bundle(self.store, place)

    def import_from(self, source: AnyPath) -> Imported:
        """Import such a file: merged with what is here, including its history."""
        from reverie.memory.store import timeline

        self._refuse_when_off()
        return timeline.import_bundle(self.store, Path(source).expanduser().absolute())

    def import_notes(
        self, stores: Sequence[HostStore], *, trust: str | Trust = "seen", dry_run: bool = False
    ) -> ImportedNotes:
        """Save what is new in the memory files of other agents (`hosts.memory_files.find_stores`), as one commit."""
        from reverie.memory.agent_files import import_notes
        from reverie.memory.topics.value import Trust

        self._refuse_when_off()
        return import_notes(self, stores, trust=Trust(trust), dry_run=dry_run)

    def export_notes(
        self, target: MemoryTarget, place: Path, *, max_bytes: int = 8_192, dry_run: bool = False
    ) -> ExportedNotes:
        """Write the memories that another agent may see to its files; a list of them has at most so many bytes."""
        from reverie.memory.agent_files import export_notes

        return export_notes(self, target, place, max_bytes=max_bytes, now=self._now(), dry_run=dry_run)

    @property
    def store(self) -> Store:
        """The files and their history."""
        if self._store is None:
            from reverie.memory.drafts import find_same
            from reverie.memory.store.attribution import Attribution
            from reverie.memory.store.history import History
            from reverie.memory.store.index.memory_md import IndexLimits
            from reverie.memory.store.topic_store import Store
            from reverie.memory.store.usage_log import read_counts

            folder = self.scope.folder
            self._store = Store(
                folder,
                now=self._now,
                history=History.open(folder) if self.settings.memory.history else History(folder, program=None),
                noticed=self.index.refresh,
                attribute=Attribution(folder, lambda: (path for path in self.transcripts() if path.suffix == ".jsonl")),
                use=lambda: read_counts(folder),
                vetted=self.index.vetted,
                limits=IndexLimits.of(self.settings.index),
                similar=lambda topic: find_same(self.index, topic),
            )
        return self._store

    @cached_property
    def limits(self) -> RenderLimits:
        """How much recall shows."""
        from reverie.memory.search.render import RenderLimits

        recall = self.settings.recall
        return RenderLimits(
            hits=recall.max_files,
            file_lines=recall.file_lines,
            file_bytes=recall.file_bytes,
            turn_bytes=recall.turn_bytes,
            show_again_tokens=recall.show_again_tokens,
            age=self.settings.age,
        )

    @property
    def index(self) -> IndexedFolder:
        """The search index of the directory."""
        return self._directories.own

    @property
    def root(self) -> Path | None:
        """Where anchors are looked for."""
        return self._root

    def check_anchors(self, topic: Topic) -> tuple[AnchorCheck, ...]:
        """The anchors of a memory against the project as it is now."""
        return self._check(self.scope.name, topic)

    def _check(self, scope: str, topic: Topic) -> tuple[AnchorCheck, ...]:
        """The anchors of a memory against the project as it is now; another project's are left alone."""
        from reverie.memory.topics.anchors import AnchorCheck, read_anchor_state

        if self._root is None or scope == "user" or not topic.anchors:
            return ()
        return tuple(
            AnchorCheck(anchor, read_anchor_state(anchor, self._root, has_commit=self._has_commit))
            for anchor in topic.anchors
        )

    def _has_commit(self, commit: str) -> bool:
        from reverie.memory.project_repository import has_commit

        return self._root is not None and has_commit(self._root, commit)

    def _says(self, topic: Topic) -> bool:
        """Whether a topic of the index still says the same on disk."""
        from reverie.memory.store.worktree import read_topic

        with suppress(Error):
            stored = read_topic(self.scope.folder, topic.path)
            return stored is not None and stored.body == topic.body
        return False

    def _model(self, model: Model | str) -> Model:
        if not isinstance(model, str):
            return model
        from reverie.models.from_settings import process_model

        return process_model(model, self._root or Path.cwd())

    def _for_team(self, topic: Topic) -> Topic:
        from reverie.memory.store.worktree import list_tracked
        from reverie.memory.topics.filenames import file_name, path_key
        from reverie.memory.topics.scope import find_private_reason

        reason = find_private_reason(topic)
        if reason:
            raise UserMistake(f"{topic.name!r} was not saved for the team: {reason}")
        taken = {path_key(path.removeprefix("team/")) for path in list_tracked(self.scope.folder)}
        current = self.index.find_path_by_name(topic.name)
        path = (
            current if current and current.startswith("team/") else f"team/{file_name(topic.type, topic.name, taken)}"
        )
        return replace(topic, path=path)

    def _whole_paths(self, named: Topic | AnyPath) -> tuple[str, ...]:
        """The paths that an excluded memory may have: whole as they are, else in every directory searched."""
        from reverie.memory.topics.value import Topic

        path = named.path if isinstance(named, Topic) else str(named)
        if path.startswith("/"):
            return (path,)
        return tuple(each.path(path) for each in self._directories.standing)

    def _moment(self, when: date | datetime) -> datetime:
        if isinstance(when, datetime):
            return when if when.tzinfo else when.replace(tzinfo=self._now().tzinfo)
        start = datetime(when.year, when.month, when.day, tzinfo=self._now().tzinfo)
        return start + timedelta(days=1, seconds=-1)

    def _refuse_when_off(self) -> None:
        if self.off is not None:
            raise Refused(f"memory is off: {self.off}", by="settings")


def _holds_other_things(place: Path) -> bool:
    """Whether a directory right below the root is in use for something else; `/data` of a container may be empty."""
    if len(place.parts) > 2 or not place.is_dir():
        return False
    names = {entry.name for entry in place.iterdir()}
    return bool(names) and "MEMORY.md" not in names


def _as_text(text: str) -> str:
    """The text without halves of characters, which a terminal in another encoding leaves in it."""
    if not isinstance(text, str):
        raise UserMistake(f"a query must be a string, not {type(text).__name__}")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _first_commit(path: Path) -> str | None:
    from reverie.memory.project_repository import first_commit

    return first_commit(path)


def _is_shared(path: str) -> bool:
    """Whether a memory lies in the folder of the team."""
    from reverie.memory.store.worktree import TEAM

    return path.startswith(TEAM)
