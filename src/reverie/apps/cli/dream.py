"""`reverie dream`: put the memories in order, and settle what a dream proposes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from reverie.amounts import format_count
from reverie.apps.cli.options import MemorySelection, as_json, memory_options

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractAsyncContextManager

    from reverie.memory.dream.dreams import Dreams, DreamStatus, Dreamt, Reach
    from reverie.memory.dream.estimate import DreamEstimate
    from reverie.memory.dream.hunks import Hunk
    from reverie.memory.dream.proposal import DreamStep, Proposal
    from reverie.memory.fork_runner import ForkRunner

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_ANSWERS = {"y": "accept", "n": "reject", "a": "accept this and all remaining", "q": "quit, keep the rest for later"}


@click.command("dream")
@click.option("--review", is_flag=True, help="Review the changes one by one and accept or reject each.")
@click.option("--yes", is_flag=True, help="Apply all changes, including those beyond the limits.")
@click.option("--discard", is_flag=True, help="Discard the pending proposal.")
@click.option(
    "--status", is_flag=True, help="Show the last dream, the condition for the next one, and the running one."
)
@click.option("--dry-run", is_flag=True, help="Only show what rules would change, and what a model would cost.")
@click.option(
    "--model",
    "model_name",
    metavar="NAME",
    help="Consolidate with this model; it works on a copy and its changes are checked.",
)
@as_json
@memory_options
@click.pass_context
def command(
    ctx: click.Context,
    selection: MemorySelection,
    *,
    review: bool,
    yes: bool,
    discard: bool,
    status: bool,
    dry_run: bool,
    model_name: str | None,
    as_json: bool,
) -> None:
    """Consolidate memories: merge duplicates, fix dates, archive outdated ones, list contradictions. One commit.

    Nothing is deleted: archived memories are kept with the reason, and `reverie undo` undoes a dream. Changes beyond
    the limits (many archived at once, pinned memories, memories stated by you) are kept as a proposal for review.

    \b
    Examples:
      reverie dream
      reverie dream --review
      reverie dream --status --json
    """
    from reverie.errors import Refused, UserMistake
    from reverie.models.from_settings import memory_model_name

    if sum((review, yes, discard, status, dry_run)) > 1:
        raise UserMistake("--review, --yes, --discard, --status and --dry-run cannot be combined; use one")
    with selection.open() as memory:
        if memory.off is not None:
            raise Refused(f"memory is off: {memory.off}", by="settings")
        dreams = memory.dreams
        model_name = memory_model_name(memory.settings, model_name or selection.common.model)
        estimate = None
        if status:
            _show_status(dreams.status(), as_json=as_json)
            return
        if discard:
            done = dreams.discard()
        elif dry_run:
            done = dreams.preview()
            estimate = _estimate_cost(dreams, selection, model_name)
        elif yes and (waiting := dreams.proposal()) is not None:
            done = dreams.settle(waiting.steps)
        elif review:
            done = _review_proposal(dreams, selection, model_name, asks=not as_json)
        else:
            done = _run(dreams, selection, "all" if yes else "limits", model_name)
    _show(done, estimate, as_json=as_json)
    if done.state in {"busy", "failed", "killed"}:
        ctx.exit(1)


def _run(dreams: Dreams, selection: MemorySelection, reach: Reach, model_name: str | None) -> Dreamt:
    import asyncio

    if model_name is None:
        return asyncio.run(dreams.run(reach))
    return asyncio.run(_run_with_model(dreams, selection, reach, model_name))


async def _run_with_model(dreams: Dreams, selection: MemorySelection, reach: Reach, name: str) -> Dreamt:
    async with _sleeper(selection, name) as forks:
        return await dreams.run(reach, forks=forks)


def _estimate_cost(dreams: Dreams, selection: MemorySelection, model_name: str | None) -> DreamEstimate | None:
    """What a model would cost; None where none was named."""
    import asyncio

    if model_name is None:
        return None

    async def run_estimate() -> DreamEstimate:
        async with _sleeper(selection, model_name) as forks:
            return dreams.estimate(forks)

    return asyncio.run(run_estimate())


def _sleeper(selection: MemorySelection, name: str) -> AbstractAsyncContextManager[ForkRunner]:
    """A conversation from which a dream is forked, and of which nothing stays."""
    from reverie.apps.dream_session import open_dream_session
    from reverie.session import wiring

    configuration = selection.common.configuration(selection.project)
    directory = selection.common.directory(selection.project)
    return open_dream_session(wiring.build_options(configuration, directory, name, is_interactive=False))


def _review_proposal(dreams: Dreams, selection: MemorySelection, model_name: str | None, *, asks: bool) -> Dreamt:
    """The proposal that waits, or a new one; on a terminal it is settled at once."""
    from dataclasses import replace

    proposal = dreams.proposal()
    if proposal is None:
        done = _run(dreams, selection, "nothing", model_name)
        proposal = dreams.proposal()
        if done.state != "proposed" or proposal is None:
            return done
    else:
        done = _waiting(proposal)
    if not asks or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return done
    taken, rest = _ask_per_hunk(proposal)
    if not taken and rest:
        settled = replace(done, detail="proposal kept; run `reverie dream --review` to continue")
    else:
        settled = dreams.settle(taken, rest=rest) if taken else dreams.discard()
    # Each piece was shown when it was asked about.
    return replace(settled, diff="", steps=())


def _waiting(proposal: Proposal) -> Dreamt:
    from reverie.memory.dream.dreams import report_proposal

    return report_proposal("proposed", proposal)


def _ask_per_hunk(proposal: Proposal) -> tuple[Sequence[DreamStep], Sequence[DreamStep]]:
    """What a person takes, and what they left undecided."""
    from reverie.memory.dream.hunks import chosen, hunks_of

    taken: list[Hunk] = []
    hunks = hunks_of(proposal.steps)
    for number, hunk in enumerate(hunks):
        click.secho(f"\n{number + 1} of {len(hunks)}: {hunk.reason}", bold=True)
        _draw(hunk.diff)
        answer = _answer()
        if answer == "q":
            # A step of which a piece was taken is settled by that; the others wait.
            begun = {each.step for each in taken}
            undecided = dict.fromkeys(each.step for each in hunks[number:] if each.step not in begun)
            return chosen(proposal.steps, taken), [proposal.steps[step] for step in undecided]
        if answer == "a":
            taken += hunks[number:]
            break
        if answer == "y":
            taken.append(hunk)
    return chosen(proposal.steps, taken), ()


def _answer() -> str:
    meanings = ", ".join(f"{key} = {meaning}" for key, meaning in _ANSWERS.items())
    while True:
        answer = (
            str(click.prompt(f"accept? [{'/'.join(_ANSWERS)}]", default="n", show_default=False)).strip().lower()[:1]
        )
        if answer in _ANSWERS:
            return answer
        click.echo(meanings)


def _draw(diff: str) -> None:
    for line in diff.splitlines():
        is_plain = line.startswith(("+++", "---")) or not sys.stdout.isatty()
        click.secho(line, fg=None if is_plain else _COLOURS.get(line[:1]))


def _show(done: Dreamt, estimate: DreamEstimate | None, *, as_json: bool) -> None:
    if as_json:
        from reverie.apps.cli.output import print_json

        print_json(_document(done) | ({} if estimate is None else {"estimate": _estimate_document(estimate)}))
        return
    _draw(done.diff)
    for step in done.steps:
        click.echo(f"{step.kind.value:7} {step.reason}", err=True)
    for each in done.contradictions:
        click.echo(f"contradiction: {each.paths[0]} and {each.paths[1]}: {each.reason}", err=True)
        for path, says, source in zip(each.paths, each.says, each.sources, strict=True):
            click.echo(f"    {path}: {says}{f'  ({source})' if source else ''}", err=True)
    for refusal in done.refused:
        click.echo(f"rejected: {refusal}", err=True)
    for refusal in done.left:
        click.echo(f"skipped: {refusal}", err=True)
    counts = f"{done.merged} merged, {done.retired} archived, {done.changed} changed"
    match done.state:
        case "completed":
            commit = f"  ({done.commit[:8]}; `reverie undo {done.commit[:8]}` undoes it)" if done.commit else ""
            click.echo(f"{counts}{commit}", err=True)
        case "proposed":
            for reason in done.over:
                click.echo(f"needs approval: {reason}", err=True)
            click.echo(f"proposed: {counts}; run `reverie dream` with `--review`, `--yes` or `--discard`", err=True)
        case "previewed":
            click.echo(f"would be: {counts} (dry run, nothing changed)", err=True)
        case "discarded":
            click.echo("proposal discarded", err=True)
        case "unchanged":
            click.echo("nothing to consolidate", err=True)
        case _:
            click.echo(f"reverie: {done.detail}", err=True)
    if done.detail and done.state in {"completed", "proposed", "unchanged"}:
        click.echo(done.detail, err=True)
    if estimate is not None:
        _show_estimate(estimate)


def _show_estimate(estimate: DreamEstimate) -> None:
    from reverie.apps.cli.output import dollars, short_count

    click.echo(
        f"these are the changes by rules alone; {estimate.model} would start with {short_count(estimate.first_tokens)} "
        f"tokens and need about {estimate.rounds} model calls (at most {estimate.most_rounds}): "
        f"{short_count(estimate.input_tokens)} input tokens, most of them cached, "
        f"{short_count(estimate.output_tokens)} output tokens, about {dollars(estimate.cost_usd)}",
        err=True,
    )


def _estimate_document(estimate: DreamEstimate) -> dict[str, object]:
    return {
        "model": estimate.model,
        "first_tokens": estimate.first_tokens,
        "rounds": estimate.rounds,
        "most_rounds": estimate.most_rounds,
        "input_tokens": estimate.input_tokens,
        "output_tokens": estimate.output_tokens,
        "cost_usd": estimate.cost_usd,
    }


def _document(done: Dreamt) -> dict[str, object]:
    return {
        "state": done.state,
        "merged": done.merged,
        "retired": done.retired,
        "changed": done.changed,
        "commit": done.commit,
        "diff": done.diff,
        "steps": [_step_document(step) for step in done.steps],
        "contradictions": [
            {
                "paths": list(each.paths),
                "says": list(each.says),
                "sources": list(each.sources),
                "reason": each.reason,
            }
            for each in done.contradictions
        ],
        "over": list(done.over),
        "refused": list(done.refused),
        "left": list(done.left),
        "detail": done.detail,
        "cost_usd": done.cost_usd,
        "task": done.task,
    }


def _step_document(step: DreamStep) -> dict[str, object]:
    return {
        "kind": step.kind.value,
        "reason": step.reason,
        "written": list(step.written),
        "archived": list(step.archived),
    }


def _show_status(status: DreamStatus, *, as_json: bool) -> None:
    waiting = status.proposal
    document: dict[str, object] = {
        "last": status.last and status.last.isoformat(),
        "due": status.gates.is_open,
        "gate": status.gates.closed and status.gates.closed.value,
        "detail": status.gates.detail,
        "sessions": len(status.gates.sessions),
        "running": status.dreamer or None,
        "proposal": None
        if waiting is None
        else {
            "made": waiting.made.isoformat(),
            "by": waiting.by,
            "steps": len(waiting.steps),
            "over": list(waiting.over),
        },
        "failures": status.state.failures,
        "tasks": [{"id": task.id, "state": task.state, "cost_usd": task.cost_usd} for task in status.tasks],
    }
    if as_json:
        from reverie.apps.cli.output import print_json

        print_json(document)
        return
    click.echo(f"last dream: {f'{status.last.astimezone():%Y-%m-%d %H:%M}' if status.last else 'never'}")
    click.echo(f"next dream: {'due' if status.gates.is_open else 'not yet'} ({status.gates.detail})")
    if status.dreamer:
        click.echo(f"running:    {status.dreamer}")
    if waiting is not None:
        click.echo(
            f"proposal:   {format_count(len(waiting.steps), 'change')} pending since "
            f"{waiting.made.astimezone():%Y-%m-%d %H:%M}"
        )
