"""Commands of the terminal under `-p`: `/compact` and its like are done, unknown ones are refused.

No model hears of them.
"""

from __future__ import annotations

import re
from pathlib import Path

from reverie.apps.amounts import short_count
from reverie.apps.compact_argument import read_compact_argument
from reverie.errors import UserMistake
from reverie.session.session import Session

_COMMAND = re.compile(r"/(?P<name>[A-Za-z][\w-]*)(?:\s+(?P<argument>.*))?", re.DOTALL)
"""Names with a colon are a plugin's, longer paths are paths."""
_PROMPTS_NAMED = 5
_DONE_HERE = ("compact", "uncompact", "snip")
_ELSEWHERE = {
    "agents": "reverie",
    "clear": "reverie -p without --continue",
    "context": "reverie context",
    "cost": "reverie cost",
    "dream": "reverie dream",
    "help": "reverie --help",
    "memory": "reverie list",
    "model": "reverie --model NAME",
    "permissions": "reverie --permission-mode MODE",
    "resume": "reverie --resume ID",
    "status": "reverie context",
    "tasks": "reverie tasks",
    "trust": "reverie trust",
}
"""What does the same on the command line."""


def slash_command(session: Session, text: str) -> tuple[str, str] | None:
    """The command that a prompt is, with its argument; None for words, and for skills, which the session expands.

    Raises `UserMistake` for a command that there is not, or not here.
    """
    found = _COMMAND.fullmatch(text.strip())
    if found is None or found["name"].startswith("mcp__"):
        return None
    name = found["name"]
    known = [command for command, _, _ in session.commands]
    if name in known or Path(f"/{name}").exists():
        return None
    if name in _DONE_HERE:
        return name, (found["argument"] or "").strip()
    if name in _ELSEWHERE:
        raise UserMistake(f"/{name} is only available in the interactive terminal; use `{_ELSEWHERE[name]}`")
    from difflib import get_close_matches

    near = get_close_matches(name, [*known, *_DONE_HERE], n=1)
    hint = (
        f"did you mean /{near[0]}?"
        if near
        else "type /help in the terminal for a list; to send the text as a prompt, put a word before it"
    )
    raise UserMistake(f"unknown command or skill /{name}; {hint}")


async def run_command(session: Session, name: str, argument: str) -> str:
    """Do it; returns what came of it."""
    if name == "snip":
        freed = session.snip()
        return f"removed {short_count(freed)} tokens" if freed else "nothing to remove"
    if name == "uncompact":
        session.uncompact()
        return "last compaction undone"
    before = session.status.used_tokens
    wanted = read_compact_argument(argument)
    if wanted.side and not wanted.message:
        named = ", ".join(f"{uuid} “{' '.join(text.split())[:60]}”" for uuid, text in session.prompts[-_PROMPTS_NAMED:])
        raise UserMistake(f"/compact {wanted.side} requires a message id; your most recent messages: {named or 'none'}")
    if await session.compact(wanted.instructions, **wanted.part) is None:
        return "nothing to compact"
    return f"compacted from {short_count(before)} to {short_count(session.status.used_tokens)} tokens"
