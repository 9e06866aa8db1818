"""Renders an invoked skill for the model: its text with the arguments filled in.

The text is cut into words and inline commands before anything is filled in, so that no argument becomes a command.
Commands are data here: whoever may run them asks for permission and hands in their output (`with_outputs`).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import replace

from reverie.errors import UserMistake
from reverie.extensions.json_file import Unread
from reverie.extensions.markdown_file import read_page
from reverie.extensions.skills.skill import Skill, digest_of, read_content
from reverie.values import value

# The block ends at the next fence of any kind, so that a text full of fences is still read in one go.
_INLINE = re.compile(r"(?<![\w`])!`([^`\n]+)`|^```!\n((?:(?!```).*\n)*)```[ \t]*$", re.MULTILINE)
_PLACE = re.compile(
    r"\$ARGUMENTS\[(?P<index>\d+)\]|\$(?P<all>ARGUMENTS)\b|\$\{(?P<braced>[A-Za-z_]\w*)\}|\$(?P<number>\d{1,2})\b"
    r"|\$(?P<name>[A-Za-z_]\w*)"
)


@value
class SkillPiece:
    """A stretch of the text, or a command whose output belongs there."""

    text: str
    is_command: bool = False
    written: str = ""
    """The command as it stands in the file, with its marks."""


@value
class Invocation:
    """One skill, invoked."""

    skill: Skill
    """As its file is now."""
    pieces: tuple[SkillPiece, ...]

    @property
    def commands(self) -> tuple[str, ...]:
        """What is to be run first, each under the rules for the shell; `skill.allowed_tools` may cover them."""
        return tuple(dict.fromkeys(piece.text for piece in self.pieces if piece.is_command))

    def with_outputs(self, outputs: Mapping[str, str]) -> Invocation:
        """With the output of commands in their place; a command without one stays as it was written."""
        return replace(
            self,
            pieces=tuple(
                SkillPiece(outputs[piece.text]) if piece.is_command and piece.text in outputs else piece
                for piece in self.pieces
            ),
        )

    @property
    def text(self) -> str:
        """All of it, as the model reads it and as compaction restores it."""
        body = "".join(piece.written if piece.is_command else piece.text for piece in self.pieces).strip()
        if self.skill.is_command:
            return body
        return f"The files of this skill lie in {self.skill.root}; relative paths in it begin there.\n\n{body}"


def read_invocation(skill: Skill, arguments: str = "", *, values: Mapping[str, str] | None = None) -> Invocation:
    """Read a skill anew and fill in its arguments.

    `values` are further variables by name, such as `CLAUDE_SESSION_ID`. Raises `UserMistake` when the file is gone.
    """
    content = read_content(skill.path)
    if isinstance(content, Unread):
        raise UserMistake(f"the skill {skill.name!r} cannot be invoked: {content.sentence}")
    skill = replace(skill, digest=digest_of(content))
    body = read_page(content).body.replace("\r\n", "\n")
    fill = _Filling(skill, arguments, values or {}, body)
    pieces: list[SkillPiece] = []
    end = 0
    for match in _INLINE.finditer(body):
        pieces.append(SkillPiece(fill(body[end : match.start()])))
        command = fill(match[1] if match[1] is not None else match[2]).strip()
        pieces.append(SkillPiece(command, is_command=True, written=fill(match[0])))
        end = match.end()
    pieces.append(SkillPiece(fill(body[end:])))
    if arguments.strip() and not fill.was_used:
        pieces.append(SkillPiece(f"\n\nArguments: {arguments.strip()}"))
    return Invocation(skill, tuple(pieces))


class _Filling:
    """Puts values in for placeholders in a single pass; what nobody gave stays as it is written."""

    def __init__(self, skill: Skill, arguments: str, values: Mapping[str, str], body: str) -> None:
        self.was_used = False
        self._all = arguments.strip()
        self._each = _split(arguments)
        self._named = dict(zip(skill.arguments, self._each, strict=False))
        self._values = {**values, "CLAUDE_SKILL_DIR": str(skill.root)}
        if skill.plugin_root is not None:
            self._values["CLAUDE_PLUGIN_ROOT"] = str(skill.plugin_root)
        # Commands of old count from one, newer texts from zero; a text that never says `$0` is of the old kind.
        self._first = 0 if re.search(r"\$0\b", body) else 1

    def __call__(self, text: str) -> str:
        return _PLACE.sub(self._value, text)

    def _value(self, match: re.Match[str]) -> str:
        if match["all"]:
            self.was_used = True
            return self._all
        if match["index"] is not None or match["number"] is not None:
            place = int(match["index"]) if match["index"] is not None else int(match["number"]) - self._first
            if 0 <= place < len(self._each):
                self.was_used = True
                return self._each[place]
            return match[0] if match["number"] is not None else ""
        name = match["braced"] or match["name"]
        if name in self._named:
            self.was_used = True
            return self._named[name]
        # Without braces a name of the environment is left to the shells that a text may quote.
        return self._values.get(name, match[0]) if match["braced"] else match[0]


def _split(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:
        return arguments.split()
