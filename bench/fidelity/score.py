"""What of the identifiers that the real continuation uses is still visible after a reduction, and what is reachable.

*Visible*: it stands in the reduced view together with something it stood with before. Text that was kept word for word
counts as it is. In text that a strategy wrote, the line and the lines it hangs under must share a word or identifier
with the places where the identifier stood originally; in a list, other entries do not count, only what the list hangs
under and the words of its own entry do, and neither do parts of the identifier itself.

*Reachable*: visible, or one read of at most 4,000 tokens away, by a pointer in the view that names the file, command or
subject: a path whose file holds it (near the top or near a line number that the view names), a read-only command whose
output holds it, or a listed span of the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from statistics import median

from bench.fidelity.cuts import Cut, weigh
from bench.fidelity.identifiers import identifiers, path_key, words
from bench.fidelity.passages import Passage, passages
from reverie.context.facts.stated import strip_machine_text
from reverie.messages.view import Item, ItemKind

NEAR_CHARS = 160
READ_TOKENS = 4_000
LINES_PER_READ = 250
"""Lines of source that 4,000 tokens hold, on the careful side."""
MOST_PLACES = 40
LIST_PARTS = 4
LIST_WORDS = 3
"""A line of so many parts of so few words each is a list; its entries say nothing about each other."""
MOSTLY = 0.6
_SEPARATOR = re.compile(r"[,;|]\s+")
_READ_ONLY = re.compile(
    r"^\s*(?:cd\s+\S+\s*&&\s*)?(?:cat|sed\s+-n|head|tail|nl|grep|rg|ls|find|git\s+(?:show|log|diff|grep)|awk|wc|tree)\b"
)
_SPAN = re.compile(r"\[([\w]{2,8})-([\w]{2,8})\] (.*)")
_NUMBERED = re.compile(r"^\s*(\d+)(?:→|\t|:)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Score:
    """One reduction at one cut."""

    needed: int
    visible: int
    reachable: int
    user_messages: int
    user_messages_kept: int
    missing: tuple[str, ...] = field(default=(), repr=False)
    unreachable: tuple[str, ...] = field(default=(), repr=False)

    @property
    def visible_share(self) -> float:
        return self.visible / self.needed if self.needed else 1.0

    @property
    def reachable_share(self) -> float:
        return self.reachable / self.needed if self.needed else 1.0

    @property
    def user_share(self) -> float:
        return self.user_messages_kept / self.user_messages if self.user_messages else 1.0


class Need:
    """What the continuation after one cut needs of what came before it."""

    def __init__(self, items: Sequence[Item], cut: Cut) -> None:
        self.items = items[: cut.at]
        self.before = passages(self.items)
        later = passages(items[: cut.until])
        used: set[str] = set()
        for one in later:
            if one.item >= cut.at and one.by_model:
                used |= _identifiers(one.text)
        before: set[str] = set()
        for one in self.before:
            before |= _identifiers(one.text)
        self.identifiers = tuple(sorted(used & before))
        self.known = before
        self._company: dict[str, frozenset[str]] = {}
        self._keys = {path_key(one) for one in before if "/" in one}

    def spellings(self, identifier: str) -> tuple[str, ...]:
        """How it may be written: a path also by its name alone, when no other path has that name."""
        name = identifier.rsplit("/", 1)[-1]
        if "/" in identifier and "." in name and sum(1 for key in self._keys if key.endswith("/" + name)) == 1:
            return identifier, name
        return (identifier,)

    def company(self, identifier: str) -> frozenset[str]:
        """The words and identifiers that it stood with, and the files and commands that it belonged to."""
        if identifier not in self._company:
            found: set[str] = set()
            for number, (one, at) in enumerate(_places(self.before, self.spellings(identifier))):
                if number >= MOST_PLACES:
                    break
                near = one.text[max(0, at - NEAR_CHARS) : at + len(identifier) + NEAR_CHARS]
                found |= set(words(near)) | _identifiers(near) | _subject_words(one.owner)
            self._company[identifier] = frozenset(found - {identifier, identifier.lower()})
        return self._company[identifier]


def score(need: Need, view: Sequence[Item]) -> Score:
    """Measure one reduced view."""
    shown = passages(view)
    kept = {one.text for one in need.before}
    visible = {one for one in need.identifiers if is_visible(one, need, shown, kept)}
    reading = Reading(need, shown)
    unreachable = tuple(one for one in need.identifiers if one not in visible and not reading.reaches(one))
    typed = [item for item in need.items if item.kind is ItemKind.TYPED and strip_machine_text(item.message.text)]
    all_text = "\n".join(one.text for one in shown)
    held = sum(1 for item in typed if _stands_in(item, all_text))
    return Score(
        len(need.identifiers),
        len(visible),
        len(need.identifiers) - len(unreachable),
        len(typed),
        held,
        tuple(one for one in need.identifiers if one not in visible),
        unreachable,
    )


def is_visible(identifier: str, need: Need, shown: Sequence[Passage], kept: set[str]) -> bool:
    """Whether it stands in the view with something it stood with before."""
    for one, at in _places(shown, need.spellings(identifier)):
        if one.text in kept or _in_company(identifier, one.text, at, need):
            return True
    return False


def _in_company(identifier: str, text: str, at: int, need: Need) -> bool:
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    line = text[start : end if end >= 0 else len(text)]
    first, last = _own_part(line, at - start)
    near = line[max(first, at - start - NEAR_CHARS) : min(last, at - start + len(identifier) + NEAR_CHARS)]
    above = " ".join(_lines_above(text, start))
    told = set(words(above)) | _identifiers(above) | _told_beside(near, need)
    own = identifier.lower()
    # Neither a part of the identifier nor a longer spelling of it says what it was about.
    return any(one.lower() not in own and own not in one.lower() for one in told & need.company(identifier))


def _own_part(line: str, at: int) -> tuple[int, int]:
    """Where the entry of a list begins and ends that holds this place; the whole line when it is no list."""
    marks = [0, *(match.end() for match in _SEPARATOR.finditer(line)), len(line)]
    parts = [line[one:other] for one, other in pairwise(marks)]
    if len(parts) < LIST_PARTS or median(len(part.split()) for part in parts) > LIST_WORDS:
        return 0, len(line)
    return next((one, other) for one, other in pairwise(marks) if one <= at < other or other == len(line))


def _told_beside(near: str, need: Need) -> set[str]:
    """The words and identifiers of a line; of one that is mostly names, only the plain words."""
    chunks = near.split()
    names = [chunk for chunk in chunks if _identifiers(chunk) or chunk.strip("`'\".,:;()[]*") in need.known]
    if len(chunks) >= LIST_PARTS and len(names) >= MOSTLY * len(chunks):
        return set(words(" ".join(chunk for chunk in chunks if chunk not in names))) - need.known
    return set(words(near)) | _identifiers(near)


def _lines_above(text: str, start: int) -> Iterable[str]:
    """The lines under which a line hangs, by their indentation."""
    depth = _indent(text[start : text.find("\n", start) if "\n" in text[start:] else len(text)])
    for row in reversed(text[:start].split("\n")[:-1][-60:]):
        if row.strip() and _indent(row) < depth:
            depth = _indent(row)
            yield row
            if depth == 0:
                return


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


class Reading:
    """What one read can bring back, by the pointers of a view."""

    def __init__(self, need: Need, shown: Sequence[Passage]) -> None:
        self._need = need
        self._text = "\n".join(one.text for one in shown)
        self._identifiers = _identifiers(self._text)
        self._spans = list(self._listed_spans())

    def reaches(self, identifier: str) -> bool:
        """Whether some pointer leads to it."""
        spellings = self._need.spellings(identifier)
        for one, at in _places(self._need.before, spellings):
            if one.owner and self._by_owner(one, at):
                return True
        return any(self._by_span(spellings, span) for span in self._spans)

    def _by_owner(self, one: Passage, at: int) -> bool:
        name = one.owner.rsplit("/", 1)[-1]
        if "\n" not in one.owner and ("/" in one.owner or "." in one.owner) and " " not in one.owner:
            return name in self._text and self._in_file(one, at, name)
        command = one.owner.strip().split("\n")[0][:60]
        return bool(_READ_ONLY.match(command)) and command in self._text and weigh(one.text[:at]) < READ_TOKENS

    def _in_file(self, one: Passage, at: int, name: str) -> bool:
        row = one.text.rfind("\n", 0, at) + 1
        number = _NUMBERED.match(one.text, row)
        if number is None:
            return weigh(one.text[:at]) < READ_TOKENS
        line = int(number[1])
        return line < LINES_PER_READ or any(0 <= line - named < LINES_PER_READ for named in self._lines_named(name))

    def _lines_named(self, name: str) -> set[int]:
        """Line numbers that stand in the view beside or below the name of a file."""
        found: set[int] = set()
        rows = self._text.split("\n")
        for number, row in enumerate(rows):
            if name not in row:
                continue
            found.update(int(one) for one in re.findall(r"\d+", row)[:40])
            for below in rows[number + 1 :]:
                if _indent(below) <= _indent(row):
                    break
                found.update(int(one) for one in re.findall(r"(?::|^\s*)(\d+)\b", below)[:80])
        return found

    def _listed_spans(self) -> Iterable[tuple[int, int, str]]:
        ids = [item.uuid for item in self._need.items]
        for match in _SPAN.finditer(self._text):
            first = next((number for number, uuid in enumerate(ids) if uuid.startswith(match[1])), None)
            last = next((number for number, uuid in enumerate(ids) if uuid.startswith(match[2])), None)
            if first is not None and last is not None:
                yield first, last, match[3]

    def _by_span(self, spellings: tuple[str, ...], span: tuple[int, int, str]) -> bool:
        first, last, about = span
        read = 0.0
        subjects = _subject_words(about) | set(words(about)) | _identifiers(about)
        for one in self._need.before:
            if not first <= one.item <= last:
                continue
            for spelling in spellings:
                at = one.text.find(spelling)
                if at >= 0 and read + weigh(one.text[:at]) < READ_TOKENS and self._names(one, about, subjects):
                    return True
            read += weigh(one.text)
            if read > READ_TOKENS:
                return False
        return False

    def _names(self, one: Passage, about: str, subjects: set[str]) -> bool:
        if one.owner:
            return bool(_subject_words(one.owner) & subjects) or one.owner.rsplit("/", 1)[-1] in about
        return bool(set(words(one.text)) & subjects) or bool(_identifiers(one.text) & subjects)


def _places(found: Sequence[Passage], spellings: tuple[str, ...]) -> Iterable[tuple[Passage, int]]:
    """Where one of the spellings stands as a word of its own."""
    for one in found:
        for spelling in spellings:
            at = one.text.find(spelling)
            while at >= 0:
                if _is_whole(one.text, at, spelling):
                    yield one, at
                    break
                at = one.text.find(spelling, at + 1)


def _is_whole(text: str, at: int, spelling: str) -> bool:
    end = at + len(spelling)
    before = text[at - 1] if at else " "
    after = text[end] if end < len(text) else " "
    return not (_is_word(before) and _is_word(spelling[0])) and not (_is_word(after) and _is_word(spelling[-1]))


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _subject_words(owner: str) -> set[str]:
    """A file by its name, a command by its words."""
    first = owner.strip()[:200]
    return ({first.rsplit("/", 1)[-1].lower()} | set(words(first)) | _identifiers(first)) if first else set()


def _stands_in(item: Item, text: str) -> bool:
    """Whether a typed message is there word for word, or by its head, its tail and its id."""
    said = item.message.text.strip("\n")
    return said in text or (item.uuid[:8] in text and said[:60] in text and said[-60:] in text)


@lru_cache(maxsize=20_000)
def _identifiers(text: str) -> set[str]:
    return identifiers(text)
