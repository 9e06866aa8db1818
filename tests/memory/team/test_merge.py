"""The laws of merging: pure clients at random, over a remote that is a dictionary."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.team.entry import TeamEntry, live_entry, tombstone
from reverie.memory.team.merge import MergedFile, merge_file
from tests.requirements import requirement

PATHS = ("a.md", "b.md", "c.md")
HEAD = "---\nname: N\ndescription: D\ntype: project\n---\n"


def text_of(*lines: str) -> str:
    return HEAD + "".join(f"{line}\n\n" for line in lines)


def marks_in(text: str | None) -> set[str]:
    return {line for line in (text or "").splitlines() if line.startswith(("life ", "edit "))}


@dataclass
class Remote:
    """What everybody shares."""

    entries: dict[str, TeamEntry] = field(default_factory=dict)


@dataclass
class Client:
    """A directory, what was agreed with the remote, and conflict copies."""

    files: dict[str, str] = field(default_factory=dict)
    agreed: dict[str, TeamEntry] = field(default_factory=dict)
    copies: set[str] = field(default_factory=set)

    def sync(self, remote: Remote) -> None:
        for path in {*self.files, *self.agreed, *remote.entries}:
            base, ours, theirs = self.agreed.get(path), self.files.get(path), remote.entries.get(path)
            merged = merge_file(path, base, ours, theirs)
            check_nothing_lost(base, ours, theirs, merged)
            if merged.losing is not None:
                self.copies.add(merged.losing)
            entry = theirs
            if merged.text != (theirs.text if theirs else None):
                last = theirs or base
                gone = tombstone(last.sha256 if last else "")
                entry = gone if merged.text is None else live_entry(merged.text)
            if entry is not None:
                self.agreed[path] = remote.entries[path] = entry
            if merged.text is None:
                self.files.pop(path, None)
            else:
                self.files[path] = merged.text


def check_nothing_lost(base: TeamEntry | None, ours: str | None, theirs: TeamEntry | None, merged: MergedFile) -> None:
    """Every line that a side added is in the result or in the edit that is kept; a deletion is no loss."""
    before = marks_in(base.text if base else None)
    kept = marks_in(merged.text) | marks_in(merged.losing)
    there = theirs.text if theirs else None
    if ours is not None and not (base is None and theirs is not None and theirs.is_deleted and merged.text is None):
        assert marks_in(ours) - before <= kept
    if there is not None:
        assert marks_in(there) - before <= kept


Step = tuple[str, int, str, int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["save", "edit", "edit", "delete", "sync", "sync"]),
        st.integers(0, 2),
        st.sampled_from(PATHS),
        st.integers(0, 3),
    ),
    max_size=60,
)


def play(steps: list[Step]) -> tuple[list[Client], Remote, set[str]]:
    """Let three clients work, then sync them all until nothing moves; also returns the lives that were deleted."""
    clients, remote = [Client() for _ in range(3)], Remote()
    deleted: set[str] = set()
    for number, (act, who, path, where) in enumerate(steps):
        client = clients[who]
        current = client.files.get(path)
        if act == "save" and current is None:
            client.files[path] = text_of(f"life {number}", "one", "two", "three", "four")
        elif act == "edit" and current is not None:
            lines = current.removeprefix(HEAD).split("\n\n")
            place = 1 + min(where, len(lines) - 2)
            client.files[path] = HEAD + "\n\n".join([*lines[:place], f"edit {number}", *lines[place:]])
        elif act == "delete" and current is not None:
            before = client.agreed.get(path)
            if before is not None and marks_in(before.text) & marks_in(current):
                # Seen by others only when it is synced as a deletion.
                del client.files[path]
                client.sync(remote)
                deleted |= {mark for mark in marks_in(current) if mark.startswith("life ")}
            else:
                del client.files[path]
        elif act == "sync":
            client.sync(remote)
    for client in clients * 2:
        client.sync(remote)
    return clients, remote, deleted


@requirement("team:merge:convergence", "team:merge:loser-kept", "team:merge:delete-wins")
@given(STEPS)
def test_clients_converge_and_nothing_is_lost(steps: list[Step]) -> None:
    clients, remote, deleted = play(steps)

    live = {path: entry.text for path, entry in remote.entries.items() if not entry.is_deleted}
    assert all(client.files == live for client in clients)
    assert not {mark for text in live.values() for mark in marks_in(text)} & deleted


@requirement("team:merge:idempotent")
@given(STEPS)
def test_syncing_again_changes_nothing(steps: list[Step]) -> None:
    clients, remote, _ = play(steps)
    before = [(dict(client.files), set(client.copies)) for client in clients], dict(remote.entries)
    for client in clients:
        client.sync(remote)

    assert ([(client.files, client.copies) for client in clients], remote.entries) == before


TEXTS = st.one_of(
    st.none(), st.lists(st.sampled_from(["one", "two", "three", "four"]), max_size=4).map(lambda words: text_of(*words))
)


@requirement("team:merge:idempotent")
@given(TEXTS, TEXTS, TEXTS)
def test_a_pull_that_was_killed_before_it_noted_its_end_is_harmless(
    base: str | None, ours: str | None, theirs: str | None
) -> None:
    agreed = live_entry(base) if base is not None else None
    there = live_entry(theirs) if theirs is not None else tombstone(agreed.sha256 if agreed else "")
    first = merge_file("a.md", agreed, ours, there)
    again = merge_file("a.md", agreed, first.text, there)

    # An edit beside another may be taken for an overlap the second time; then it is kept, and theirs stands.
    assert again.text == first.text or (again.text == there.text and again.losing == first.text)


@requirement("team:merge:delete-wins")
def test_a_delete_wins_over_an_edit_on_either_side() -> None:
    base = live_entry(text_of("one"))
    edited = text_of("one", "two")

    assert merge_file("a.md", base, edited, tombstone(base.sha256)) == MergedFile(None, losing=edited)
    assert merge_file("a.md", base, None, live_entry(edited)) == MergedFile(None, losing=edited)


@requirement("team:merge:delete-wins")
def test_a_name_saved_again_after_its_deletion_is_a_new_entry() -> None:
    gone = tombstone(live_entry(text_of("one")).sha256)

    assert merge_file("a.md", gone, text_of("new"), gone) == MergedFile(text_of("new"))
    assert merge_file("a.md", None, text_of("new"), gone) == MergedFile(text_of("new"))


@requirement("team:merge:delete-wins")
def test_a_copy_of_a_deleted_text_does_not_come_back_with_a_new_member() -> None:
    text = text_of("one")

    assert merge_file("a.md", None, text, tombstone(live_entry(text).sha256)) == MergedFile(None)


@requirement("team:merge:convergence")
def test_a_remote_that_lost_its_entries_deletes_nothing() -> None:
    base = live_entry(text_of("one"))

    assert merge_file("a.md", base, base.text, None) == MergedFile(base.text)


@requirement("team:merge:loser-kept")
def test_where_two_edits_overlap_the_one_that_others_have_stands() -> None:
    base, theirs = live_entry(text_of("one")), live_entry(text_of("theirs"))

    assert merge_file("a.md", base, text_of("ours"), theirs) == MergedFile(theirs.text, losing=text_of("ours"))
