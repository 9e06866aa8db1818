from __future__ import annotations

from pathlib import Path

import pytest

from reverie.errors import Conflict
from reverie.memory.dream.apply import apply_steps
from reverie.memory.dream.proposal import DreamStep, StepKind
from reverie.memory.dream.tidy import TidyContext, tidy
from reverie.memory.store.timeline import log, undo
from tests.memory.dream.kit import dreamt, files, read, text, write
from tests.memory.stores import files_of, open_store
from tests.requirements import requirement

RULE = "Integration tests use a real database, because mocks once hid a broken migration."
OTHER = "Name branches after the ticket they belong to."


@requirement("dream:one-commit", "dream:undo")
def test_a_dream_is_one_commit_and_undo_restores_the_exact_bytes(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    write(tmp_path, files(a=RULE, b=RULE, c=OTHER) | {"d.md": text("d.md", "We release tomorrow.", kind="project")})
    apply_steps(store, ())
    before = files_of(tmp_path)
    assert "(b.md)" in (tmp_path / "MEMORY.md").read_text()

    _, applied = dreamt(store)

    commits = log(store)
    assert applied.commit == commits[0].commit
    assert commits[0].change.author == "dream"
    assert "b.md says the same as a.md" in commits[0].change.reason
    assert sorted(read(tmp_path)) == ["a.md", "c.md", "d.md"]
    assert (tmp_path / ".archive" / "b.md.archived").read_bytes() == before["b.md"]
    assert "b.md" not in (tmp_path / "MEMORY.md").read_text()

    assert applied.commit is not None
    assert undo(store, applied.commit).conflicts == ()
    assert files_of(tmp_path) == before
    assert not (tmp_path / ".archive" / "b.md.archived").exists()


@requirement("dream:undo")
def test_undo_of_a_dream_keeps_what_came_after_it(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    long = "First.\n\nSecond.\n\nWe release tomorrow.\n\nFourth.\n\nFifth."
    write(tmp_path, {"d.md": text("d.md", long, kind="project", description="Release"), **files(c=OTHER)})
    _, applied = dreamt(store)
    path = tmp_path / "d.md"
    path.write_text(path.read_text().replace("Fifth.", "Fifth, changed."))

    assert applied.commit is not None
    undo(store, applied.commit)

    assert "We release tomorrow." in path.read_text()
    assert "Fifth, changed." in path.read_text()


@requirement("dream:others")
def test_an_edit_made_meanwhile_is_merged(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    body = "First.\n\nSecond.\n\nWe release tomorrow."
    write(tmp_path, {"d.md": text("d.md", body, kind="project", description="Release")})
    store.sync()
    steps = tidy(read(tmp_path), TidyContext()).steps
    path = tmp_path / "d.md"
    path.write_text(path.read_text().replace("First.", "First, by hand."))

    applied = apply_steps(store, steps)

    assert applied.left == ()
    assert "First, by hand." in path.read_text()
    assert "We release tomorrow (2026-03-03)." in path.read_text()
    assert [commit.change.author for commit in log(store)[:2]] == ["dream", "unknown"]


@requirement("dream:others")
def test_where_both_changed_the_same_place_theirs_stays_and_the_rest_is_done(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    write(tmp_path, {"d.md": text("d.md", "We release tomorrow.", kind="project"), **files(a=RULE, b=RULE)})
    store.sync()
    steps = tidy(read(tmp_path), TidyContext()).steps
    path = tmp_path / "d.md"
    path.write_text(path.read_text().replace("We release tomorrow.", "We release when it is done."))

    applied = apply_steps(store, steps)

    assert "when it is done" in path.read_text()
    assert [reason for _, reason in applied.left] == ["d.md was changed concurrently in the same place"]
    assert [step.kind for step in applied.steps] == [StepKind.merge]


@requirement("dream:others")
@pytest.mark.parametrize("changed", ["a.md", "b.md", "gone"])
def test_a_merge_of_which_a_part_changed_at_the_same_place_is_left_out_as_a_whole(tmp_path: Path, changed: str) -> None:
    store = open_store(tmp_path)
    near = RULE.replace("use a", "must use a")
    write(tmp_path, files(a=RULE, b=near))
    store.sync()
    (step,) = tidy(read(tmp_path), TidyContext()).steps
    if changed == "gone":
        (tmp_path / step.archived[0]).unlink()
    else:
        path = tmp_path / changed
        path.write_text(path.read_text().replace("migration.", "schema."))
    before = files_of(tmp_path)

    applied = apply_steps(store, (step,))

    assert applied.steps == ()
    assert len(applied.left) == 1
    assert {**before, "MEMORY.md": b""} == {**files_of(tmp_path), "MEMORY.md": b""}


@requirement("dream:one-commit")
def test_the_archive_never_loses_what_it_holds(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for word in ("first", "second"):
        write(tmp_path, files(a=f"{word} {RULE}", c=OTHER))
        before = (tmp_path / "a.md").read_text()
        apply_steps(store, (DreamStep(StepKind.retire, "over", {"a.md": before}, {"a.md": None}),))
    kept = {path.name: path.read_text() for path in (tmp_path / ".archive").iterdir()}
    assert "first" in kept["a.md.archived"]
    assert "second" in kept["a.2.md.archived"]


@requirement("dream:embedded")
def test_lines_of_the_index_that_a_person_wrote_stay_whatever_a_dream_does(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    write(tmp_path, files(a=RULE, c=OTHER))
    apply_steps(store, ())
    index = tmp_path / "MEMORY.md"
    own = "\n## Mine\n\n- [Lost](lost.md) — was here\n- [Docs](https://example.org/x.md) — a page\n\nKeep this.\n"
    index.write_text(index.read_text() + own)

    before = index.read_text()
    assert apply_steps(store, ()).commit is None
    assert index.read_text() == before

    write(tmp_path, files(b=RULE))
    texts = read(tmp_path)
    applied = apply_steps(store, tidy(texts, TidyContext()).steps)

    assert applied.commit is not None
    shown = index.read_text()
    assert own in shown
    assert "(a.md)" in shown
    assert "(b.md)" not in shown


@requirement("dream:one-commit")
def test_a_check_at_the_last_moment_leaves_everything_as_it_is(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    write(tmp_path, files(a=RULE, b=RULE))
    store.sync()
    before = files_of(tmp_path)

    def taken_over() -> None:
        raise Conflict("lost its lock")

    with pytest.raises(Conflict):
        apply_steps(store, tidy(read(tmp_path), TidyContext()).steps, check=taken_over)
    assert files_of(tmp_path) == before


@requirement("dream:one-commit")
def test_a_step_outside_of_the_directory_is_left_out(tmp_path: Path) -> None:
    store = open_store(tmp_path / "memory")
    bad = DreamStep(StepKind.add, "x", {"../evil.md": None}, {"../evil.md": "text"})
    assert apply_steps(store, (bad,)).left == ((bad, "../evil.md cannot be written"),)
    assert [path.name for path in tmp_path.iterdir()] == ["memory"]


@requirement("dream:embedded")
def test_without_git_a_dream_works_and_has_no_commit(tmp_path: Path) -> None:
    store = open_store(tmp_path, with_git=False)
    write(tmp_path, files(a=RULE, b=RULE))
    _, applied = dreamt(store)
    assert (applied.commit, sorted(read(tmp_path))) == (None, ["a.md"])
