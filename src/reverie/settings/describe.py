"""The description of each setting and its value as text, for `reverie settings` and the reference page.

The sentences are read from this package's own source, so that they stand where a reader of the code looks for them.

Possible secrets are left out of values.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache

from reverie.settings.environment import OTHER_NAMES
from reverie.settings.schema import Form, Key, KeyPath, describe_expected, keys
from reverie.settings.tree import Declaration, Guard, Settings


def meaning(key: Key) -> str:
    """The sentence under the field of a key; empty where Python runs without the code's text."""
    return _sentences(key.owner.__module__).get((key.owner.__name__, key.field), "")


def as_markdown() -> str:
    """The reference page of all settings."""
    return "\n".join(_page()) + "\n"


@cache
def _sentences(module: str) -> Mapping[tuple[str, str], str]:
    try:
        source = inspect.getsource(sys.modules[module])
    except OSError:
        return {}
    sentences: dict[tuple[str, str], str] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            sentences.update({(node.name, field): sentence for field, sentence in _fields(node)})
    return sentences


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, after in zip(node.body, node.body[1:], strict=False):
        match field, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(sentence))):
                yield name, inspect.cleandoc(sentence)


def _page() -> Iterator[str]:
    yield _OPENING
    yield from ("## Other variable names", "", "| variable | sets |", "|---|---|")
    for name, sets in OTHER_NAMES.items():
        targets = {".".join(path): text for path, text in sets("1").items()}
        yield f"| `{name}` | {', '.join(_target(key, text) for key, text in targets.items())} |"
    groups: dict[KeyPath, list[Key]] = {}
    for key in keys().values():
        groups.setdefault(key.path[:-1], []).append(key)
    for group in groups.values():
        yield ""
        yield from _section(group)


def _target(key: str, text: str) -> str:
    return f"`{key}`" if text == "1" else f"`{key} = {text}`"


def _section(group: list[Key]) -> Iterator[str]:
    owner = group[0].owner
    title = ".".join(group[0].path[:-1])
    yield f"## `{title}`" if title else "## Top level"
    yield ""
    if owner is not Settings:
        yield from (inspect.cleandoc(owner.__doc__ or ""), "")
    yield from ("| key | takes | default | meaning |", "|---|---|---|---|")
    for key in group:
        guard = "" if key.guard is Guard.ANY else f" *{key.guard.value.capitalize()}.*"
        variable = f"<br>`{key.variable}`" if key.variable else ""
        yield f"| `{key.name}`{variable} | {describe_expected(key)} | {_default(key)} | {meaning(key)}{guard} |"


def _default(key: Key) -> str:
    if key.form is Form.DECLARATION or key.default is None:
        return "–"
    return f"`{as_text(key.default)}`"


_OPENING = """\
# Settings

This page is what `reverie settings --markdown` prints; a test compares it with the code.

Settings are read once at startup from these places; a higher row overrides a lower one:

| place | source |
|---|---|
| `/etc/reverie/settings.toml`, then `settings.d/*.toml` (macOS: in `/Library/Application Support/Reverie`) | managed |
| `--settings FILE` or `--settings JSON`, then `--set KEY=VALUE`, `--bare` | flag |
| `REVERIE_…` variables | environment |
| `<repo>/.reverie/settings.local.toml`, over `<repo>/.claude/settings.local.json` | local |
| `<repo>/.reverie/settings.toml`, over `<repo>/.claude/settings.json` | project |
| `~/.reverie/settings.toml`, over `~/.claude/settings.json` | user |
| this page | default |

Lists from several places are concatenated, lowest first; a default list is used only if no place sets one.
`hooks` and `agents` of all places are kept, each with its origin.
The host agent's `managed-settings.json` and `managed-settings.d/*.json` rank directly below our managed files.
These keys are read from the `.claude` files and from those managed files:
`hooks`, `agents`, `permissions`, `autoMemoryEnabled`,
`autoMemoryDirectory`, `autoCompactEnabled`, `autoCompactWindow`, `cleanupPeriodDays`, `claudeMd`,
`claudeMdExcludes`, `disableAllHooks`, `allowManagedHooksOnly`, `allowedHttpHookUrls`, `httpHookAllowedEnvVars`,
`language`, `outputStyle`, `statusLine.command`.

The project file may be written by somebody else, and so may the local file, for example when it comes from an archive.
Some keys are therefore not read from these files, or only after you accepted the value (`reverie trust`); the tables
say which. A local file that is not tracked by git may set every key; guarded values need your acceptance.
`reverie settings` shows every value and its origin.

In the tables W is the model's window, E the effective window (W less the output reserve), and T the threshold of
automatic compaction.

To use your own server, add two lines; a third makes it the default model:

```toml
model.default = "local"
[models.local]
base_url = "http://127.0.0.1:8080/v1"
```
"""


MASK = "***"
_SECRET_NAME = re.compile(r"key|token|secret|password|passwd|credential|authorization|cookie", re.IGNORECASE)
_SECRET_TABLES = frozenset({"headers", "env"})
_USER_INFO = re.compile(r"(?<=://)[^/@\s]+@")
_QUERY_VALUE = re.compile(r"([?&][^=&#\s]*(?:key|token|secret|password|sig)[^=&#\s]*=)[^&#\s]+", re.IGNORECASE)


def as_json(value: object) -> object:
    """A value of the tree as JSON may hold it."""
    if isinstance(value, str):
        return _mask_text(value)
    if isinstance(value, Declaration):
        declared = _mask_secrets(json.loads(value.text))
        return {"source": value.source, "place": value.place, "committed": value.committed, "value": declared}
    if isinstance(value, tuple):
        return [as_json(item) for item in value]
    return value


def as_text(value: object) -> str:
    """A value of the tree as one writes it in a settings file."""
    if value is None:
        return "not set"
    if isinstance(value, Declaration):
        return f"{', '.join(json.loads(value.text)) or 'nothing'} ({value.place})"
    if isinstance(value, tuple) and value and isinstance(value[0], Declaration):
        return "; ".join(as_text(item) for item in value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:_}" if value >= 10_000 else str(value)
    return json.dumps(as_json(value), ensure_ascii=False)


def _mask_secrets(value: object, *, secret: bool = False) -> object:
    if isinstance(value, Mapping):
        return {
            name: _mask_secrets(inner, secret=secret or name in _SECRET_TABLES or bool(_SECRET_NAME.search(name)))
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_mask_secrets(item, secret=secret) for item in value]
    if secret:
        return MASK
    return _mask_text(value) if isinstance(value, str) else value


def _mask_text(text: str) -> str:
    return _QUERY_VALUE.sub(rf"\1{MASK}", _USER_INFO.sub(f"{MASK}@", text))
