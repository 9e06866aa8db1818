"""Slash commands that change something: the conversation, the memory, a file, the screen.

Also `/export`, which writes a conversation as Markdown, and `#text`, which saves a memory in the user's own words.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from importlib import resources

from reverie.amounts import format_count, short_count
from reverie.apps.compact_argument import FROM, UP_TO, parse_compact_argument
from reverie.apps.tui.host import Host
from reverie.apps.tui.picker import PickerRow
from reverie.apps.tui.pieces import AnswerPiece, Call, ListingPiece, Note, Piece, UserPiece
from reverie.apps.tui.status_line import MODES
from reverie.errors import Error
from reverie.files import write_atomic
from reverie.memory.drafts import draft_from_text
from reverie.memory.memory import Memory

_SIDES = {FROM: "Summarise from which message on?", UP_TO: "Summarise everything before which message?"}


async def memory(host: Host, argument: str) -> None:  # noqa: ARG001 - every command takes one
    """The browser of memories."""
    await host.browse_memory()


async def compact(host: Host, argument: str) -> None:
    """Compact now; what came of it is told as after one that came by itself."""
    compact_argument = parse_compact_argument(argument)
    if compact_argument.side and not compact_argument.message:
        rows = [PickerRow(uuid, " ".join(text.split())) for uuid, text in reversed(host.conversation.prompts)]
        if not rows:
            host.say("no messages yet")
            return
        chosen = await host.choose(_SIDES[compact_argument.side], rows)
        if chosen is None:
            return
        compact_argument = replace(compact_argument, message=chosen)
    if await host.conversation.compact(compact_argument.instructions, **compact_argument.part) is None:
        host.say("nothing to compact yet")


async def uncompact(host: Host, argument: str) -> None:  # noqa: ARG001
    """Take a compaction back."""
    host.conversation.uncompact()
    host.redraw()
    host.say("last compaction undone; the removed messages are in the context again, followed by the newer ones")


async def snip(host: Host, argument: str) -> None:  # noqa: ARG001
    """Leave the oldest rounds out."""
    freed = host.conversation.snip()
    if freed:
        host.say(
            f"oldest messages removed from the context: {short_count(freed)} tokens freed; your own messages are kept"
        )
    else:
        host.say("nothing to remove yet; use /compact to free more space")


async def team(host: Host, argument: str) -> None:
    """What is shared with colleagues; a pull or a push on request, the first push after a question."""
    shared = host.conversation.memory.team
    now = shared.status()
    if now.joined is None:
        host.say("no team joined; run `reverie team join REMOTE` in a shell")
        return
    if argument == "push" and not now.joined.may_push:
        rows = [
            PickerRow("no", "Not now"),
            PickerRow("yes", f"Yes, share them with all who can read {now.joined.place}"),
        ]
        if await host.choose("Share team memories?", rows) != "yes":
            return
        shared.allow_push()
    if argument in ("pull", "push"):
        host.say(await asyncio.to_thread(_exchange, host.conversation.memory, argument))
        return
    if argument not in ("", "status"):
        host.say(f"/team takes status, pull or push, not {argument!r}", "warning")
        return
    shown = [(each.path, f"{each.change}, {each.author}, {each.trust or 'trust unknown'}") for each in now.outgoing]
    shown += [("not in sync", problem.message) for problem in now.problems]
    title = f"{now.joined.place} as {now.joined.name}: {format_count(now.entries, 'memory', 'memories')} shared"
    host.show(ListingPiece(title, tuple(shown) or (("nothing to send", ""),)))


def _exchange(memory: Memory, way: str) -> str:
    """Pull or push in a thread, with an index of its own; what came of it, in words."""
    with Memory(memory.directory, project=memory.root, settings=memory.settings) as own:
        try:
            report = own.team.push() if way == "push" else own.team.pull()
        except Error as problem:
            return str(problem)
    counts = (("pulled", report.pulled), ("pushed", report.pushed), ("deleted", report.deleted))
    parts = [
        f"{len(paths)} {word}" for word, paths in (*counts, ("kept as conflict copies", report.conflicts)) if paths
    ]
    refused = [f"refused: {each}" for each in report.refused]
    return "; ".join([", ".join(parts) or "up to date", *refused])


async def dream(host: Host, argument: str) -> None:  # noqa: ARG001
    """Put the memories in order: the proposal first, then the user's word."""
    host.say("consolidating memories; this may take a while")
    done = await host.conversation.dream(review=True)
    if done.detail:
        host.say(done.detail, "warning")
    for each in done.contradictions:
        statements = "; ".join(f"{path}: {says}" for path, says in zip(each.paths, each.says, strict=True))
        host.say(f"contradiction: {each.reason} ({statements})", "warning")
    if done.state != "proposed":
        if done.state == "unchanged":
            host.say("nothing to consolidate" if not done.contradictions else "no other changes")
        return
    for reason in done.over:
        host.say(f"needs approval: {reason}", "warning")
    host.show(Note(f"{done.merged} merged, {done.retired} archived, {done.changed} changed", "info", details=done.diff))
    rows = [
        PickerRow("later", "Keep the proposal; review it with `reverie dream --review`"),
        PickerRow("yes", "Apply all changes"),
    ]
    if await host.choose("Apply this dream?", rows) == "yes":
        applied = host.conversation.memory.dreams.settle(done.steps)
        host.say(f"applied as one commit; `reverie undo {(applied.commit or '')[:8]}` undoes it")


async def tasks(host: Host, argument: str) -> None:
    """List the work in the background, or end a piece of it."""
    if argument:
        ended = await host.conversation.kill(argument)
        host.say(f"{argument} stopped" if ended else f"no background task named {argument!r}")
        return
    host.show(ListingPiece("Background tasks", host.conversation.describe("tasks") or ()))


async def resume(host: Host, argument: str) -> None:
    """Go on with an earlier session."""
    sessions = [each for each in host.surroundings.list_sessions() if each.id != host.conversation.id]
    if argument:
        chosen: str | None = next((each.id for each in sessions if each.id.startswith(argument)), None)
        if chosen is None:
            host.say(f"no session of this project starts with {argument!r}", "warning")
            return
    else:
        rows = [
            PickerRow(
                each.id, each.title or each.id, f"{each.updated[:16].replace('T', ' ')}  {short_count(each.tokens)}"
            )
            for each in sessions
        ]
        if not rows:
            host.say("no earlier sessions of this project")
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
    host.say(f"model set to {host.conversation.status.model}")


async def _choose_model(host: Host) -> str | None:
    now = host.conversation.status.model
    listed = await asyncio.to_thread(host.surroundings.list_models)
    rows = [PickerRow(name, name, f"{facts} · in use" if name == now else facts) for name, facts in listed]
    if not rows:
        host.say(f"current model: {now}; use /model NAME to change it")
        return None
    return await host.choose(f"Which model? (current: {now})", rows)


async def permissions(host: Host, argument: str) -> None:
    """Show the rules, or change the mode."""
    if argument and argument not in MODES:
        host.say(f"unknown mode {argument!r}; expected one of {', '.join(MODES)}", "warning")
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
        host.say("nothing in this project needs your trust")
        return
    for part in parts:
        host.show(Note(f"{part.kind} in {part.place}: {' '.join(part.text.split())}", "warning", details=part.text))
    rows = [
        PickerRow("later", "Not now; ask again with /trust"),
        PickerRow("yes", "Yes, I trust them; enable them"),
        PickerRow("no", "No; ask again only when they change"),
    ]
    count = format_count(len(parts), "part")
    answer = await host.choose(f"{count} of this project would run with your permissions. Trust them?", rows)
    if answer in ("yes", "no"):
        host.conversation.answer_trust(parts, accepted=answer == "yes")
    done = {"yes": "trusted; enabled from now on", "no": "refused; they stay disabled"}
    host.say(done.get(answer or "", "disabled until you answer; ask again with /trust"))


async def init(host: Host, argument: str) -> None:  # noqa: ARG001
    """Ask the model for an instruction file."""
    prompt = resources.files("reverie.apps.tui").joinpath("prompts/init.md").read_text(encoding="utf-8")
    host.send(prompt.partition("-->")[2].strip())


async def write_export(host: Host, argument: str) -> None:
    """Write the conversation into a file that is not there yet."""
    path = host.surroundings.directory / (argument or f"conversation-{host.conversation.id[:8]}.md")
    if path.exists():
        host.say(f"{path} already exists; choose another file name", "warning")
        return
    write_atomic(path, as_markdown(host.pieces, title=f"Session {host.conversation.id}"), durable=False)
    host.say(f"written to {path}")


async def copy(host: Host, argument: str) -> None:  # noqa: ARG001
    """Copy the last answer as the Markdown it is."""
    answer = next((piece for piece in reversed(host.pieces) if isinstance(piece, AnswerPiece)), None)
    if answer is None:
        host.say("no reply to copy yet")
        return
    host.copy(answer.text)


async def leave(host: Host, argument: str) -> None:  # noqa: ARG001
    """End the program."""
    host.leave()


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
                blocks.append(line + (f"\n\n{_fence_diff(body)}" if body else ""))
            case _:
                pass
    return "\n\n".join(blocks) + "\n"


def _fence_diff(diff: str) -> str:
    fence = "```"
    while fence in diff:
        fence += "`"
    return f"{fence}diff\n{diff.rstrip()}\n{fence}"


def remember(memory: Memory, text: str, *, session: str) -> Note:
    """Keep a text as what the user said, and say what became of it."""
    saved = memory.keep(draft_from_text(memory.index, text), reason="said in the prompt", session=session)
    done = "remembered" if saved.is_new else "updated" if saved.commit else "already known"
    details = "\n".join((*saved.warnings, str(memory.directory / saved.path)))
    return Note(f"{done}: {saved.topic.name}  ({saved.path})", details=details)
