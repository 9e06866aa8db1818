"""Print the table: `python -m bench.secrets [gitleaks.toml] [FOLDER …]`."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from bench.secrets.vectors import Kind, read_kinds, secrets_of
from reverie.files.secret_scan import redact, scan

SAMPLES = 2
PROSE = (
    "the {i} token is {s}",
    "use {s} as the {i} token",
    "use token {s} to log in to {i}",
    "Our {i} API key is `{s}`, do not share it.",
    "my {i} key: {s}",
    "the key for {i} is {s}, rotate it in May",
    "log in to {i} with {s}",
    "For {i} the credentials are {s}.",
    "remember that the secret of the {i} account is {s}",
    "the password for the {i} staging db is {s}",
    "I put the {i} access token ({s}) into the vault",
    "authenticate against {i} using {s} please",
    "{i} changed our api key to {s} yesterday",
    "der {i}-Schlüssel ist {s}",
    "das Passwort für {i} lautet {s}",
    "le jeton {i} est {s}",
    "la clé API de {i} est {s}, garde-la",
    "la contraseña de {i} es {s}",
    "a chave de API do {i} é {s}",
    "il token di {i} è {s}",
    "токен {i}: {s}",
    "ключ от {i} — {s}",
    "{i} 的密钥是{s}",
    "{i}のトークンは{s}です",
    "{i} API 키는 {s} 입니다",
)


def main() -> None:
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    data = Path(os.environ.get("REVERIE_SHARED_DATA", beside))
    if not data.is_dir():
        sys.exit(f"no sample data at {data}: set REVERIE_SHARED_DATA")
    named = [Path(argument) for argument in sys.argv[1:]]
    configuration = next((path for path in named if path.is_file()), None)
    kinds = read_kinds(configuration or _rules_of_engine())
    carriers = json.loads((data / "secrets" / "sample_templates.json").read_text(encoding="utf-8"))["templates"]
    has_engine = importlib.util.find_spec("betterleaks") is not None
    print(f"{len(kinds)} rules, the `secrets` extra is {'' if has_engine else 'not '}installed")
    _print_found("carriers", kinds, carriers)
    _print_found("prose", kinds, PROSE)
    for folder in [data, *(path for path in named if path.is_dir())]:
        _print_false_alarms(folder)


def _rules_of_engine() -> Path:
    spec = importlib.util.find_spec("betterleaks")
    if spec is None or spec.origin is None:
        sys.exit("name a gitleaks.toml, or install the extra `secrets`, whose engine carries its rules")
    return next(path for path in Path(spec.origin).parent.glob("libbetterleaks.*") if path.suffix != ".h")


def _print_found(name: str, kinds: list[Kind], templates: Iterable[str]) -> None:
    tried: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for kind in kinds:
        for secret in secrets_of(kind, SAMPLES, random.Random(kind.rule)):
            for template in templates:
                text = template.replace("{i}", kind.service).replace("{I}", kind.service.upper()).replace("{s}", secret)
                tried[kind.rule] += 1
                missed[kind.rule] += secret in redact(text)
    share = 1 - missed.total() / tried.total()
    found = sum(missed[rule] * 10 <= count for rule, count in tried.items())
    print(f"{name}: {share:.1%} of {tried.total()} found; {found} of {len(tried)} rules in nine of ten texts or more")
    print("  most often missed: " + ", ".join(f"{rule} {count}/{tried[rule]}" for rule, count in missed.most_common(8)))


def _print_false_alarms(folder: Path) -> None:
    alarms: Counter[str] = Counter()
    size, spent = 0, 0.0
    for path in sorted(folder.rglob("*")):
        try:
            text = path.read_text(encoding="utf-8") if path.is_file() else ""
        except (UnicodeDecodeError, OSError):
            continue
        size += len(text)
        start = time.process_time()
        alarms.update(f"{path.name} {finding.rule}" for finding in scan(text))
        spent += time.process_time() - start
    print(f"{folder.name}: {alarms.total() / size * 1e6:.2f} alarms per MB in {size / 1e6:.1f} MB")
    print(f"  {size / spent / 1e6:.1f} MB/s of processor time; most: {', '.join(dict(alarms.most_common(5)))}")


if __name__ == "__main__":
    main()
