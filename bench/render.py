"""`python -m bench.render`: write `REPORT.md`, its pictures and the README's table anew from `report.json`.

Nothing in them is typed by hand: a test renders the committed `report.json` and compares.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.chart import chart
from bench.figures import Figure, Table, read_result
from bench.parts import PARTS, README, Shown

HERE = Path(__file__).parent
REPORT, DATA, PICTURES = HERE / "REPORT.md", HERE / "report.json", HERE / "pictures"
README_FILE = HERE.parent / "README.md"
FIGURES = re.compile(r"(<!-- figures -->\n).*?(<!-- /figures -->)", re.DOTALL)
_INTRODUCTION = """\
Written by `{command}`; every figure is of that run, on the machine below. `report.json` beside it has the same figures
as data, and `python -m bench.render` writes this page from it. What could not be measured is said where it is missing.
Bold rows are Reverie. Times depend on what else the machine does: look at the load.
"""


def main() -> int:
    content = json.loads(DATA.read_text(encoding="utf-8"))
    write(content)
    return 0


def write(content: Mapping[str, Any]) -> None:
    """Write everything that is made from a report."""
    REPORT.write_text(render_report(content), encoding="utf-8")
    PICTURES.mkdir(exist_ok=True)
    pictures = render_pictures(content)
    for path in PICTURES.glob("*.svg"):
        if path.name not in pictures:
            path.unlink()
    for name, picture in pictures.items():
        (PICTURES / name).write_text(picture, encoding="utf-8")
    before = README_FILE.read_text(encoding="utf-8")
    README_FILE.write_text(put_into_readme(before, content), encoding="utf-8")


def put_into_readme(text: str, content: Mapping[str, Any]) -> str:
    """The README with the table of a report between its marks."""
    return FIGURES.sub(lambda match: f"{match[1]}{render_readme(content)}{match[2]}", text)


def render_report(content: Mapping[str, Any]) -> str:
    """The whole page."""
    lines = ["# Report", "", _INTRODUCTION.format(command=content["command"]), *_machine(content), ""]
    lines += ["| part | took | of processors | load |", "| --- | --- | --- | --- |"]
    parts = {each["name"]: each for each in content["parts"]}
    for part in PARTS:
        each = parts[part.name]
        took = f"{each['seconds']:.0f} s" if each["seconds"] else "–"
        cpu = f"{each['cpu_seconds']:.0f} s" if each["seconds"] else "–"
        load = f"{each['load'][0]:.1f} to {each['load'][1]:.1f}" if each["seconds"] else "–"
        problem = f": {each['problem']}" if each["problem"] else ""
        lines.append(f"| [{part.title}](#{_anchor(part.title)}){problem} | {took} | {cpu} | {load} |")
    for part in PARTS:
        each = parts[part.name]
        lines += ["", f"## {part.title}", "", f"`{each['command']}`", ""]
        if each["problem"]:
            lines += [f"Not measured: {each['problem']}.", ""]
        result = read_result(each)
        for table in result.tables:
            lines += [*_table(part.name, table), ""]
        if result.left_out:
            lines += ["Left out:", "", *(f"- {reason}" for reason in result.left_out), ""]
        lines.pop()
    return "\n".join(lines) + "\n"


def render_pictures(content: Mapping[str, Any]) -> dict[str, str]:
    """The pictures by their file names."""
    return {
        _picture(part["name"], table): chart(table.title, table.picture, table.rows)
        for part in content["parts"]
        for table in read_result(part).tables
        if table.picture
    }


def render_readme(content: Mapping[str, Any]) -> str:
    """The README's table: our figure, others by the same measure, and the command that makes both."""
    machine = content["machine"]
    parts = {each["name"]: each for each in content["parts"]}
    lines = [
        f"{machine['cores']} cores, {machine['memory_gb']:.0f} GB, Python {machine['python']}, load "
        f"{content['load'][0]:.1f} to {content['load'][1]:.1f}, {content['date']}; brackets hold 95 % intervals of "
        "shares, and the least and the most of times. Made by `" + content["command"] + "`; the whole of it, with how "
        "each was measured: [the report](bench/REPORT.md).",
        "",
        "| what | Reverie | beside | alone |",
        "| --- | --- | --- | --- |",
    ]
    for shown in README:
        part = parts[shown.part]
        ours, beside = _found(part, shown)
        lines.append(f"| {shown.what} | {ours} | {beside or '–'} | `{part['command']}` |")
    return "\n".join(lines) + "\n"


def _found(part: Mapping[str, Any], shown: Shown) -> tuple[str, str]:
    result = read_result(part)
    table = next((each for each in result.tables if each.name == shown.table), None)
    if table is None:
        return f"not measured: {part['problem'] or '; '.join(result.left_out) or 'left out'}", ""
    rows = {row.label: row.figures.get(shown.column, Figure(None)) for row in table.rows}
    ours = [(label, rows[label]) for label in shown.ours if label in rows]
    others = [(label, rows[label]) for label in shown.beside if label in rows]
    named = len(shown.ours) > 1
    told = ", ".join(f"{label.removeprefix('reverie, ')} {each}" if named else str(each) for label, each in ours)
    return told or "not measured", ", ".join(f"{label.removesuffix(', first five')} {each}" for label, each in others)


def _machine(content: Mapping[str, Any]) -> list[str]:
    machine = content["machine"]
    commit = content["commit"] + (", with changes that are not committed" if content["is_changed"] else "")
    return [
        (
            f"- Machine: {machine['cores']} cores ({machine['processor']}), {machine['memory_gb']:.0f} GB of memory, "
            f"{machine['system']}, Python {machine['python']}, git {machine['git']}"
        ),
        f"- Load (one minute): {content['load'][0]:.1f} at the beginning, {content['load'][1]:.1f} at the end",
        (
            f"- Commit: {commit}; {content['date']}; {'quick' if content['is_quick'] else 'whole'} run of "
            f"{content['seconds'] / 60:.1f} minutes"
        ),
    ]


def _table(part: str, table: Table) -> list[str]:
    columns = list(dict.fromkeys(name for row in table.rows for name in row.figures))
    lines = [f"### {table.title}", "", f"{table.about} Brackets: {table.interval}.", ""]
    lines += [f"| | {' | '.join(columns)} |", "| --- " * (len(columns) + 1) + "|"]
    for row in table.rows:
        label = f"**{row.label}**" if row.is_ours else row.label
        lines.append(f"| {label} | {' | '.join(str(row.figures.get(name, Figure(None))) for name in columns)} |")
    if table.picture:
        lines += ["", f"![{table.title}: {table.picture}](pictures/{_picture(part, table)})"]
    return lines


def _picture(part: str, table: Table) -> str:
    return re.sub(r"[^a-z0-9]+", "-", f"{part} {table.name}".lower()) + ".svg"


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


if __name__ == "__main__":
    sys.exit(main())
