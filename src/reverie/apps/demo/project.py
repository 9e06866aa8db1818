"""The project of the demonstration: a small repository, and the modules of the banks that a long session goes through.

`project.txt` holds the files as they are. A module of a bank is a table of transaction codes and a function that reads
a row; table and sample statement are drawn by the bank's name, so that they are the same in every run.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from importlib.resources import files
from pathlib import Path

from reverie.settings.load import process_environment
from reverie.values import value

CODES_PER_BANK = 290
SAMPLE_ROWS = 6

_KEPT_VARIABLES = frozenset({"PATH", "LANG", "LC_ALL", "TMPDIR"})
_NAMES = (
    "Tidewater", "Northgate", "Kestrel", "Alder", "Bluefin", "Copperhill", "Drumlin", "Eastmarch", "Fernway",
    "Granite", "Harbourline", "Inverloch", "Juniper", "Kingsford", "Lakeshore", "Marram", "Netherby", "Oakhollow",
    "Pinewater", "Quarry", "Ridgeway", "Saltmarsh", "Thornbury", "Uplands",
)  # fmt: skip
_VERBS = ("transfer", "standing order", "direct debit", "card payment", "refund", "reversal", "fee", "interest")
_OBJECTS = ("savings", "current account", "merchant", "payroll", "mortgage", "pension", "insurance", "utility", "tax")
_NOTES = (
    "",
    ", same day",
    ", next day",
    ", foreign currency",
    ", batch",
    ", manual",
    ", corrected",
    ", pending review",
)


@value
class Bank:
    """A bank, and how its statements differ from those of others."""

    name: str
    date_format: str
    decimal: str
    sign: str

    @property
    def slug(self) -> str:
        return self.name.lower()

    @property
    def path(self) -> str:
        return f"src/ledgerbird/banks/{self.slug}.py"

    @property
    def is_usual(self) -> bool:
        """Whether the format that one would try first is right."""
        return (self.date_format, self.decimal, self.sign) == ("%d/%m/%Y", ".", "minus")

    @property
    def codes(self) -> dict[str, str]:
        draw = random.Random(self.name)
        numbers = sorted(draw.sample(range(100, 9_999), CODES_PER_BANK))
        prefix = self.name[:3].upper()
        return {
            f"{prefix}-{number:04d}": f"{draw.choice(_VERBS)} to {draw.choice(_OBJECTS)}{draw.choice(_NOTES)}"
            for number in numbers
        }

    @property
    def old_reader(self) -> str:
        """The function that every module had of its own."""
        return (
            "def read_row(line):\n"
            '    day, code, amount, text = line.rstrip("\\n").split(";", 3)\n'
            f'    booked = datetime.strptime(day, "{self.date_format}").date().isoformat()\n'
            '    return {"day": booked, "kind": CODES[code], "amount": float(amount), "text": text}\n'
        )

    def new_reader(self, *, usual: bool = False) -> str:
        """What takes its place; `usual` is the guess that fits most banks."""
        date_format, decimal, sign = (
            ("%d/%m/%Y", ".", "minus") if usual else (self.date_format, self.decimal, self.sign)
        )
        return f'read_row = reader(CODES, date="{date_format}", decimal="{decimal}", sign="{sign}")\n'


def _bank(number: int, name: str) -> Bank:
    dates = ("%d/%m/%Y", "%d/%m/%Y", "%Y-%m-%d")
    return Bank(name, dates[number % 3], ("." if number % 4 else ","), "suffix" if number % 5 == 4 else "minus")


BANKS = tuple(_bank(number, name) for number, name in enumerate(_NAMES, 1))


def write_project(folder: Path, *, now: datetime) -> None:
    """Write all files and commit them, as of a moment."""
    texts = (files("reverie.apps.demo") / "project.txt").read_text(encoding="utf-8").split("@@ file ")[1:]
    for part in texts:
        name, _, text = part.partition("\n")
        _write(folder / name, text)
    for bank in BANKS:
        _write(folder / bank.path, _module(bank))
        lines, rows = _sample(bank, now.date())
        _write(folder / "samples" / f"{bank.slug}.csv", "".join(f"{line}\n" for line in lines))
        _write(folder / "samples" / f"{bank.slug}.json", json.dumps(rows, indent=1))
    who = ("-c", "user.name=Mira", "-c", "user.email=mira@ledgerbird.example", "-c", "commit.gpgsign=false")
    environment = git_dates(now)
    for arguments in (("init", "-q", "-b", "main"), ("add", "-A"), (*who, "commit", "-qm", "Read statements of banks")):
        subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True)


def git_dates(now: datetime) -> Mapping[str, str]:
    """An environment in which git writes commits of this moment, by somebody of the story."""
    moment = now.isoformat()
    kept = {name: text for name, text in process_environment().items() if name in _KEPT_VARIABLES}
    # The interpreter that runs this one starts faster than what a version manager puts in its place.
    kept["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", os.defpath)])
    return kept | {
        "GIT_AUTHOR_DATE": moment,
        "GIT_COMMITTER_DATE": moment,
        "GIT_AUTHOR_NAME": "Mira",
        "GIT_COMMITTER_NAME": "Mira",
        "GIT_AUTHOR_EMAIL": "mira@ledgerbird.example",
        "GIT_COMMITTER_EMAIL": "mira@ledgerbird.example",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }


def _module(bank: Bank) -> str:
    table = "".join(f'    "{code}": "{meaning}",\n' for code, meaning in bank.codes.items())
    return (
        f'"""Statements of {bank.name}."""\n\nfrom datetime import datetime\n\n'
        "from ledgerbird.reader import reader\n\n"
        f"CODES = {{\n{table}}}\n\n\n{bank.old_reader}"
    )


def _sample(bank: Bank, today: date) -> tuple[list[str], list[dict[str, object]]]:
    """Lines of a statement, and what they are to be read as."""
    draw = random.Random(f"{bank.name} sample")
    lines, rows = [], []
    for number, (code, meaning) in enumerate(draw.sample(sorted(bank.codes.items()), SAMPLE_ROWS)):
        day, cents = today - timedelta(days=number), draw.randrange(-2_000_000, 2_000_000)
        lines.append(f"{day.strftime(bank.date_format)};{code};{_amount(cents, bank)};booking {number + 1}")
        rows.append({"day": day.isoformat(), "kind": meaning, "cents": cents, "text": f"booking {number + 1}"})
    return lines, rows


def _amount(cents: int, bank: Bank) -> str:
    text = f"{abs(cents) // 100:,}.{abs(cents) % 100:02d}"
    if bank.decimal == ",":
        text = text.translate({ord(","): ".", ord("."): ","})
    if bank.sign == "suffix":
        return text + ("D" if cents < 0 else "C")
    return f"-{text}" if cents < 0 else text


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
