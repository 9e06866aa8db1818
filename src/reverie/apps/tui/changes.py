"""Slash commands that change something: the conversation, the memory, a file, the screen."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from importlib import resources

from reverie.apps.amounts import short_count
from reverie.apps.compact_argument import FROM, UP_TO, read_compact_argument
from reverie.apps.tui.host import Host
from reverie.apps.tui.picker import PickerRow
from reverie.apps.tui.pieces import AnswerPiece, Call, ListingPiece, Note, Piece, UserPiece
from reverie.apps.tui.status_line import MODES
from reverie.files import write_atomic

_SIDES = {FROM: "Sum up from which message on?", UP_TO: "Sum up what comes before which message?"}


async def memory(host: Host, argument: str) -> None:  # noqa: ARG001 - every command takes one
    """The browser of memories."""
    await host.browse_memory()


async def compact(host: Host, argument: str) -> None:
    """Compact now; what came of it is told as after one that came by itself."""
    wanted = read_compact_argument(argument)
    if wanted.side and not wanted.message:
        rows = [PickerRow(uuid, " ".join(text.split())) for uuid, text in reversed(host.conversation.prompts)]
        if not rows:
            host.say("nothing was said yet")
            return
        chosen = await host.choose(_SIDES[wanted.side], rows)
        if chosen is None:
            return
        wanted = replace(wanted, message=chosen)
    if await host.conversation.compact(wanted.instructions, **wanted.part) is None:
        host.say("there is nothing to compact yet")


async def uncompact(host: Host, argument: str) -> None:  # noqa: ARG001
    """Take a compaction back."""
    host.conversation.uncompact()
    host.redraw()
    host.say("the last compaction is undone; what it took out is in view again, and what was said since follows it")


async def snip(host: Host, argument: str) -> None:  # noqa: ARG001
    """Leave the oldest rounds out."""
    freed = host.conversation.snip()
    if freed:
        host.say(f"the oldest messages are left out: {short_count(freed)} tokens less; your own words stay")
    else:
        host.say("there is nothing to leave out yet; /compact makes more room")


async def dream(host: Host, argument: str) -> None:  # noqa: ARG001
    """Put the memories in order: the proposal first, then the user's word."""
    host.say("dreaming; this may take a while")
    done = await host.conversation.dream(review=True)
    if done.detail:
        host.say(done.detail, "warning")
    for each in done.contradictions:
        told = "; ".join(f"{path}: {says}" for path, says in zip(each.paths, each.says, strict=True))
        host.say(f"contradiction: {each.reason} ({told})", "warning")
    if done.state != "proposed":
        if done.state == "unchanged":
            host.say("the memories are in order" if not done.contradictions else "nothing else is to be changed")
        return
    for reason in done.over:
        host.say(f"needs your word: {reason}", "warning")
    host.show(Note(f"{done.merged} merged, {done.retired} retired, {done.changed} changed", "info", details=done.diff))
    rows = [
        PickerRow("later", "Keep the proposal; `reverie dream --review` goes through it"),
        PickerRow("yes", "Apply all of it"),
    ]
    if await host.choose("Apply this dream?", rows) == "yes":
        applied = host.conversation.memory.dreams.settle(done.steps)
        host.say(f"applied as one commit; `reverie undo {(applied.commit or '')[:8]}` takes it back")


async def tasks(host: Host, argument: str) -> None:
    """List the work in the background, or end a piece of it."""
    if argument:
        ended = await host.conversation.kill(argument)
        host.say(f"{argument} is ended" if ended else f"no work in the background is called {argument!r}")
        return
    host.show(ListingPiece("Background work", host.conversation.describe("tasks") or ()))


async def resume(host: Host, argument: str) -> None:
    """Go on with an earlier session."""
    sessions = [each for each in host.surroundings.list_sessions() if each.id != host.conversation.id]
    if argument:
        chosen: str | None = next((each.id for each in sessions if each.id.startswith(argument)), None)
        if chosen is None:
            host.say(f"no session of this project begins with {argument!r}", "warning")
            return
    else:
        rows = [
            PickerRow(
                each.id, each.title or each.id, f"{each.updated[:16].replace('T', ' ')}  {short_count(each.tokens)}"
            )
            for each in sessions
        ]
        if not rows:
            host.say("there is no earlier session of this project")
            return
        chosen = await host.choose("Which session?", rows)
    if chosen is not None:
        await host.reopen(resume=chosen)


async def clear(host: Host, argument: str) -> None:  # noqa: ARG001
    """Begin anew."""
    host.conversation.clear()
    host.redraw()


async def model(host: Host, argument: str) -> None:
    """Change the model: the one that is named, or one of a list."""
    name = argument or await _choose_model(host)
    if name is None:
        return
    await host.reopen(resume=host.conversation.id if host.conversation.entries else None, model=name)
    host.say(f"{host.conversation.status.model} answers from now on")


async def _choose_model(host: Host) -> str | None:
    now = host.conversation.status.model
    listed = await asyncio.to_thread(host.surroundings.list_models)
    rows = [PickerRow(name, name, f"{facts} · in use" if name == now else facts) for name, facts in listed]
    if not rows:
        host.say(f"{now} answers; /model NAME changes to another model")
        return None
    return await host.choose(f"Which model? {now} answers now", rows)


async def permissions(host: Host, argument: str) -> None:
    """Show the rules, or change the mode."""
    if argument and argument not in MODES:
        host.say(f"there is no mode {argument!r}; there are {', '.join(MODES)}", "warning")
        return
    if argument:
        host.conversation.set_mode(argument)
        host.say(f"permission mode {argument}: {MODES[argument][0]}")
        return
    mode = host.conversation.status.mode
    rules = [row for row in host.conversation.describe("permissions") or () if row[0] != "mode"]
    rows = (("mode", f"{mode}: {MODES.get(mode, (mode, ''))[0]}"), *rules)
    host.show(ListingPiece("Permissions", rows))


async def trust(host: Host, argument: str) -> None:  # noqa: ARG001
    """Show what came with the project and acts with the user's rights, and ask once for all of it."""
    parts = host.conversation.waiting_for_trust
    if not parts:
        host.say("nothing of this project waits for your trust")
        return
    for part in parts:
        host.show(Note(f"{part.kind} in {part.place}: {' '.join(part.text.split())}", "warning", details=part.text))
    rows = [
        PickerRow("later", "Not now; /trust asks again"),
        PickerRow("yes", "Yes, I know what these do; let them run"),
        PickerRow("no", "No, never; ask again only when they change"),
    ]
    answer = await host.choose(f"{len(parts)} part(s) of this project would act with your rights. Trust them?", rows)
    if answer in ("yes", "no"):
        host.conversation.answer_trust(parts, accepted=answer == "yes")
    done = {"yes": "trusted; they run from now on", "no": "refused; they stay still"}
    host.say(done.get(answer or "", "they stay still until you answer; /trust asks again"))


async def init(host: Host, argument: str) -> None:  # noqa: ARG001
    """Ask the model for an instruction file."""
    prompt = resources.files("reverie.apps.tui").joinpath("prompts/init.md").read_text(encoding="utf-8")
    host.send(prompt.partition("-->")[2].strip())


async def write_export(host: Host, argument: str) -> None:
    """Write the conversation into a file that is not there yet."""
    path = host.surroundings.directory / (argument or f"conversation-{host.conversation.id[:8]}.md")
    if path.exists():
        host.say(f"{path} is there already; name another file", "warning")
        return
    write_atomic(path, as_markdown(host.pieces, title=f"Session {host.conversation.id}"), durable=False)
    host.say(f"written to {path}")


async def copy(host: Host, argument: str) -> None:  # noqa: ARG001
    """Copy the last answer as the Markdown it is."""
    answer = next((piece for piece in reversed(host.pieces) if isinstance(piece, AnswerPiece)), None)
    if answer is None:
        host.say("there is no answer to copy yet")
        return
    host.copy(answer.text)


async def leave(host: Host, argument: str) -> None:  # noqa: ARG001
    """End the program."""
    host.leave()


# Writes a conversation as a Markdown document.


def as_markdown(pieces: Iterable[Piece], *, title: str) -> str:
    """What was said and done, readable without this program."""
    blocks = [f"# {title}"]
    for piece in pieces:
        match piece:
            case UserPiece(text):
                blocks.append("\n".join(f"> {line}".rstrip() for line in text.split("\n")))
            case AnswerPiece(text):
                blocks.append(text.strip())
            case Call():
                line = f"- **{piece.name}** {piece.summary.removeprefix(piece.name).strip()}".rstrip()
                body = piece.diff or ""
                blocks.append(line + (f"\n\n{_fenced(body)}" if body else ""))
            case _:
                pass
    return "\n\n".join(blocks) + "\n"


def _fenced(diff: str) -> str:
    fence = "```"
    while fence in diff:
        fence += "`"
    return f"{fence}diff\n{diff.rstrip()}\n{fence}"
