"""Writes a conversation as a Markdown document."""

from __future__ import annotations

from collections.abc import Iterable

from reverie.apps.tui.pieces import AnswerPiece, Call, Piece, UserPiece


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
