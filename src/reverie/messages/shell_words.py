"""Commands that the user ran with `!`, as two messages in the tags of existing transcripts."""

from __future__ import annotations

import re

OUTPUT_CHARS = 30_000
"""As much as a command of the model's own may show."""
_INPUT = re.compile(r"\A<bash-input>(.*)</bash-input>\Z", re.DOTALL)
_OUTPUT = re.compile(r"\A<bash-stdout>(.*)</bash-stdout><bash-stderr>(.*)</bash-stderr>\Z", re.DOTALL)
_PRINTED = ("<bash-stdout>", "<bash-stderr>", "<local-command-stdout>")
_OURS = re.compile(r"<(/?bash-(?:input|stdout|stderr)>)")


def input_words(command: str) -> str:
    """The command."""
    return f"<bash-input>{_inert(command)}</bash-input>"


def output_words(output: str, ending: str = "") -> str:
    """What it printed, of much the beginning and the end, and how it ended when that was not well."""
    if len(output) > OUTPUT_CHARS:
        half = OUTPUT_CHARS // 2
        output = f"{output[:half]}\n[… {len(output) - OUTPUT_CHARS:,} characters left out …]\n{output[-half:]}"
    return f"<bash-stdout>{_inert(output)}</bash-stdout><bash-stderr>{_inert(ending)}</bash-stderr>"


def command_in(text: str) -> str | None:
    """The command of a message that is one."""
    match = _INPUT.match(text)
    return match[1] if match else None


def output_in(text: str) -> tuple[str, str]:
    """What was printed and how it ended, of a message that says it; else nothing."""
    match = _OUTPUT.match(text)
    return (match[1], match[2]) if match else ("", "")


def is_printed(text: str) -> bool:
    """Whether a message of the user's side was printed by a program, ours or another agent's."""
    return text.startswith(_PRINTED)


def _inert(text: str) -> str:
    """Without tags by which it would end early."""
    return _OURS.sub(r"&lt;\1", text)
