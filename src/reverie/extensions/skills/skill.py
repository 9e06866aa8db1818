"""A skill or command as a value, from its front matter. The body is read when it is invoked."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from reverie.extensions.json_file import Unread
from reverie.extensions.markdown_file import FrontMatterFile, effort_of, hooks_block, read_page
from reverie.files import read_small
from reverie.files.trust import TrustKind, TrustPart
from reverie.settings import Declaration
from reverie.values import value

MAX_FILE_BYTES = 1024 * 1024
MAX_NAME_CHARS = 64


@value
class Skill:
    """What the user taught by hand."""

    name: str
    """How it is invoked, without the slash; of a plugin `PLUGIN:NAME`."""
    path: Path
    """Its file."""
    source: str
    """`managed`, `user`, `project` or `plugin`."""
    description: str = ""
    when_to_use: str = ""
    is_command: bool = False
    """The older form: one file, without a folder of its own."""
    for_model: bool = True
    """The model may invoke it."""
    for_user: bool = True
    """It is among the slash commands."""
    argument_hint: str = ""
    arguments: tuple[str, ...] = ()
    """Names of the arguments, in order."""
    allowed_tools: tuple[str, ...] = ()
    """Permission rules that hold while it is at work."""
    disallowed_tools: tuple[str, ...] = ()
    model: str = ""
    effort: str = ""
    forks: bool = False
    """It runs in an agent of its own."""
    agent: str = ""
    """Which kind of agent."""
    in_background: bool = False
    paths: tuple[str, ...] = ()
    """Patterns; it is announced only once a matching file is in play."""
    hooks: Declaration | None = None
    """Hooks that hold while it is at work."""
    plugin_root: Path | None = None
    digest: str = ""
    """SHA-256 of its file."""

    @property
    def root(self) -> Path:
        """The folder that its own files are relative to."""
        return self.path.parent

    @property
    def committed(self) -> bool:
        """It came with the project, so somebody else may have written it."""
        return self.source == "project"

    @property
    def grants(self) -> TrustPart | None:
        """What the user must agree to before its permission rules count; None when there is nothing to ask."""
        if not self.committed or not self.allowed_tools:
            return None
        rules = json.dumps(self.allowed_tools, ensure_ascii=False)
        # What the rules allow is what the text makes of them, so another text is another question.
        return TrustPart(TrustKind.SKILL, str(self.path), f"{self.name}: {rules}\nsha256:{self.digest}")


def read_content(path: Path) -> str | Unread:
    """The file of a skill."""
    content = read_small(path, limit_bytes=MAX_FILE_BYTES)
    if content is None:
        return Unread(f"{path}: cannot be read; it must be a regular file of at most {MAX_FILE_BYTES:,} bytes")
    return content.decode("utf-8", "replace")


def digest_of(content: str) -> str:
    """By what a text is recognised."""
    return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def read_skill(
    path: Path, *, source: str, is_command: bool = False, plugin: str = "", plugin_root: Path | None = None
) -> tuple[Skill | None, str]:
    """The skill in a file, and a sentence about what is wrong with it."""
    content = read_content(path)
    if isinstance(content, Unread):
        return None, content.sentence
    page = read_page(content)
    name = path.stem if is_command else page.text("name") or path.parent.name
    if not _is_name(name):
        return None, f"{path}: {name!r} is no name; it has up to {MAX_NAME_CHARS} characters and no blanks or slashes"
    problem = f"{path}: {page.problem}" if page.problem else ""
    skill = _skill(page, f"{plugin}:{name}" if plugin else name, path, source, is_command, plugin_root)
    return replace(skill, digest=digest_of(content)), problem


def _skill(
    page: FrontMatterFile, name: str, path: Path, source: str, is_command: bool, plugin_root: Path | None
) -> Skill:
    return Skill(
        name,
        path,
        source,
        description=page.text("description") or _first_paragraph(page.body),
        when_to_use=page.text("when_to_use", "when-to-use"),
        is_command=is_command,
        for_model=not page.flag("disable-model-invocation", default=False),
        for_user=page.flag("user-invocable", default=True),
        argument_hint=_hint(page),
        arguments=page.texts("arguments"),
        allowed_tools=page.texts("allowed-tools"),
        disallowed_tools=page.texts("disallowed-tools"),
        model="" if page.text("model") == "inherit" else page.text("model"),
        effort=effort_of(page),
        forks=page.text("context").lower() == "fork",
        agent=page.text("agent"),
        in_background=page.flag("background", default=False),
        paths=page.texts("paths"),
        hooks=_hooks(page, path, source),
        plugin_root=plugin_root,
    )


def _is_name(name: str) -> bool:
    return 0 < len(name) <= MAX_NAME_CHARS and name.isprintable() and not set(name) & set(" /\\")


def _first_paragraph(body: str) -> str:
    """The first lines that are no heading, for a file without a description."""
    for block in body.split("\n\n"):
        lines = [line.strip() for line in block.strip().splitlines() if line.strip() and not line.startswith("#")]
        if lines:
            return " ".join(lines)
    return ""


def _hint(page: FrontMatterFile) -> str:
    """`[issue]` is a list to YAML and a hint to people."""
    value = page.fields.get("argument-hint")
    return " ".join(f"[{item}]" for item in value) if isinstance(value, list) else page.text("argument-hint")


def _hooks(page: FrontMatterFile, path: Path, source: str) -> Declaration | None:
    text = hooks_block(page)
    return Declaration(source="skill", place=str(path), committed=source == "project", text=text) if text else None
