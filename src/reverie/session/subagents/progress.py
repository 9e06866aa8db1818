"""What a child agent is doing, in three to five words: present tense, naming a file or a function.

Made from its last calls without asking anybody, so it costs nothing and never lags. Where a background model is set it
may word the line instead, from the same calls and never from the whole conversation, whose cache it could not share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath

from reverie.errors import Unavailable
from reverie.messages.blocks import Json, JsonObject, ToolUse
from reverie.messages.message import user
from reverie.models.flow import answer
from reverie.models.ports import Model, Request
from reverie.session.prompt_text import prompt_text

PURPOSE = "progress"
LAST_CALLS = 5
_MAX_NAME_CHARS = 40
_FUNCTION = re.compile(r"\b(?:def|class|function|func|fn)\s+([A-Za-z_]\w*)")
_FILE = re.compile(r"[\w./-]*\w\.[A-Za-z]\w{0,7}\b|[\w.-]+(?:/[\w.-]+)+")
_QUIET = frozenset({"TodoWrite", "BashOutput", "SendMessage"})
"""Calls that say nothing about the work."""
_AT_FIRST = "Reading the given task"


def progress_line(calls: Sequence[ToolUse]) -> str:
    """A line on what an agent does, from its calls, the newest last."""
    telling = [call for call in calls if call.name not in _QUIET]
    if not telling:
        return _AT_FIRST
    call = telling[-1]
    make = _LINES.get(call.name)
    if make is not None:
        return make(call.input)
    if call.name.startswith("mcp__"):
        server, _, tool = call.name.removeprefix("mcp__").partition("__")
        return f"Calling {_word(tool)} of {_word(server)}"
    return f"Using {_word(call.name)} on {_subject(call.input)}"


async def ask_progress_line(model: Model, calls: Sequence[ToolUse], *, words: tuple[int, int]) -> str:
    """The same in the words of a model; the line by rule where it fails or does not keep to the form."""
    plain = progress_line(calls)
    shown = "\n".join(f"- {call.name} {_subject(call.input)}" for call in calls[-LAST_CALLS:])
    prompt = prompt_text("progress_line", calls=shown, fewest=str(words[0]), most=str(words[1]))
    request = Request(model.name, (user(prompt),), max_tokens=40, purpose=PURPOSE, embedded=lambda: plain)
    try:
        reply = await answer(model, request, lambda _event: None)
    except Unavailable:
        return plain
    line = " ".join(reply.text.split()).strip("\"'`. ")
    line_words = line.split()
    fits = words[0] <= len(line_words) <= words[1] and line_words[0].lower().endswith("ing")
    return line if fits else plain


def _read(arguments: JsonObject) -> str:
    return f"Reading through {_file(arguments)}"


def _edit(arguments: JsonObject) -> str:
    match = _FUNCTION.search(f"{arguments.get('old_string', '')}\n{arguments.get('new_string', '')}")
    return f"Editing {_word(match[1])} in {_file(arguments)}" if match else f"Editing code in {_file(arguments)}"


def _write(arguments: JsonObject) -> str:
    return f"Writing the file {_file(arguments)}"


def _grep(arguments: JsonObject) -> str:
    where = _text(arguments, "path") or _text(arguments, "glob")
    return f"Searching {_name(where) if where else 'everything'} for {_word(_text(arguments, 'pattern'))}"


def _glob(arguments: JsonObject) -> str:
    return f"Listing files like {_word(_text(arguments, 'pattern'))}"


def _bash(arguments: JsonObject) -> str:
    command = _text(arguments, "command")
    program = _word(next((word for word in command.split() if "=" not in word), ""))
    files = [file for file in _FILE.findall(command) if _name(file) != program]
    return f"Running {program} on {_name(files[-1])}" if files else f"Running {program} as command"


def _fetch(arguments: JsonObject) -> str:
    return f"Fetching page {_word(_text(arguments, 'url').rstrip('/').rpartition('/')[2])}"


def _search(arguments: JsonObject) -> str:
    return f"Searching the web for {_word(_text(arguments, 'query'))}"


def _recall(arguments: JsonObject) -> str:
    return f"Recalling memories about {_word(_text(arguments, 'query'))}"


_LINES: Mapping[str, Callable[[JsonObject], str]] = {
    "Read": _read,
    "Edit": _edit,
    "Write": _write,
    "Grep": _grep,
    "Glob": _glob,
    "Bash": _bash,
    "WebFetch": _fetch,
    "WebSearch": _search,
    "RecallMemory": _recall,
}


def _file(arguments: JsonObject) -> str:
    return _name(_text(arguments, "file_path") or _text(arguments, "path"))


def _subject(arguments: JsonObject) -> str:
    """The most telling of a call's fields, as one word."""
    for key in ("file_path", "path", "pattern", "command", "url", "query", "name", "description"):
        if _text(arguments, key):
            return _name(_text(arguments, key)) if key.endswith("path") else _word(_text(arguments, key))
    return "input"


def _name(path: str) -> str:
    return _word(PurePath(path).name or path)


def _word(text: str) -> str:
    """The first word of a text, short enough for a status line."""
    word = next(iter("".join(char if char.isprintable() else " " for char in text).split()), "something")
    return word if len(word) <= _MAX_NAME_CHARS else f"{word[: _MAX_NAME_CHARS - 1]}…"


def _text(arguments: JsonObject, key: str) -> str:
    value: Json = arguments.get(key)
    return value if isinstance(value, str) else ""
