"""Parses shell text with tree-sitter. Node types that are not on a list make the result a guess, and a guess asks.

The grammar forgives much that the shell does not, so a script without expansions must also pass `plain_parser`.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from reverie.permissions.shell.plain_parser import Unsure, parse_plainly
from reverie.permissions.shell.script import Assignment, Redirect, Script, Shape, SimpleCommand, Word

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_CHARS = 20_000
"""A longer command is not examined."""
_MAX_WORDS = 1000
_MAX_BRACKETS = 60
"""What is nested more deeply would take long to read."""
_GROUPS = frozenset({"program", "list", "pipeline", "subshell", "negated_command", "redirected_statement"})
_CONTROL = frozenset(
    {"if_statement", "elif_clause", "else_clause", "for_statement", "while_statement", "do_group", "case_statement"}
    | {"case_item"}
)
_JOINTS = frozenset({"&&", "||", ";", "\n", "|", "|&", "(", ")", "{", "}", "!", "comment"})
_CONTROL_JOINTS = _JOINTS | {
    "if",
    "then",
    "elif",
    "else",
    "fi",
    "for",
    "in",
    "do",
    "done",
    "while",
    "until",
}
_WORDS = frozenset(
    {
        "word",
        "number",
        "string",
        "raw_string",
        "ansi_c_string",
        "translated_string",
        "concatenation",
        "simple_expansion",
    }
    | {"expansion", "command_substitution", "process_substitution", "arithmetic_expansion", "brace_expression"}
)
_EXPANSIONS = {
    "simple_expansion": Shape.EXPANSION,
    "expansion": Shape.EXPANSION,
    "arithmetic_expansion": Shape.EXPANSION,
    "command_substitution": Shape.SUBSTITUTION,
    "process_substitution": Shape.PROCESS,
}
_GLOB = re.compile(r"[*?\[]")
_BRACES = re.compile(r"\{[^{}\s]*(?:,|\.\.)")
_PLAIN_EXPANSION = re.compile(
    r"\$(?:\w+|[?#$!@*-]|\{#?\w+\}|\{\w+(?::?[-+]|##?|%%?)[\w./*:@ -]*\}|\(\([\d\s+*/%-]*\)\))"
)
"""What has no second level: the text of a variable, a default, a cut-off end, a sum of numbers."""
_PLAIN_DELIMITER = re.compile(r"(['\"]?)(\w+)\1")
_PLAIN_TEST = re.compile(r"(\[\[?)\s+(-[a-zA-Z])\s+([\w./-]+|'[^']*'|\"[^\"$`\\]*\")\s+(\]\]?)")
_BROKEN_WORD = re.compile(r"[^\s\\]\\\n\S")
"""The shell joins such lines into one word, the grammar does not."""
_NAMED_HANDLE = re.compile(r"\}(?:\\\n)*[<>]")
"""`{NAME}<file` puts the number of a handle into a variable."""
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
"""The grammar's scanner looks such characters up beyond the end of a table and may take the process with it.

It reads dots instead: to the shell both are characters of a word and of no name. What a word says is taken from the
command itself."""
_ANSI_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|[0-7]{1,3}|[nrtabfv\\'\"])")


def parse(command: str) -> Script:
    """Read a command. Never raises: what cannot be understood has a `problem`."""
    if len(command) > MAX_CHARS or sum(map(command.count, "({`")) > _MAX_BRACKETS:
        return Script((), problem="it is too long to analyse")
    try:
        source = command.encode("utf-8")
    except UnicodeEncodeError:
        return Script((), problem="it contains characters that cannot be encoded")
    tree = _parser().parse(_NOT_ASCII.sub(b".", source))
    reader = _Reader(source)
    reader.read(tree.root_node)
    if tree.root_node.has_error:
        reader.complain("it is not valid shell syntax", broken=True)
    reader.complain(_odd_character(tree.root_node, command))
    if _NAMED_HANDLE.search(_mask_quoted_text(tree.root_node, command)):
        reader.complain("a redirection in it may set a variable")
    script = reader.script()
    if sum(len(step.words) for step in script.steps) > _MAX_WORDS:
        return replace(script, problem="it is too long to analyse", steps=script.steps[:_MAX_WORDS])
    if not script.problem:
        reader.complain(_second_opinion(command, script, tree.root_node))
    return reader.script()


@functools.cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def _second_opinion(command: str, script: Script, root: Node) -> str:
    """What speaks against the reading of a command; empty when nothing does."""
    if script.shapes & {Shape.CONTROL, Shape.HEREDOC}:
        if _BROKEN_WORD.search(command):
            return "a word spans two lines"
        return "it contains a comment" if _has_comment(root) else ""
    source = command.encode("utf-8")
    expansions = list(_outermost(root, source))
    if not expansions:
        return _disagreement(command, script)
    masked = bytearray(source)
    inner_steps = 0
    for node in expansions:
        masked[node.start_byte : node.end_byte] = b"x" * (node.end_byte - node.start_byte)
        if node.type in ("command_substitution", "process_substitution"):
            words = _text(node, source)
            inner = parse(words[1:-1] if words.startswith("`") else words[2:-1])
            inner_steps += len(inner.steps)
            if inner.problem or ("\\" in words and words.startswith("`")):
                return inner.problem or "it contains an escape inside backticks"
    outer = parse(masked.decode("utf-8"))
    if outer.problem or outer.shapes & set(_EXPANSIONS.values()):
        return outer.problem or "its expansions cannot be determined"
    return "" if len(outer.steps) + inner_steps == len(script.steps) else "two parsers disagree on it"


def _outermost(node: Node, source: bytes) -> Iterator[Node]:
    """What the shell works out before it runs a command, each as a whole."""
    if node.type in _EXPANSIONS and _text(node, source) != "$?":
        yield node
    else:
        for child in node.children:
            yield from _outermost(child, source)


def _has_comment(node: Node) -> bool:
    return node.type == "comment" or any(_has_comment(child) for child in node.children)


def _disagreement(command: str, script: Script) -> str:
    try:
        plain = parse_plainly(command)
    except Unsure as unsure:
        return str(unsure)
    steps = [tuple(word.text for word in step.words) for step in script.steps if step.words]
    targets = [redirect.target.text for redirect in script.redirects]
    if steps != [command.words for command in plain if command.words]:
        return "two parsers disagree on it"
    if sorted(targets) != sorted(target for command in plain for target in command.targets):
        return "two parsers disagree on its redirections"
    return ""


def _odd_character(root: Node, command: str) -> str:
    """A character that some take for a blank or for nothing; inside quotes only control characters count."""
    if command.isascii() and command.replace("\n", "").replace("\t", "").isprintable():
        return ""
    outside = _mask_quoted_text(root, command)
    for character in command:
        if unicodedata.category(character) == "Cc" and character not in "\n\t":
            return f"it contains the control character U+{ord(character):04X}"
    for character in outside:
        if unicodedata.category(character)[0] in "ZC" and character not in " \n\t":
            return f"it contains the invisible character U+{ord(character):04X} outside of quotes"
    return ""


def _mask_quoted_text(root: Node, command: str) -> str:
    source = bytearray(command.encode("utf-8"))
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in ("string", "raw_string", "heredoc_body", "comment"):
            source[node.start_byte : node.end_byte] = b"q" * (node.end_byte - node.start_byte)
        else:
            waiting.extend(node.children)
    return source.decode("utf-8", "replace")


class _Reader:
    """Gathers what the tree holds."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._steps: list[SimpleCommand] = []
        self._redirects: list[Redirect] = []
        self._shapes: set[Shape] = set()
        self._problem = ""
        self._broken = False
        self._spans: list[tuple[int, int]] = []

    def script(self) -> Script:
        starts = {start for start, _ in self._spans}
        if any(end in starts for _, end in self._spans):
            self.complain("two words are adjacent without a separator")
        steps, redirects = tuple(self._steps), tuple(self._redirects)
        return Script(steps, redirects, frozenset(self._shapes), self._problem, self._broken)

    def complain(self, problem: str, *, broken: bool = False) -> None:
        self._problem = self._problem or problem
        self._broken = self._broken or broken

    def read(self, node: Node) -> None:
        if node.type == "command":
            self._command(node)
        elif node.type in _GROUPS or (node.type == "compound_statement" and node.children[0].type == "{"):
            self._group(node, _JOINTS)
        elif node.type in _CONTROL:
            self._shapes.add(Shape.CONTROL)
            if node.type.startswith("case"):
                self.complain("it contains a `case`")
            if node.type == "for_statement":
                self._loop_variable(node)
            self._group(node, _CONTROL_JOINTS | {"variable_name"})
        elif node.type == "test_command" and (plain := _PLAIN_TEST.fullmatch(self._text(node))):
            words = tuple(Word(text, text.strip("'\"")) for text in plain.groups() if text)
            self._steps.append(SimpleCommand(self._text(node), words))
        elif node.type in ("file_redirect", "heredoc_redirect", "herestring_redirect"):
            self._redirect(node)
        elif node.type == "variable_assignment":
            self._shapes.add(Shape.ASSIGNMENT)
            self._steps.append(SimpleCommand(self._text(node), (), (self._assignment(node),)))
        elif node.type in _WORDS:
            self._word(node)
        else:
            self.complain(f"it contains unsupported shell syntax (`{self._text(node)[:40]}`)")
            for child in node.named_children:
                self.read(child)

    def _loop_variable(self, node: Node) -> None:
        """A loop assigns to its variable as `NAME=value` does; what the value is made of is read with the words."""
        name = node.child_by_field_name("variable")
        if name is None:
            self.complain("it contains a loop whose variable cannot be determined")
            return
        self._shapes.add(Shape.ASSIGNMENT)
        text = self._text(name)
        self._steps.append(SimpleCommand(f"for {text}", (), (Assignment(text, Word("", ""), is_loop=True),)))

    def _group(self, node: Node, joints: frozenset[str]) -> None:
        for child in node.children:
            if child.type == "&":
                self._shapes.add(Shape.BACKGROUND)
            elif child.type not in joints:
                self.read(child)

    def _command(self, node: Node) -> None:
        words: list[Word] = []
        assignments: list[Assignment] = []
        place = len(self._steps)
        ends = node.start_byte
        for child in node.children:
            if child.type == "variable_assignment":
                self._shapes.add(Shape.ASSIGNMENT)
                assignments.append(self._assignment(child))
            elif child.type == "command_name":
                words.append(self._word(child.children[0]))
            elif child.type.endswith("_redirect"):
                self._redirect(child)
                continue
            elif child.type in _WORDS:
                words.append(self._word(child))
            else:
                self.complain(f"it contains `{self._text(child)[:40]}` where a word should be")
                self.read(child)
            ends = child.end_byte
        written = self._source[node.start_byte : ends].decode("utf-8", "replace")
        # The command that uses a substitution stands before what the substitution runs.
        self._steps.insert(place, SimpleCommand(written, tuple(words), tuple(assignments)))

    def _assignment(self, node: Node) -> Assignment:
        name = self._text(node).partition("=")[0]
        value = node.child_by_field_name("value")
        if value is not None and value.type not in _WORDS:
            self.complain("it assigns to an array")
        word = Word("", "") if value is None else self._word(value)
        if not name.isidentifier():
            self.complain(f"it assigns to `{name[:40]}`")
        return Assignment(name, word)

    def _redirect(self, node: Node) -> None:
        if node.type == "herestring_redirect":
            for child in node.named_children:
                self._word(child)
            return
        if node.type == "heredoc_redirect":
            self._heredoc(node)
            return
        targets = node.children_by_field_name("destination")
        operator = next((child.type for child in node.children if not child.is_named), "")
        if operator not in ("<", ">", ">>", ">|", "&>", "&>>", ">&", "<&", ">&-", "<&-"):
            self.complain(f"it redirects with `{operator}`")
        if len(targets) > 1:
            self.complain("words follow its redirection")
        for target in targets:
            word = self._word(target)
            if operator in (">&", "<&") and re.fullmatch(r"\d+-?|-", word.text):
                continue
            if operator in (">&", "<&") and not (word.value or "").replace("/", "").isalnum():
                # The shell takes such a word apart twice.
                self.complain(f"it redirects to `{word.text[:40]}` with `{operator}`")
            self._redirects.append(Redirect(word, writes=not operator.startswith("<")))

    def _heredoc(self, node: Node) -> None:
        self._shapes.add(Shape.HEREDOC)
        start = next((self._text(child) for child in node.children if child.type == "heredoc_start"), "")
        delimiter = _PLAIN_DELIMITER.fullmatch(start)
        body = "".join(self._text(child) for child in node.children if child.type == "heredoc_body")
        end = "".join(self._text(child).strip() for child in node.children if child.type == "heredoc_end")
        if delimiter is None or end != delimiter[2] or any(line.strip() == end for line in body.split("\n")):
            self.complain("it contains a here-document whose end is ambiguous")
        elif not delimiter[1] and ("`" in body or "$(" in body):
            self.complain("it runs a command inside a here-document")
        for child in node.named_children:
            if child.type == "heredoc_body":
                if delimiter is None or not delimiter[1]:
                    self._parts(child)
            elif child.type not in ("heredoc_start", "heredoc_end", "heredoc_content", "file_descriptor"):
                self.read(child)

    def _parts(self, node: Node) -> bool:
        """Read what expands below a node, and say whether anything does."""
        expands = False
        for child in node.named_children:
            if child.type in _EXPANSIONS:
                if self._text(child) != "$?":
                    self._expansion(child)
                    expands = True
            elif child.type not in ("word", "raw_string", "string_content", "number", "heredoc_content"):
                expands = self._parts(child) or expands
        return expands

    def _expansion(self, node: Node) -> None:
        self._shapes.add(_EXPANSIONS[node.type])
        if node.type in ("command_substitution", "process_substitution"):
            self._group(node, _JOINTS | {"$(", "`", "<(", ">(", "))"})
        else:
            self._parts(node)
            if not _PLAIN_EXPANSION.fullmatch(self._text(node)):
                self.complain("it contains an unsupported variable expansion")

    def _word(self, node: Node) -> Word:
        text = self._text(node)
        self._spans.append((node.start_byte, node.end_byte))
        if text in ("$?", '"$?"'):
            return Word(text, "0")
        if node.type in _EXPANSIONS:
            self._expansion(node)
            return Word(text, None)
        parts = [node] if node.type != "concatenation" else node.children
        values = [self._part(part) for part in parts]
        bare = "".join(self._text(part) if part.type in ("word", "number") else "q" for part in parts)
        bare = re.sub(r"\\.", "q", bare, flags=re.DOTALL)
        if re.search(r"\s", bare):
            self.complain(f"`{text[:40]}` in it is not one word")
        dynamic = any(value is None for value in values)
        if (
            node.type == "brace_expression"
            or any(part.type == "brace_expression" for part in parts)
            or _BRACES.search(bare)
        ):
            self._shapes.add(Shape.BRACES)
            dynamic = True
        if text.startswith("~") and not re.match(r"~(/|$)", bare):
            dynamic = True
        value = None if dynamic else "".join(value or "" for value in values)
        return Word(text, value, has_glob=bool(_GLOB.search(bare)), has_tilde=text.startswith("~"))

    def _part(self, node: Node) -> str | None:
        """The value of one piece of a word; None when the shell must work it out."""
        text = self._text(node)
        match node.type:
            case "word" | "number" | "{" | "}" | "[" | "]":
                return re.sub(r"\\(.)", lambda match: "" if match[1] == "\n" else match[1], text, flags=re.DOTALL)
            case "raw_string":
                return text[1:-1]
            case "string" if not self._parts(node):
                return re.sub(r'\\([$`"\\\n])', lambda match: match[1].strip("\n"), text.removeprefix("$")[1:-1])
            case "ansi_c_string" if "\\" not in _ANSI_ESCAPE.sub("", text):
                return _ANSI_ESCAPE.sub(lambda match: match[0].encode().decode("unicode_escape"), text[2:-1])
            case kind if kind in _EXPANSIONS:
                self._expansion(node)
                return None
            case "string" | "ansi_c_string" | "translated_string" | "brace_expression":
                return None
            case _:
                self.complain(f"it contains `{text[:40]}` inside a word")
                return None

    def _text(self, node: Node) -> str:
        return _text(node, self._source)


def _text(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")
