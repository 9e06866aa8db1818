"""The store against a dictionary: whatever is done in whatever order, both hold the same."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule, run_state_machine_as_test

from reverie.memory.store.timeline import undo
from tests.memory.stores import git, open_store, read_topics, topic
from tests.requirements import requirement

_names = st.sampled_from(["Alpha", "beta", "Gamma ray", "Café", "CAFÉ au lait", "数据库", "x" * 90])
_bodies = st.lists(st.sampled_from(["one", "two", "", "- three", "`four`", "fünf"]), min_size=1, max_size=5).map(
    "\n".join
)


class StoreMachine(RuleBasedStateMachine):
    """Saves, edits, forgets, hand edits and undoes; the model is path → bytes."""

    commits = Bundle("commits")

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.store = open_store(self.directory)
        self.store.save(topic("Seed"))
        self.model = self._topics()
        self.past: dict[str, tuple[dict[str, bytes], dict[str, bytes]]] = {}

    def teardown(self) -> None:
        assert git(self.directory, "status", "--porcelain") == ""
        assert git(self.directory, "fsck", "--strict") == ""
        shutil.rmtree(self.directory)

    def _after(self, commit: str | None) -> str | None:
        before, self.model = self.model, self._topics()
        if commit is None:
            assert self.model == before
            return None
        self.past[commit] = (before, self.model)
        return commit

    def _topics(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.directory.glob("*.md") if path.name != "MEMORY.md"}

    @rule(target=commits, name=_names, body=_bodies)
    def save(self, name: str, body: str) -> object:
        saved = self.store.save(topic(name, body=body))
        assert self.store.read(saved.topic.path).body == saved.topic.body
        others = {path: content for path, content in self.model.items() if path != saved.topic.path}
        commit = self._after(saved.commit)
        assert {path: content for path, content in self.model.items() if path != saved.topic.path} == others
        return commit or multiple()

    @rule(target=commits, name=_names, body=_bodies)
    def edit_if_there(self, name: str, body: str) -> object:
        if name not in {found.name for found in read_topics(self.store)}:
            return multiple()
        saved = self.store.edit(name, lambda old: replace(old, body=f"{old.body}\n{body}"))
        return self._after(saved.commit) or multiple()

    @rule(target=commits, name=_names)
    def forget_if_there(self, name: str) -> object:
        if name not in {found.name for found in read_topics(self.store)}:
            return multiple()
        changed = self.store.forget(name)
        expected = {path: content for path, content in self.model.items() if path != changed.path}
        commit = self._after(changed.commit)
        assert self.model == expected
        return commit or multiple()

    @rule(name=_names, body=_bodies)
    def edit_by_hand(self, name: str, body: str) -> None:
        path = self.directory / f"hand_{len(name)}.md"
        path.write_text(body, encoding="utf-8")
        expected = self._topics()
        self.store.sync()
        self.model = self._topics()
        assert self.model == expected

    @rule(target=commits, commit=commits)
    def undo_any(self, commit: str) -> object:
        before, after = self.past[commit]
        untouched = self.model == after
        undone = undo(self.store, commit)
        if undone.conflicts:
            assert not untouched
            assert self._topics() == self.model
            return multiple()
        if untouched:
            assert self._topics() == before
        return self._after(undone.commit) or multiple()

    @rule()
    def open_anew(self) -> None:
        self.store = open_store(self.directory, now=self.store.now)
        assert self.store.sync() == ()

    @invariant()
    def the_index_lists_exactly_the_topics(self) -> None:
        index = self.directory / "MEMORY.md"
        text = index.read_text(encoding="utf-8") if index.exists() else ""
        assert all(f"({path})" in text for path in self.model)
        assert text.count("](") == len(self.model)


_SETTINGS = settings(max_examples=6, stateful_step_count=10, deadline=None, suppress_health_check=list(HealthCheck))


@requirement("store:undo:exact", "store:index:follows")
def test_the_store_behaves_like_a_dictionary_with_a_past() -> None:
    run_state_machine_as_test(StoreMachine, settings=_SETTINGS)
