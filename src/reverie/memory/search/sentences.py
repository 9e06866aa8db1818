"""A text cut into sentences, each to get a vector of its own: what answers a question is rarely a whole text.

Owns where a text is cut; `embed.py` cuts by what the model can read at once, which is another matter.
"""

from __future__ import annotations

from reverie.patterns import split_sentences

_LEAST_CHARS = 30
"""A shorter sentence says too little by itself and is read with the next of its line."""
_REMAINDER_CHARS = 12
"""What is left of a line and shorter than this belongs to the sentence before it."""
_MOST = 64
"""A text with more sentences gets longer pieces instead of more of them."""


def split_for_vectors(text: str) -> list[str]:
    """The sentences of a text in their order; at least one, at most 64."""
    sentences: list[str] = []
    for line in text.split("\n"):
        open_piece = ""
        for sentence in split_sentences(line):
            open_piece = f"{open_piece} {sentence}".strip()
            if len(open_piece) >= _LEAST_CHARS:
                sentences.append(open_piece)
                open_piece = ""
        if open_piece and sentences and len(open_piece) < _REMAINDER_CHARS:
            sentences[-1] += f" {open_piece}"
        elif open_piece:
            sentences.append(open_piece)
    step = -(-len(sentences) // _MOST)
    return [" ".join(sentences[at : at + step]) for at in range(0, len(sentences), step)] if sentences else [text]
