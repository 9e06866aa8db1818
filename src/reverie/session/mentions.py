"""Files that the user names with `@path` in a message: what they hold is attached behind the words.

The user named them, so nobody is asked; a deny rule still holds. All of one message together take a share of the
window, and what has no room is named with the way to read it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from reverie.messages.blocks import Image, JsonObject, Text
from reverie.permissions.decide import PermissionVerdict, decide
from reverie.permissions.policy import Policy
from reverie.session.loop import JoinedAttachment
from reverie.tools.desk import Desk
from reverie.tools.read import PAGE_LINES, Read
from reverie.tools.tool import ToolMistake
from reverie.values import value

FILE, DIRECTORY = "file", "directory"
_MENTION = re.compile(r"""(?<![\w@/`])@(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"'`<>|*?]+))""")
_LINES = re.compile(r"#L?(\d+)(?:-L?(\d+))?$")
_MOST_NAMES = 200
_LEAST_CHARS = 400
"""With less room than this nothing is attached."""


@value
class Mention:
    """One path that was named, with the lines that were asked for."""

    path: Path
    first: int = 1
    lines: int = PAGE_LINES


def find_mentions(text: str, desk: Desk) -> list[Mention]:
    """What a message names and what exists, each once, in order."""
    mentions = (mention for name in _names(text) if (mention := _existing(name, desk)) is not None)
    return list(dict.fromkeys(mentions))


async def attach_mentions(text: str, desk: Desk, policy: Policy, *, room_tokens: int) -> Sequence[JoinedAttachment]:
    """The attachments for a message; together at most about a quarter of `room_tokens`."""
    if "@" not in text:
        return ()
    room_left = room_tokens
    joined = []
    for mention in find_mentions(text, desk):
        attachment = await _attach(mention, desk, policy, room_left)
        room_left -= len(attachment.text)
        joined.append(attachment)
    return joined


def _names(text: str) -> Iterator[str]:
    for match in _MENTION.finditer(text):
        quoted = match[1] or match[2]
        if quoted:
            yield quoted
            continue
        name = match[3]
        yield name
        if name.rstrip(".,;:!?)]}") != name:
            yield name.rstrip(".,;:!?)]}")


def _existing(name: str, desk: Desk) -> Mention | None:
    lines = _LINES.search(name)
    for text, line_range in ((name, None), (name[: lines.start()], lines) if lines else ("", None)):
        try:
            path = desk.resolve(text) if text else None
            if path is None or not (path.is_file() or path.is_dir()):
                continue
        except (OSError, ValueError, RuntimeError):
            continue
        if line_range is None:
            return Mention(path)
        first = max(1, int(line_range[1]))
        return Mention(path, first, max(1, int(line_range[2] or first) - first + 1))
    return None


async def _attach(mention: Mention, desk: Desk, policy: Policy, room_chars: int) -> JoinedAttachment:
    read, path = Read(), mention.path
    arguments: JsonObject = {"file_path": str(path), "offset": mention.first, "limit": mention.lines}
    data: JsonObject = {"filename": str(path)}
    refusal = ""
    try:
        if decide(read.need(arguments, desk), policy).verdict is PermissionVerdict.DENY:
            refusal = "a permission rule denies reading it"
        elif path.is_dir():
            return JoinedAttachment(DIRECTORY, _listing(path), f"attached {path.name}/", data)
        elif room_chars < _LEAST_CHARS:
            refusal = "the other attachments have taken the room; read it with the Read tool"
        else:
            return await _attach_content(read, arguments, desk, room_chars, data)
    except (ToolMistake, OSError) as problem:
        refusal = str(problem)
    return JoinedAttachment(
        FILE, f"The user named {path}, which is not attached: {refusal}", f"not attached: {refusal}", data
    )


async def _attach_content(
    read: Read, arguments: JsonObject, desk: Desk, room_chars: int, data: JsonObject
) -> JoinedAttachment:
    path = Path(str(arguments["file_path"]))
    answer = await read.run(arguments, desk)
    text, pictures = _parts(answer.content)
    if len(text) > room_chars:
        lines = max(1, text.count("\n") * room_chars // len(text) - 1)
        text, pictures = _parts((await read.run({**arguments, "limit": lines}, desk)).content)
        if len(text) > room_chars:
            text = f"{text[:room_chars]}\n(cut here; read the rest with the Read tool)"
    return JoinedAttachment(FILE, f"The user attached {path}:\n\n{text}", f"attached {path.name}", data, pictures)


def _parts(content: str | tuple[Text | Image, ...]) -> tuple[str, tuple[Image, ...]]:
    if isinstance(content, str):
        return content, ()
    texts = [block.text for block in content if isinstance(block, Text)]
    return "\n\n".join(texts), tuple(block for block in content if isinstance(block, Image))


def _listing(path: Path) -> str:
    with os.scandir(path) as entries:
        names = sorted(f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name for entry in entries)
    more = f"\n… and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"The user attached the directory {path}:\n\n" + "\n".join(names[:_MOST_NAMES]) + more
