"""Remarks of `doctor` on a topic file that could be read only by guessing."""

from __future__ import annotations

from dataclasses import dataclass

from reverie.files import front_matter
from reverie.memory.topics.fields import FIELDS
from reverie.memory.topics.topic import parse_topic


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing to put right by hand."""

    line: int | None
    text: str


def topic_remarks(path: str, text: str) -> tuple[Remark, ...]:
    """Everything in a topic file that was guessed, ignored or is missing.

    Raises: `Damaged` when it cannot be read at all.
    """
    matter = front_matter.split(path, text)
    if matter is None:
        return (Remark(None, "it has no front matter: name and description are taken from its text"),)
    topic = parse_topic(path, text)
    remarks = [
        Remark(line, "this is not YAML and was read as text: put the value in quotes") for line in matter.repaired
    ]
    seen: set[str] = set()
    for entry in matter.entries:
        line = entry.first + 2
        if entry.key in seen:
            remarks.append(Remark(line, f"{entry.key!r} stands here a second time; the last one counts"))
        seen.add(entry.key)
    known_keys = {field.key for field in FIELDS}
    for key, value in topic.extra:
        if key in known_keys:
            where = matter.find(key)
            place = None if where is None else where.first + 2
            remarks.append(Remark(place, f"{key!r} cannot mean {value}; it is kept and not used"))
    if "description" not in seen:
        remarks.append(Remark(None, "it has no description: the first line of its text stands in"))
    return tuple(remarks)
