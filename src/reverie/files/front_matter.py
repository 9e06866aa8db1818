"""The YAML block at the head of a Markdown file: found, read without type surprises, edited line by line.

The only reader of front matter: memories use `split`, which knows the lines of each key so that one can be edited and
every other byte stays; files that are only read (skills, agents, rules) use `cut` and `parse_table`.

Scalars stay the text that stands in the file (`yes`, `1e3` and dates are not converted); what they mean is the caller's
business. Reading forgives what people and agents write without quotes (a colon, a tab, a glob pattern); anything else
that is not YAML is `Damaged` with its line in a memory, which we would write again, and a `ValueError` elsewhere.
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from reverie.errors import Damaged
from reverie.patterns import lazy_regex

if TYPE_CHECKING:
    import yaml

BOM = "\ufeff"

MAX_NODES = 10_000
"""A front matter that unfolds (by YAML aliases) into more values than this is an attack or an accident."""

_STRING_TAG = "tag:yaml.org,2002:str"
_CORE_TAGS = lazy_regex(r"tag:yaml\.org,2002:(str|int|float|bool|null|timestamp|merge|value|seq|map)\Z")
_LOOKS_LIKE_KEY = lazy_regex(r"""["']?[\w.$-]+["']?[ \t]*:(?:[ \t]|$)""")
_PLAIN_LINE = lazy_regex(r"""(?P<head>[\w.$-]+[ \t]*:[ \t]+)(?P<value>[^\s"'\[{|>#].*?)[ \t]*\Z""")
_PLAIN_ITEM = lazy_regex(r"""(?P<head>[ \t]*-[ \t]+)(?P<value>[@`*&!%].*?)[ \t]*\Z""")
_ANY_VALUE = lazy_regex(r"""(?P<head>[\w.$-]+[ \t]*:[ \t]+)(?P<value>[^\s|>#].*?)[ \t]*\Z""")
_STUMBLES = lazy_regex(r":(?:\s|\Z)|\A[@`*&!%]")
_NESTS = lazy_regex(r"(?:[-?:][ \t]+){32}|^[ \t]{64}", re.MULTILINE)
# str.splitlines also splits at form feeds and Unicode separators, which are ordinary characters in Markdown.
_OPENING = lazy_regex(r"---[ \t]*(?:\r|\n|\Z)")
_UNENDED = lazy_regex(r"""\ufeff?---[ \t]*(?:\r\n|\r|\n)["']?[\w.$-]+["']?[ \t]*:(?:[ \t]|$)""", re.MULTILINE)
_ROW = lazy_regex(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_BREAKS_ONLY_IN_YAML = str.maketrans("\x85\u2028\u2029", "   ")


@functools.cache
def _unsafe_in_yaml() -> re.Pattern[str]:
    """Characters that YAML wants escaped; made when something is first written, since making it takes milliseconds."""
    return re.compile("[^\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value as text."""

    text: str
    plain: bool = False
    """Written without quotes and read by YAML as something other than a string: a number, a date, a truth value."""

    @property
    def is_null(self) -> bool:
        return self.plain and self.text in {"", "~", "null", "Null", "NULL"}


@dataclass(frozen=True, slots=True)
class Table:
    """A mapping, in file order; of a repeated key the last value stands."""

    pairs: tuple[tuple[str, Value], ...]

    def get(self, key: str) -> Value | None:
        return dict(self.pairs).get(key)

    def without(self, key: str) -> Table:
        return Table(tuple(pair for pair in self.pairs if pair[0] != key))


Value: TypeAlias = "Scalar | Table | tuple[Value, ...]"


@dataclass(frozen=True, slots=True)
class FrontMatterKey:
    """One key of the block and the lines it stands on."""

    key: str
    value: Value
    first: int
    """Index of its first line among the lines of the block."""
    last: int
    """Index of the line after its last one; comments and blank lines that follow are not part of it."""
    children: tuple[FrontMatterKey, ...] = ()
    """The keys of a nested block mapping, with their own lines."""


@dataclass(frozen=True, slots=True)
class FrontMatterBlock:
    """A file cut into byte order mark, block and body; joined again it is the same text."""

    bom: str
    opening: str
    """The `---` line with its line end."""
    lines: tuple[str, ...]
    """The lines between the markers, each with its line end."""
    closing: str
    body: str


@dataclass(frozen=True, slots=True)
class FrontMatter(FrontMatterBlock):
    """The same with what the block says."""

    entries: tuple[FrontMatterKey, ...]
    is_block: bool
    """False when the whole mapping is written in braces: its keys have no lines of their own."""
    repaired: tuple[int, ...]
    """Line numbers in the file that are no YAML as they stand and were read as plain text."""

    @property
    def newline(self) -> str:
        return "\r\n" if self.opening.endswith("\r\n") else "\n"

    def table(self) -> Table:
        return Table(tuple({entry.key: entry.value for entry in self.entries}.items()))

    def find(self, key: str) -> FrontMatterKey | None:
        """The entry that stands for a key: the last one."""
        return next((entry for entry in reversed(self.entries) if entry.key == key), None)

    def join(self, lines: tuple[str, ...] | list[str], body: str) -> str:
        return self.bom + self.opening + "".join(lines) + self.closing + body


def cut(text: str) -> FrontMatterBlock | None:
    """Cut a file at its front matter without reading it; None when it has none, or one that never ends."""
    bom = BOM if text.startswith(BOM) else ""
    if not _OPENING.match(text, len(bom)):
        return None
    rows: list[str] = []
    for match in _ROW.finditer(text, len(bom)):
        if rows and match[0].rstrip() in {"---", "..."}:
            return FrontMatterBlock(bom, rows[0], tuple(rows[1:]), match[0], text[match.end() :])
        rows.append(match[0])
    return None


def split(path: str, text: str) -> FrontMatter | None:
    """Cut a file at its front matter and read it; None when it has none.

    Raises: `Damaged` when there is a block and it is not YAML or never ends.
    """
    block = cut(text)
    if block is None:
        if _UNENDED.match(text):
            _raise_damaged(path, "the front matter that begins here never ends: add a line with ---", 1)
        return None
    read = _read_block(path, block.lines)
    if read is None:
        return None
    entries, is_block, repaired = read
    return FrontMatter(block.bom, block.opening, block.lines, block.closing, block.body, entries, is_block, repaired)


def parse_table(lines: tuple[str, ...]) -> Table:
    """What a block of a file that others wrote says. Raises `ValueError` where it is no mapping."""
    import yaml

    try:
        try:
            node, _ = _compose_forgiving(lines)
        except yaml.YAMLError:
            # People write `[file] [more]` and half quotes into files of which nobody has to write a line again.
            node = _compose("".join(_quote_unless_yaml(line) for line in lines))
        if node is None:
            return Table(())
        value = _Reader().value(node)
    except yaml.YAMLError as error:
        raise ValueError(str(error).partition("\n")[0]) from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply or refers to itself") from error
    except OverflowError as error:
        raise ValueError(f"it unfolds into more than {MAX_NODES} values") from error
    if not isinstance(value, Table):
        raise ValueError("expected `key: value` lines")
    return value


def quote_string(text: str) -> str:
    """A string in double quotes that YAML and JSON readers take for the same text, on one line."""
    return _unsafe_in_yaml().sub(_escape, json.dumps(text, ensure_ascii=False))


def canonical(value: Value) -> str:
    """One line of YAML for a value; equal values give equal text."""
    if isinstance(value, Scalar):
        if value.plain:
            return value.text or "null"
        return quote_string(value.text)
    if isinstance(value, Table):
        return "{" + ", ".join(f"{quote_string(key)}: {canonical(item)}" for key, item in value.pairs) + "}"
    return "[" + ", ".join(canonical(item) for item in value) + "]"


def parse_value(source: str) -> Value:
    """Read back what `canonical` wrote."""
    node = _compose(source)
    assert node is not None
    return _Reader().value(node)


def plain_text(value: Value | None) -> str | None:
    """What a person meant by a value that should be a text: numbers and dates as written, lists joined."""
    if value is None or (isinstance(value, Scalar) and value.is_null):
        return None
    if isinstance(value, Scalar):
        return value.text
    if isinstance(value, Table):
        return canonical(value)
    return ", ".join(plain_text(item) or "" for item in value)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _read_block(path: str, lines: tuple[str, ...]) -> tuple[tuple[FrontMatterKey, ...], bool, tuple[int, ...]] | None:
    import yaml

    try:
        node, repaired = _compose_forgiving(lines)
        if node is None:
            return (), True, ()
        if not isinstance(node, yaml.MappingNode):
            return None
        entries = _entries(node, lines, 0, len(lines))
    except yaml.YAMLError as error:
        if not any(_LOOKS_LIKE_KEY.match(line) for line in lines):
            return None
        _not_yaml(path, error)
    except RecursionError:
        _raise_damaged(path, "the front matter is nested too deeply or refers to itself", 1)
    except OverflowError:
        _raise_damaged(path, f"the front matter unfolds into more than {MAX_NODES} values", 1)
    is_block = not node.flow_style and len({entry.first for entry in entries}) == len(entries)
    return entries, is_block, repaired


def _compose_forgiving(lines: tuple[str, ...]) -> tuple[yaml.Node | None, tuple[int, ...]]:
    """Compose the block; if it is not YAML, once more with what people leave unquoted in quotes.

    Raises the first `YAMLError`: it is about the text as it stands.
    """
    import yaml

    try:
        return _compose("".join(lines)), ()
    except yaml.YAMLError as error:
        forgiven = [_forgive(line) for line in lines]
        try:
            node = _compose("".join(forgiven))
        except yaml.YAMLError:
            raise error from None
    return node, tuple(n for n, (old, new) in enumerate(zip(lines, forgiven, strict=True), 2) if old != new)


def _compose(source: str) -> yaml.Node | None:
    import yaml

    # The C loader recurses without a limit and takes the process down; the other raises.
    is_deep = source.count("[") + source.count("{") > 64 or _NESTS.search(source) is not None
    loader = yaml.SafeLoader if is_deep else getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    node: yaml.Node | None = yaml.compose(source.translate(_BREAKS_ONLY_IN_YAML), Loader=loader)
    return node


def _forgive(line: str) -> str:
    """Quote a plain one-line value that YAML would stumble over, and indent by spaces."""
    indent = _indent(line)
    line = line[:indent].replace("\t", "  ") + line[indent:]
    end = line[len(line.rstrip("\r\n")) :]
    bare = line.rstrip("\r\n")
    match = _PLAIN_LINE.match(bare) or _PLAIN_ITEM.match(bare)
    if match is None or not _STUMBLES.search(match["value"]):
        return line
    return match["head"] + quote_string(match["value"]) + end


def _quote_unless_yaml(line: str) -> str:
    """Quote any one-line value that is not YAML by itself."""
    import yaml

    forgiven = _forgive(line)
    match = _ANY_VALUE.match(forgiven.rstrip("\r\n"))
    if match is None:
        return forgiven
    try:
        _compose(match["value"])
    except yaml.YAMLError:
        return match["head"] + quote_string(match["value"]) + "\n"
    return forgiven


def _entries(node: yaml.MappingNode, lines: tuple[str, ...], first: int, last: int) -> tuple[FrontMatterKey, ...]:
    import yaml

    reader = _Reader()
    starts = [key.start_mark.line for key, _ in node.value] + [last]
    entries = []
    for number, (key, value) in enumerate(node.value):
        start = max(first, starts[number])
        end = _without_trailing_comments(lines, start, starts[number + 1])
        children: tuple[FrontMatterKey, ...] = ()
        if isinstance(value, yaml.MappingNode) and not value.flow_style and value.start_mark.line > start:
            children = _entries(value, lines, start + 1, end)
        read = reader.value(value)
        if isinstance(read, Scalar) and value.style in {None, ""} and value.start_mark.line == start:
            read = _with_inline_hash(read, lines[start], value)
        entries.append(FrontMatterKey(reader.key(key), read, start, end, children))
    return tuple(entries)


def _with_inline_hash(read: Scalar, line: str, node: yaml.ScalarNode) -> Scalar:
    """Keep ` #…` in the two texts people write without quotes; elsewhere it is a comment."""
    key, _, rest = line.partition(":")
    if (
        key.strip() not in {"name", "description"}
        or not read.text
        or " #" not in rest
        or node.end_mark.line != node.start_mark.line
    ):
        return read
    return Scalar(rest.strip())


def _without_trailing_comments(lines: tuple[str, ...], first: int, last: int) -> int:
    indent = _indent(lines[first])
    while last > first + 1 and (not (line := lines[last - 1]).strip() or _is_comment(line, indent)):
        last -= 1
    return last


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _is_comment(line: str, indent: int) -> bool:
    # Deeper than its key, a # may be text of a block scalar.
    return line.lstrip(" \t").startswith("#") and _indent(line) <= indent


class _Reader:
    """Turns YAML nodes into values and counts them."""

    def __init__(self) -> None:
        self.left = MAX_NODES

    def key(self, node: yaml.Node) -> str:
        value = self.value(node)
        return value.text if isinstance(value, Scalar) else canonical(value)

    def value(self, node: yaml.Node) -> Value:
        import yaml

        self.left -= 1
        if self.left < 0:
            raise OverflowError
        if isinstance(node, yaml.ScalarNode):
            unquoted = node.style in {None, ""} and node.tag != _STRING_TAG
            return Scalar(node.value, plain=unquoted and _CORE_TAGS.match(node.tag) is not None)
        if isinstance(node, yaml.SequenceNode):
            return tuple(self.value(item) for item in node.value)
        assert isinstance(node, yaml.MappingNode)
        return Table(tuple({self.key(key): self.value(item) for key, item in node.value}.items()))


def _not_yaml(path: str, error: yaml.YAMLError) -> NoReturn:
    mark = getattr(error, "context_mark", None) or getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
    _raise_damaged(
        path,
        f"the front matter is not YAML ({problem}): correct it by hand, for instance by quoting the value",
        2 + mark.line if mark is not None else None,
    )


def _raise_damaged(path: str, problem: str, line: int | None) -> NoReturn:
    place = path if line is None else f"{path}, line {line}"
    raise Damaged(f"{place}: {problem}", path=Path(path), line=line)
