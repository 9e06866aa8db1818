"""Reads the memory files of other agents as notes: instruction files, rules, memory folders, exports.

`find_stores` tells by names and content what lies at a path, `read_notes` reads it. Only the files of a format are
opened, no link out of a store is followed, and nothing is written here (`memory_targets`). What our own exports wrote
there is left out, so that nothing comes back as news.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from reverie.errors import UserMistake
from reverie.files import front_matter
from reverie.files.front_matter import Table, plain_text
from reverie.files.git import ask_git
from reverie.hosts.fields import as_fields, as_text
from reverie.hosts.marked_block import split_block
from reverie.hosts.session import list_files
from reverie.messages.codec import decode_json
from reverie.patterns import lazy_regex
from reverie.values import value

OWN_MARK = "reverie"
"""The value of `source` in files that we wrote, and the name of folders that are ours."""
MAX_FILE_BYTES = 4_000_000
_NAME_CHARS = 80


class MemoryFormat(StrEnum):
    """The kinds of memory files that are known."""

    instructions = "instructions"
    """One Markdown file that an agent always loads: AGENTS.md, GEMINI.md, QWEN.md, CLAUDE.md, hints."""
    cursor = "cursor"
    codex = "codex"
    topics = "topics"
    """A folder of files with front matter and an index: ours, Claude Code's, Qwen's."""
    letta = "letta"
    basic_memory = "basic-memory"
    mem0 = "mem0"


INSTRUCTION_FILES = (
    "AGENTS.md",
    "AGENTS.override.md",
    "GEMINI.md",
    "QWEN.md",
    "CLAUDE.md",
    ".goosehints",
    ".cursorrules",
    ".github/copilot-instructions.md",
)
_INDEX = "MEMORY.md"
_GENERATED_SECTION = "Gemini Added Memories"
"""Under this heading each list item is a memory of its own."""


@value
class HostNote:
    """One memory as another agent keeps it."""

    key: str
    """Names it within its store, the same at every reading: `AGENTS.md#Testing`."""
    name: str
    body: str
    path: Path
    """The file that it stands in."""
    line: int = 1
    """Where its text begins."""
    description: str = ""
    type: str = ""
    """In the words of the other agent; often `user`, `feedback`, `project` or `reference`."""
    globs: tuple[str, ...] = ()
    is_always: bool = False
    observed: date | None = None


@value
class HostStore:
    """Memory files that belong together."""

    format: MemoryFormat
    path: Path
    """A file, or the folder of the files."""


def find_stores(path: Path) -> tuple[HostStore, ...]:
    """The stores at a path: one file, a folder of memories, or a project with several files.

    Raises: `UserMistake` where there is none.
    """
    if path.is_file():
        return (HostStore(_format_of_file(path), path),)
    if not path.is_dir():
        raise UserMistake(f"{path} does not exist; name a memory file or a directory with memory files")
    stores = [
        HostStore(MemoryFormat.instructions, path / name) for name in INSTRUCTION_FILES if (path / name).is_file()
    ]
    rules = path if any(path.glob("*.mdc")) else path / ".cursor" / "rules"
    if rules.is_dir():
        stores.append(HostStore(MemoryFormat.cursor, rules))
    folder_format = _format_of_folder(path) if not stores else None
    if folder_format is not None:
        stores.append(HostStore(folder_format, path))
    if not stores:
        raise UserMistake(
            f"{path} holds no memory files that are known: name AGENTS.md, GEMINI.md, QWEN.md, a rules folder, a "
            "memory folder or a mem0 export"
        )
    return tuple(stores)


def _format_of_file(path: Path) -> MemoryFormat:
    if path.suffix in (".json", ".jsonl"):
        return MemoryFormat.mem0
    if path.suffix == ".mdc":
        return MemoryFormat.cursor
    return MemoryFormat.instructions


def _format_of_folder(path: Path) -> MemoryFormat | None:
    if any((path / name).exists() for name in ("memory_summary.md", "raw_memories.md", "rollout_summaries")):
        return MemoryFormat.codex
    if (path / "system").is_dir() and any((path / "system").rglob("*.md")):
        return MemoryFormat.letta
    notes = list(list_files(path, "*.md", "*/*.md"))
    if (path / _INDEX).is_file() or (path / "pinned").is_dir():
        return MemoryFormat.topics
    keys = {key for note in notes[:20] for key, _ in _cut(_read(note))[0].pairs}
    if "permalink" in keys or "title" in keys:
        return MemoryFormat.basic_memory
    # Other Markdown, such as the documents of a project, is no memory.
    return MemoryFormat.topics if "type" in keys else None


def list_store_files(store: HostStore) -> list[Path]:
    """The files of a store that hold memories, those that we wrote among them."""
    if store.path.is_file():
        return [store.path]
    match store.format:
        case MemoryFormat.cursor:
            return list(list_files(store.path, "**/*.mdc"))
        case MemoryFormat.codex:
            main = list(list_files(store.path, _INDEX)) or list(list_files(store.path, "memory_summary.md"))
            return [*main, *list_files(store.path, "extensions/*/resources/**/*.md")]
        case _:
            files = list_files(store.path, "**/*.md")
            return [file for file in files if file.name != _INDEX and not _is_hidden(file.relative_to(store.path))]


def read_notes(store: HostStore, *, with_own: bool = False) -> Iterator[HostNote]:
    """The notes of a store in the order of its files, without those that we wrote there unless these are wanted.

    Raises: `UserMistake` where a file cannot be read as what it is.
    """
    read_day = _read_days(store)
    for path in list_store_files(store):
        where = path.name if store.path.is_file() else path.relative_to(store.path).as_posix()
        is_own = OWN_MARK in Path(where).parts[:-1] or Path(where).stem == OWN_MARK
        if is_own and not with_own:
            continue
        day = read_day(path)
        match store.format:
            case MemoryFormat.mem0:
                yield from _read_mem0(path, where, day, with_own=with_own)
            case MemoryFormat.instructions:
                text = _read(path)
                others = text if with_own else _INSTALLED.sub("", split_block(text, path).outside)
                yield from _read_sections(path, where, day, others)
            case MemoryFormat.codex if "/" not in where:
                yield from _read_sections(path, where, day, _read(path), levels=1)
            case _:
                yield from _read_note_file(store, path, where, day, with_own=with_own)


def _read_note_file(
    store: HostStore, path: Path, where: str, day: date | None, *, with_own: bool
) -> Iterator[HostNote]:
    """A file that is one memory, with or without front matter."""
    table, body = _cut(_read(path))
    fields = {key: plain_text(item) or "" for key, item in table.pairs}
    if (fields.get("source") == OWN_MARK and not with_own) or not body.strip():
        return
    globs = tuple(filter(None, (part.strip() for part in fields.get("globs", "").split(","))))
    title = fields.get("name") or fields.get("title") or _heading(body) or _words_of(Path(where).stem)
    is_always = fields.get("alwaysApply") == "true" or (
        store.format is MemoryFormat.letta and where.startswith("system/")
    )
    yield HostNote(
        where,
        title,
        _without_heading(body, title),
        path,
        description=fields.get("description", ""),
        type=fields.get("type", ""),
        globs=globs,
        is_always=is_always,
        observed=_parse_day(fields.get("observed") or fields.get("created") or fields.get("modified")) or day,
    )


def _read_sections(path: Path, where: str, day: date | None, text: str, *, levels: int = 2) -> Iterator[HostNote]:
    """The sections of a file, one note each; under the heading of saved memories one note for each list item."""
    _, body = _cut(text)
    seen: dict[str, int] = {}
    first = text[: len(text) - len(body)].count("\n") + 1
    for section in split_sections(body, levels=levels):
        if section.title == _GENERATED_SECTION:
            for item in _ITEM.finditer(section.body):
                said = " ".join(item[1].split())
                line = first + section.line + 1 + section.body[: item.start()].count("\n")
                yield HostNote(f"{where}#{said[:_NAME_CHARS]}", _first_words(said), said, path, line, observed=day)
        elif section.body.strip():
            title = section.title or _words_of(path.stem.lstrip("."))
            seen[title] = seen.get(title, 0) + 1
            name = title if seen[title] == 1 else f"{title} ({seen[title]})"
            blank = len(section.body) - len(section.body.lstrip("\n"))
            line = first + section.line + bool(section.heading) + blank
            yield HostNote(f"{where}#{name}", name, section.body.strip("\n"), path, line, observed=day)


@value
class Section:
    """A piece of a Markdown file from one heading to the next."""

    title: str
    """Empty for what stands before the first heading."""
    body: str
    """What follows the heading."""
    heading: str = ""
    """The heading line as it stands in the file; heading and body of all sections joined are the file."""
    line: int = 0
    """Counted from 0 within the text."""


_INSTALLED = lazy_regex(r"<!-- reverie:install -->.*?<!-- reverie:install end -->\n?", re.DOTALL)
"""The block that an installation leaves in an instruction file."""
_HEADING = lazy_regex(r"(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*\r?\n?\Z")
_FENCE = lazy_regex(r"[ ]{0,3}(`{3,}|~{3,})")
_ITEM = lazy_regex(r"(?m)^[-*+][ \t]+(.+(?:\n[ \t]+\S.*)*)")


def split_sections(text: str, *, levels: int = 2) -> list[Section]:
    """Cut a Markdown text at its headings of the first so many levels; a heading in a code fence is none."""
    sections = [Section("", "")]
    fence = ""
    for number, row in enumerate(text.splitlines(keepends=True)):
        mark = _FENCE.match(row)
        if mark and (not fence or (mark[1].startswith(fence) and not row[mark.end() :].strip())):
            fence = "" if fence else mark[1]
        heading = _HEADING.match(row) if not fence else None
        if heading and len(heading[1]) <= levels:
            sections.append(Section(heading[2], "", row, number))
        else:
            last = sections[-1]
            sections[-1] = Section(last.title, last.body + row, last.heading, last.line)
    return sections if sections[0].body or len(sections) == 1 else sections[1:]


def _read_mem0(path: Path, where: str, day: date | None, *, with_own: bool) -> Iterator[HostNote]:
    """The rows of an export: a JSON list, an object with a list in it, or JSON lines."""
    for number, row in enumerate(_mem0_rows(path)):
        text = next((as_text(row.get(key)) for key in ("memory", "text", "content", "data") if row.get(key)), "")
        facts = as_fields(row.get("metadata"))
        if not text.strip() or (facts.get("source") == OWN_MARK and not with_own):
            continue
        moment = as_text(row.get("updated_at")) or as_text(row.get("created_at"))
        yield HostNote(
            f"{where}#{row.get('id') or number}",
            as_text(facts.get("name")) or _first_words(text),
            text,
            path,
            description=as_text(facts.get("description")),
            type=as_text(facts.get("type")),
            observed=_parse_day(moment) or day,
        )


def _mem0_rows(path: Path) -> list[dict[str, Any]]:
    text = _read(path)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        try:
            document = [decode_json(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError) as problem:
            raise UserMistake(f"{path} is not JSON or JSON lines: {problem}; name an export of mem0") from problem
    if isinstance(document, dict) and isinstance(document.get("memory"), str):
        document = [document]
    if isinstance(document, dict):
        lists = (document.get(key) for key in ("results", "memories", "data"))
        document = next((rows for rows in lists if isinstance(rows, list)), None)
    if not isinstance(document, list) or not all(isinstance(row, dict) for row in document):
        raise UserMistake(f"{path} holds no list of memories; name an export of mem0 (`results` with `memory` texts)")
    return document


def _read_days(store: HostStore) -> Callable[[Path], date | None]:
    """On which day each file was last committed, else written; git is asked once for the whole store."""
    folder = store.path if store.path.is_dir() else store.path.parent
    committed: dict[str, date | None] = {}
    if any((above / ".git").exists() for above in (folder, *folder.parents)):
        pattern = "." if store.path.is_dir() else store.path.name
        asked = ("-c", "core.quotePath=false", "log", "--format=@%cI", "--name-only", "--relative", "--", pattern)
        day = None
        for row in (ask_git(folder, *asked) or "").splitlines():
            if row.startswith("@"):
                day = _parse_day(row[1:])
            elif row:
                committed.setdefault(row, day)

    def read_day(path: Path) -> date | None:
        try:
            written = datetime.fromtimestamp(path.stat().st_mtime, UTC).date()
        except OSError:
            written = None
        return committed.get(path.relative_to(folder).as_posix()) or written

    return read_day


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise UserMistake(f"{path} is larger than {MAX_FILE_BYTES // 1_000_000} MB; split it, or name another file")
        return path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    except OSError as problem:
        raise UserMistake(f"cannot read {path}: {problem.strerror}") from problem


def _cut(text: str) -> tuple[Table, str]:
    """Front matter and the rest; what cannot be read as front matter is text."""
    block = front_matter.cut(text)
    if block is None:
        return Table(()), text
    try:
        return front_matter.parse_table(block.lines), block.body
    except ValueError:
        return Table(()), text


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _heading(body: str) -> str:
    return next((section.title for section in split_sections(body, levels=1) if section.title), "")


def _without_heading(body: str, title: str) -> str:
    """The body without a first heading that only repeats the title."""
    text = body.strip("\n")
    first, _, rest = text.partition("\n")
    match = _HEADING.match(first)
    return rest.strip("\n") if match and match[2] == title and rest.strip() else text


def _first_words(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _NAME_CHARS else (line[:_NAME_CHARS].rpartition(" ")[0] or line[:_NAME_CHARS]) + "…"


def _words_of(stem: str) -> str:
    return re.sub(r"[_-]+", " ", stem).strip() or "note"


def _parse_day(text: object) -> date | None:
    try:
        return date.fromisoformat(text[:10]) if isinstance(text, str) and text else None
    except ValueError:
        return None
