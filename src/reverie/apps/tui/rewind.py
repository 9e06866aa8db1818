"""`/rewind`: back to before a message with the conversation, the files that tools changed since, or both.

Nothing that somebody else did to a file is lost without a question.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reverie.amounts import format_count
from reverie.apps.tui.diff import balance
from reverie.apps.tui.host import Host
from reverie.apps.tui.picker import PickerRow
from reverie.messages.shell_words import command_in
from reverie.session.file_history import RestorePlan, Return
from reverie.tools.lines import decode, unified_diff

BOTH, CONVERSATION, FILES = "both", "conversation", "files"
_NAMES_SHOWN = 3
_FILES_SHOWN = 8


async def rewind(host: Host, argument: str) -> None:  # noqa: ARG001 - every command takes one
    """Go back to before a message, which returns to the prompt."""
    typed = {uuid: _to_typed_text(text) for uuid, text in host.conversation.prompts}
    if not typed:
        host.say("no messages yet")
        return
    rows = [PickerRow(uuid, " ".join(text.split())) for uuid, text in reversed(typed.items())]
    chosen = await host.choose("Rewind to before which message?", rows)
    if chosen is None:
        return
    changed = [each for each in host.conversation.changed_files(chosen) if each.way is not RestorePlan.THERE]
    what = await _ask_what(host, changed)
    if what is None:
        return
    returns = await _ask_about_others(host, changed) if what != CONVERSATION else []
    done = host.conversation.restore_files(returns, told=what == FILES)
    if what != FILES:
        host.conversation.rewind(chosen)
        host.redraw()
        host.fill(typed[chosen])
    _tell(host, what, done, changed)


def _to_typed_text(text: str) -> str:
    command = command_in(text)
    return text if command is None else f"!{command}"


async def _ask_what(host: Host, changed: Sequence[Return]) -> str | None:
    """What is to go back; without changed files there is only the conversation."""
    movable = [each for each in changed if each.way in (RestorePlan.FREE, RestorePlan.OTHERS)]
    if not movable:
        return CONVERSATION
    count = format_count(len(movable), "file")
    about = [_describe_change(each, host.surroundings.directory) for each in movable]
    rows = [
        PickerRow(BOTH, f"The conversation and {count}"),
        PickerRow(CONVERSATION, "Only the conversation; files are not changed"),
        PickerRow(FILES, f"Only {count}; the conversation is not changed"),
    ]
    more = [f"  … and {len(about) - _FILES_SHOWN} more"] if len(about) > _FILES_SHOWN else []
    return await host.choose("\n".join(["What to rewind?", *about[:_FILES_SHOWN], *more]), rows)


async def _ask_about_others(host: Host, changed: Sequence[Return]) -> list[Return]:
    """The files to bring back: those that only we changed, and others as far as the user says so."""
    free = [each for each in changed if each.way is RestorePlan.FREE]
    others = [each for each in changed if each.way is RestorePlan.OTHERS]
    if not others:
        return free
    rows = [
        PickerRow("leave", "Do not change them"),
        PickerRow("over", "Restore them too; the other changes are lost"),
    ]
    title = f"Files also changed outside this session: {_names([each.path for each in others])}."
    answer = await host.choose(title, rows)
    return [*free, *others] if answer == "over" else free


def _describe_change(change: Return, directory: Path) -> str:
    name = _shorten_path(change.path, directory)
    added, removed = balance(unified_diff(decode(change.now or b""), decode(change.then or b""), name))
    doing = "will be deleted" if change.then is None else f"+{added} −{removed}"
    others = "  also changed outside this session" if change.way is RestorePlan.OTHERS else ""
    return f"  {name}  {doing}{others}"


def _tell(host: Host, what: str, done: Sequence[Path], changed: Sequence[Return]) -> None:
    if what == CONVERSATION:
        host.say("conversation rewound; files not changed" if changed else "conversation rewound")
    elif done:
        where = "conversation rewound" if what == BOTH else "conversation not changed"
        host.say(f"{where}; restored: {_names(done)}")
    else:
        host.say("no file was restored")
    lost = [each.path for each in changed if each.way is RestorePlan.LOST]
    if lost and what != CONVERSATION:
        host.say(f"not restored, no saved copy: {_names(lost)}", "warning")


def _names(paths: Sequence[Path]) -> str:
    shown = ", ".join(path.name for path in paths[:_NAMES_SHOWN])
    return f"{shown} and {len(paths) - _NAMES_SHOWN} more" if len(paths) > _NAMES_SHOWN else shown


def _shorten_path(path: Path, directory: Path) -> str:
    return str(path.relative_to(directory)) if path.is_relative_to(directory) else str(path)
