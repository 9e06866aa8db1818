"""Compare a text with a golden file, and take out what differs from run to run."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
VOLATILE = r"_ms|^seconds$|^pid$|^age_days$|^size(_bytes)?$"
FIXED_BEFORE = "2026"
"""Fixtures use dates before this year; every later date comes from the clock of the machine."""

_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_PROVIDER_ID = re.compile(r"\b(toolu|msg|req)_[0-9A-Za-z]{8,}\b")
_WHOLE_HASH = re.compile(r"\b[0-9a-f]{40}\b")
_HASH = re.compile(r"\b[0-9a-f]{7,64}\b")
_BLOBS = re.compile(r"\bindex [0-9a-f]{7,}\.\.[0-9a-f]{7,}")
_WEEKDAY = re.compile(r"<date> \(\w+day\)")
_SYSTEM = re.compile(r"^- (Platform|System|Shell): .*$", re.MULTILINE)
_TIME = re.compile(r"\b(\d{4})-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?")
_DATE = re.compile(r"\b(\d{4})-\d\d-\d\d\b")
_SPENT = re.compile(r"[\d,.]+k? tokens, [\d.]+ s\b")
_ADDRESS = re.compile(r"\bhttp://127\.0\.0\.1:\d+")


@dataclass
class Normaliser:
    """Replaces times, ids, hashes and paths. Equal ids get equal names, so that references stay visible."""

    paths: Mapping[str, str] = field(default_factory=dict)
    """Texts of this run, such as its folder, and what stands for each."""
    volatile_keys: str = VOLATILE
    """Pattern of the fields of JSON objects whose numbers say how fast or large something was on this machine."""
    _names: dict[str, str] = field(default_factory=dict)

    def text(self, text: str) -> str:
        for path, name in sorted(self.paths.items(), key=lambda item: -len(item[0])):
            text = text.replace(path, name)
        text = _UUID.sub(lambda match: self._name("id", match[0]), text)
        text = _PROVIDER_ID.sub(lambda match: self._name(match[1], match[0]), text)
        text = _TIME.sub(lambda match: match[0] if match[1] < FIXED_BEFORE else "<time>", text)
        text = _DATE.sub(lambda match: match[0] if match[1] < FIXED_BEFORE else "<date>", text)
        text = _WEEKDAY.sub("<date> (<weekday>)", text)
        text = _BLOBS.sub("index <blobs>", text)
        for whole in _WHOLE_HASH.findall(text):
            self._name("hash", whole)
        text = _HASH.sub(self._hash, text)
        text = _SYSTEM.sub(r"- \1: <\1>", text)
        text = _SPENT.sub("<tokens> tokens, <seconds> s", text)
        return _ADDRESS.sub("<address>", text)

    def json(self, value: Any, key: str = "") -> Any:
        match value:
            case dict():
                return {self.text(name): self.json(inner, name) for name, inner in value.items()}
            case list():
                return [self.json(inner, key) for inner in value]
            case str():
                return self.text(value)
            case int() | float() if re.search(self.volatile_keys, key) and not isinstance(value, bool):
                return f"<{key}>"
            case float():
                return round(value, 3)
            case _:
                return value

    def _hash(self, match: re.Match[str]) -> str:
        """Seven digits may be a number, unless they begin a hash that is known; what is longer is an id."""
        is_known = any(_is_same(seen, match[0]) for seen in self._names)
        is_mixed = not match[0].isdigit() and not match[0].isalpha()
        return self._name("hash", match[0]) if is_known or is_mixed or len(match[0]) > 7 else match[0]

    def _name(self, kind: str, value: str) -> str:
        known = next((name for seen, name in self._names.items() if _is_same(seen, value)), None)
        if known is None:
            known = self._names[value] = f"<{kind}-{1 + sum(kind in name for name in self._names.values())}>"
        return known


def _is_same(seen: str, value: str) -> bool:
    """Whether two ids mean the same thing: one may be the beginning of the other."""
    return len(seen) >= 7 and len(value) >= 7 and (seen.startswith(value) or value.startswith(seen))


@dataclass(frozen=True)
class Golden:
    """The golden files; `--update-golden` rewrites them instead of comparing."""

    updates: bool

    def check(self, name: str, text: str) -> None:
        """Fail with a diff if the file `name` does not hold this text."""
        path = FOLDER / name
        text = text.rstrip("\n") + "\n"
        if self.updates:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        wanted = path.read_text(encoding="utf-8") if path.is_file() else ""
        if text != wanted:
            lines = difflib.unified_diff(wanted.splitlines(), text.splitlines(), f"golden/{name}", "now", lineterm="")
            diff = "\n".join(line[:400] for line in lines)
            raise AssertionError(f"{name} changed; if on purpose: pytest tests/golden --update-golden\n{diff}")

    def check_json(self, name: str, document: Any) -> None:
        self.check(name, json.dumps(document, indent=1, ensure_ascii=False))
