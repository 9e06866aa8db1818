"""Measure and print: `python -m bench.secrets [gitleaks.toml] [FOLDER …]`."""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from bench.figures import BOOTSTRAP, Figure, Result, Row, Table, add_options, mean, report, shared_data
from bench.secrets.vectors import Kind, read_kinds, secrets_of
from reverie.files.secret_scan import redact, scan

SAMPLES = 2
ALARM_FOLDER = Path(__file__).resolve().parents[2] / "docs"
"""Texts without secrets that are always here."""
Findings = Callable[[Sequence[str]], list[list[str]]]
"""Texts → the secrets that a scanner names in each."""
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


def main(arguments: Sequence[str]) -> int:
    parser = add_options(argparse.ArgumentParser(prog="python -m bench.secrets", description=__doc__))
    parser.add_argument("named", nargs="*", type=Path, help="a gitleaks.toml, and folders without secrets")
    options = parser.parse_args(arguments)
    return report(measure_secrets(options.named, quick=options.quick), options)


def measure_secrets(named: Sequence[Path], *, quick: bool) -> Result:
    """Ours and other scanners on the same texts; a quick run makes one secret of every rule, and fewer texts of it."""
    result = Result()
    configuration = next((path for path in named if path.is_file()), None) or _rules_of_engine()
    if configuration is None:
        result.left_out.append(
            "everything: name a gitleaks.toml, or install the extra `secrets`, whose engine carries its rules"
        )
        return result
    kinds = read_kinds(configuration)
    scanners = _scanners(result)
    for name, title, templates in _carriers(result):
        texts = list(_texts(kinds, templates, quick=quick))
        rows = [_row("reverie", texts, [redact(text) for _, _, text in texts], is_ours=True)]
        for label, find in scanners.items():
            found = find([text for _, _, text in texts])
            cut = [_without(text, secrets) for (_, _, text), secrets in zip(texts, found, strict=True)]
            rows.append(_row(label, texts, cut))
        about = (
            f"{len(texts):,} texts, secrets of {len(kinds)} rules made at run time. Found: nothing of the secret is "
            "left. Rules: those whose secrets are found in nine of ten texts or more."
        )
        interval = f"{BOOTSTRAP}, whole rules drawn"
        result.tables.append(Table(name, title, about, interval, rows, picture="found"))
    result.tables.append(_measure_alarms(named, scanners, result, quick=quick))
    return result


def _carriers(result: Result) -> Iterator[tuple[str, str, Sequence[str]]]:
    yield "prose", "Sentences of ten languages", PROSE
    file = shared_data() / "secrets" / "sample_templates.json"
    if file.is_file():
        yield "carriers", "Lines of code and configuration", json.loads(file.read_text(encoding="utf-8"))["templates"]
    else:
        result.left_out.append("lines of code and configuration: the sample data is not here (`REVERIE_SHARED_DATA`)")


def _rules_of_engine() -> Path | None:
    spec = importlib.util.find_spec("betterleaks")
    if spec is None or spec.origin is None:
        return None
    return next(path for path in Path(spec.origin).parent.glob("libbetterleaks.*") if path.suffix != ".h")


def _texts(kinds: Iterable[Kind], templates: Sequence[str], *, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Rule, secret and text."""
    for number, kind in enumerate(kinds):
        for secret in secrets_of(kind, 1 if quick else SAMPLES, random.Random(kind.rule)):
            for template in templates[number % 4 :: 4] if quick else templates:
                text = template.replace("{i}", kind.service).replace("{I}", kind.service.upper())
                yield kind.rule, secret, text.replace("{s}", secret)


def _row(label: str, texts: Sequence[tuple[str, str, str]], left: Sequence[str], *, is_ours: bool = False) -> Row:
    values = [(rule, float(secret not in text)) for (rule, secret, _), text in zip(texts, left, strict=True)]
    by_rule: dict[str, list[float]] = defaultdict(list)
    for rule, value in values:
        by_rule[rule].append(value)
    missed = Counter({rule: len(each) - int(sum(each)) for rule, each in by_rule.items()})
    if is_ours:
        print("most often missed: " + ", ".join(rule for rule, _ in missed.most_common(8)), flush=True)
    good = sum(sum(each) >= 0.9 * len(each) for each in by_rule.values())
    return Row(label, {"found": mean(values), "rules": Figure(good), "of": Figure(len(by_rule))}, is_ours)


def _without(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, "*") if secret else text
    return text


def _scanners(result: Result) -> dict[str, Findings]:
    found: dict[str, Findings] = {}
    if importlib.util.find_spec("betterleaks") is None:
        result.left_out.append("betterleaks: it is not installed (the extra `secrets`), and ours runs without it")
    else:
        found["betterleaks alone"] = _find_by_betterleaks
    if importlib.util.find_spec("detect_secrets") is None:
        result.left_out.append("detect-secrets: it is not installed")
    else:
        found["detect-secrets"] = _find_by_detect_secrets
    return found


def _find_by_betterleaks(texts: Sequence[str]) -> list[list[str]]:
    import betterleaks

    return [[finding.match.value for finding in betterleaks.scan_string(text)] for text in texts]


def _find_by_detect_secrets(texts: Sequence[str]) -> list[list[str]]:
    """All of its detectors and filters as they are by default, a file for each text."""
    from detect_secrets.core.secrets_collection import SecretsCollection
    from detect_secrets.settings import default_settings

    found: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder, default_settings():
        for text in texts:
            (Path(folder) / "text.txt").write_text(text, encoding="utf-8")
            secrets = SecretsCollection(folder)
            secrets.scan_file("text.txt")
            found.append([secret.secret_value or "" for _, secret in secrets])
    return found


def _measure_alarms(named: Sequence[Path], scanners: dict[str, Findings], result: Result, *, quick: bool) -> Table:
    folders = [ALARM_FOLDER, *(path for path in named if path.is_dir())]
    if shared_data().is_dir():
        folders.append(shared_data())
    else:
        result.left_out.append("false alarms in the sample data, which is not here")
    texts = [text for folder in folders for text in _read_texts(folder)][:: 6 if quick else 1]
    size = sum(map(len, texts))
    ways: dict[str, Findings] = {"reverie": lambda some: [[each.rule for each in scan(text)] for text in some]}
    rows = []
    for label, find in {**ways, **scanners}.items():
        start = time.process_time()
        alarms = sum(map(len, find(texts)))
        speed = size / max(0.001, time.process_time() - start) / 1e6
        figures = {"alarms per MB": Figure(alarms / size * 1e6), "MB per second": Figure(speed, unit="MB/s")}
        rows.append(Row(label, figures, is_ours=label == "reverie"))
    about = (
        f"{size / 1e6:.1f} MB of documents and recorded sessions in which no secret is known to stand. "
        "Speed is by processor time."
    )
    return Table("alarms", "False alarms", about, "none; all texts are counted", rows)


def _read_texts(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        try:
            if path.is_file():
                yield path.read_text(encoding="utf-8")
        except (UnicodeDecodeError, OSError):
            continue


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
