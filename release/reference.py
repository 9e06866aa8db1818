"""Writes the reference pages below `docs/reference` from the code: commands, settings, Python.

`python -m release.reference` writes them; `tests/test_reference.py` fails while a committed page differs.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click

import reverie
from reverie.apps.cli.program import COMMANDS, cli
from reverie.settings.describe import as_markdown as settings_page

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
FOLDER = ROOT / "docs" / "reference"
_WRITTEN = "This page is written by `python -m release.reference`; a test compares it with the code."

RESULTS = {
    "What `Memory` returns": (
        ("reverie.memory.store.topic_store", "Saved"),
        ("reverie.memory.search.document", "Reasons"),
        ("reverie.memory.topics.anchors", "AnchorCheck"),
        ("reverie.memory.topics.value", "Source"),
        ("reverie.memory.topics.situations", "When"),
        ("reverie.memory.store.change", "Commit"),
        ("reverie.memory.store.timeline", "UndoResult"),
        ("reverie.memory.store.timeline", "Provenance"),
        ("reverie.memory.store.erase", "ErasureResult"),
        ("reverie.memory.search.passages.past_search", "PastHit"),
        ("reverie.memory.extraction.learn", "Learned"),
        ("reverie.memory.dream.dreams", "Dreamt"),
        ("reverie.memory.conversation", "ConversationMemory"),
    ),
    "What `Window` returns": (
        ("reverie.context.window", "PreparedRequest"),
        ("reverie.context.stage", "Reduction"),
        ("reverie.context.receipt", "Receipt"),
        ("reverie.context.cache_breaks", "Break"),
    ),
    "What a session asks": (
        ("reverie.permissions.approval", "Question"),
        ("reverie.permissions.approval", "Approval"),
    ),
}
"""Values that the public classes return; they are imported from the module named with each."""


def write_cli_page() -> str:
    """Every command with its help, arguments and options."""
    return "\n".join(_cli_lines()) + "\n"


def write_python_page() -> str:
    """The public names with their signatures and docstrings, read from the source without importing it."""
    return "\n".join(_python_lines()) + "\n"


PAGES = {"cli.md": write_cli_page, "settings.md": settings_page, "python.md": write_python_page}


def _cli_lines() -> Iterator[str]:
    yield from ("# Commands", "", _WRITTEN, "")
    yield "Exit codes: 0 success, 1 failure, 2 usage error, 130 interrupted. Messages for people go to standard error."
    yield from ("", "## `reverie`", "")
    top = click.Context(cli, info_name="reverie")
    yield from _command_lines(cli, top)
    for group in dict.fromkeys(listed.group for listed in COMMANDS):
        yield from (f"## {group}", "")
        for listed in (listed for listed in COMMANDS if listed.group == group):
            command = cli.get_command(top, listed.name)
            assert command is not None
            yield from (f"### `reverie {listed.name}`", "")
            yield from _command_lines(command, click.Context(command, info_name=listed.name, parent=top))


def _command_lines(command: click.Command, context: click.Context) -> Iterator[str]:
    yield from ("```text", command.get_usage(context).removeprefix("Usage: "), "```", "")
    yield from _help_lines(inspect.cleandoc(command.help or ""))
    options = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    if options:
        yield from ("| option | meaning |", "| --- | --- |")
        yield from (_option_row(option, context) for option in options)
        yield ""
    if isinstance(command, click.Group) and command is not cli:
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from (f"#### `{context.command_path} {name}`", "")
            yield from _command_lines(inner, click.Context(inner, info_name=name, parent=context))


def _help_lines(text: str) -> Iterator[str]:
    """The paragraphs of a help text; those that click must not wrap become blocks."""
    for paragraph in text.split("\n\n"):
        lines = paragraph.split("\n")
        is_block = lines[0] == "\b"
        lines = lines[1:] if is_block else lines
        if is_block and lines[0].endswith(":"):
            yield from (lines[0], "", "```text", *inspect.cleandoc("\n".join(["", *lines[1:]])).split("\n"), "```", "")
        elif is_block and len(lines) > 1:
            yield from ("```text", *lines, "```", "")
        else:
            yield from (*lines, "")


def _option_row(option: click.Option, context: click.Context) -> str:
    names, meaning = option.get_help_record(context) or ("", "")
    return f"| `{_cell(names)}` | {_cell(re.sub(r'<(?=[A-Za-z])', '&lt;', meaning))} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _python_lines() -> Iterator[str]:
    yield from ("# Python", "", _WRITTEN, "")
    yield "`import reverie` loads nothing; each name is loaded when it is first used. All of it is typed (`py.typed`)."
    yield ""
    for name in sorted(name for name in reverie.__all__ if not name.startswith("__")):
        _, node = _definition(reverie._PLACES[name], name)
        yield from (f"## `{name}`", "", f"`from reverie import {name}`", "")
        yield from _definition_lines(node, prefix="###")
    for title, values in RESULTS.items():
        yield from (f"## {title}", "")
        for place, name in values:
            module, node = _definition(place, name)
            yield from (f"### `{name}`", "", f"`from {module} import {name}`", "")
            yield from _definition_lines(node, prefix="####")
    yield from _events_lines()
    yield from _package_lines("Adapters", "reverie.adapters")
    yield from _package_lines("Fakes and contract tests", "reverie.testing")


def _events_lines() -> Iterator[str]:
    module = "reverie.session.events"
    yield from (
        "## What a session sends",
        "",
        f"`from {module} import …`; the last event of a turn is `TurnEnded`.",
        "",
    )
    yield from ("| event | fields | meaning |", "| --- | --- | --- |")
    for node in _tree(module).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            fields = ", ".join(f"`{name}`" for name, _, _ in _fields(node))
            yield f"| `{node.name}` | {fields} | {_cell(ast.get_docstring(node) or '')} |"
    yield ""


def _package_lines(title: str, package: str) -> Iterator[str]:
    yield from (f"## {title}", "", "| name | module | meaning |", "| --- | --- | --- |")
    for path in sorted((SOURCE / package.replace(".", "/")).glob("[a-z]*.py")):
        module = f"{package}.{path.stem}"
        for node in _tree(module).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.name[0] != "_":
                first = (ast.get_docstring(node) or "").partition("\n\n")[0]
                yield f"| `{node.name}` | `{module}` | {_cell(first)} |"
    yield ""


def _tree(module: str) -> ast.Module:
    path = SOURCE / module.replace(".", "/")
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8"))


def _definition(module: str, name: str) -> tuple[str, ast.ClassDef | ast.FunctionDef]:
    """Where a name is defined, also if a module only imports it."""
    for node in ast.walk(_tree(module)):
        match node:
            case ast.ClassDef(name=found) | ast.FunctionDef(name=found) if found == name:
                return module, node
            case ast.ImportFrom(module=str(origin)) if name in {alias.name for alias in node.names}:
                return _definition(origin, name)
    raise LookupError(f"{module} defines no {name}; correct RESULTS or the public names of `reverie`")


def _definition_lines(node: ast.ClassDef | ast.FunctionDef, *, prefix: str) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef):
        yield from ("```python", _signature(node), "```", "", _docstring(node), "")
        return
    yield from (_docstring(node), "")
    fields = list(_fields(node))
    if fields:
        yield from ("| field | type | meaning |", "| --- | --- | --- |")
        yield from (f"| `{name}` | `{_cell(kind)}` | {_cell(meaning)} |" for name, kind, meaning in fields)
        yield ""
    for member in node.body:
        if isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)) and _is_shown(member):
            yield from (f"{prefix} `{node.name}.{member.name}`", "") if member.name != "__init__" else ()
            yield from ("```python", _signature(member, node.name), "```", "")
            docstring = _docstring(member)
            yield from (docstring, "") if docstring else ()


def _docstring(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The docstring with the errors that may be raised as a list."""
    text, raises, errors = (ast.get_docstring(node) or "").partition("Raises:\n")
    items = re.sub(r"(?m)^    (\w+): ", r"- `\1`: ", errors)
    return text + (f"Raises:\n\n{re.sub(r'(?m)^ {8}', '  ', items)}" if raises else "")


def _is_shown(member: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    decorators = {ast.unparse(decorator) for decorator in member.decorator_list}
    return (member.name == "__init__" or member.name[0] != "_") and "overload" not in decorators


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str, str]]:
    """The fields of a value: name, type with default, and the sentence below it."""
    for statement, after in zip(node.body, [*node.body[1:], ast.Pass()], strict=True):
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name)) if name[0] != "_":
                kind = ast.unparse(statement.annotation)
                default = f" = {ast.unparse(statement.value)}" if statement.value is not None else ""
                match after:
                    case ast.Expr(value=ast.Constant(value=str(sentence))):
                        yield name, kind + default, inspect.cleandoc(sentence)
                    case _:
                        yield name, kind + default, ""


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str = "") -> str:
    """A function as it is called: no decorators but those that change the call, no `self`."""
    decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
    arguments = list(_split_arguments(node, owner))
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    if decorators & {"property", "cached_property", "functools.cached_property"}:
        return f"{node.name}:{returns.removeprefix(' ->')}"
    name = owner if node.name == "__init__" else node.name
    returns = "" if node.name == "__init__" else returns
    whole = f"{name}({', '.join(arguments)}){returns}"
    if len(whole) > 100 and arguments:
        whole = f"{name}(\n" + "".join(f"    {argument},\n" for argument in arguments) + f"){returns}"
    before = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    return before + ("classmethod " if "classmethod" in decorators else "") + whole


def _split_arguments(node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str) -> Iterator[str]:
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    pairs = list(zip(positional, defaults, strict=True))
    yield from (_argument(argument, default) for argument, default in pairs[1 if owner else 0 :])
    if arguments.vararg is not None:
        yield "*" + _argument(arguments.vararg, None)
    elif arguments.kwonlyargs:
        yield "*"
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _argument(argument, default)
    if arguments.kwarg is not None:
        yield "**" + _argument(arguments.kwarg, None)


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    kind = f": {ast.unparse(argument.annotation)}" if argument.annotation is not None else ""
    return argument.arg + kind + (f" = {ast.unparse(default)}" if default is not None else "")


def main() -> None:
    """Write all pages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, write_page in PAGES.items():
        (FOLDER / name).write_text(write_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
