"""`python -m bench.extraction`: precision and recall of extraction without a model, with 95 % intervals.

A stored memory is right when the passage it quotes overlaps one that was labelled; anything else is junk. What the
figures are worth: the held-out messages were written before the rules and never tuned on, but by the same hand; the
real sessions were labelled before the rules, by somebody who then wrote these; the dev part was tuned on, and so was
every fresh part after its first run; the classifier was fitted to both and to `tempting`, in which nothing is worth
keeping: there the number stored is the figure. `--set` measures other files, such as those of `examples/`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.extraction.labels import HERE, Labelled, read_real, read_written

_Z = 1.96
_KEPT_UNSEEN = frozenset({"held out", "unseen"})
_REMARK = (
    "The rules were improved with dev and, after its first run, with every fresh part, and the weights were fitted to "
    "them: on new phrasing expect less precision and far less recall than these rows show; of `unseen` and `held out` "
    "only totals were looked at; in `tempting` nothing is worth keeping."
)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.extraction", description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("REVERIE_SHARED_DATA", HERE.parents[2] / "shared/data")
    )
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument(
        "--misses", action="store_true", help="list what was wrong or missed, of the parts that may be tuned on"
    )
    parser.add_argument(
        "--set",
        type=Path,
        nargs="+",
        help="measure these files alone: lines like those of examples/ or written.jsonl, or with `store` and `kind`",
    )
    options = parser.parse_args(arguments)
    report = _measure(options)
    if options.set is None:
        print(_REMARK)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2), encoding="utf-8")
    return 0


def _measure(options: argparse.Namespace) -> dict[str, dict[str, float]]:
    labelled = [each for file in options.set or [HERE / "written.jsonl"] for each in read_written(file)]
    transcripts = Path(options.data) / "transcripts"
    if options.set is None and transcripts.is_dir():
        labelled += read_real(transcripts)
    elif options.set is None:
        print(f"no real sessions in {transcripts}: their row is left out", file=sys.stderr)
    print(
        f"{'part':10} {'messages':>8} {'labels':>7} {'stored':>7} {'precision':>22} {'recall':>22} {'right type':>11}"
    )
    if options.misses:
        _print_misses(each for each in labelled if each.part not in _KEPT_UNSEEN)
    parts = dict.fromkeys(each.part for each in labelled)
    rows = {part: print_row(part, [each for each in labelled if each.part == part]) for part in parts}
    return rows if len(rows) < 2 or options.set is None else {**rows, "all": print_row("all", labelled)}


def print_row(part: str, labelled: Sequence[Labelled]) -> dict[str, float]:
    """Print precision, recall and types of what was stored."""
    count: Counter[str] = Counter()
    for each in labelled:
        spans = [(each.text.find(one.quote), each.text.find(one.quote) + len(one.quote), one) for one in each.found]
        fits = [[want for want in each.wanted if want.start < end and start < want.end] for start, end, _ in spans]
        count["labels"] += len(each.wanted)
        count["stored"] += len(spans)
        count["right"] += sum(map(bool, fits))
        count["found"] += sum(any(want in wants for wants in fits) for want in each.wanted)
        count["right type"] += sum(
            any(want.type == one.type for want in wants) for (_, _, one), wants in zip(spans, fits, strict=True)
        )
    precision, recall = _share(count["right"], count["stored"]), _share(count["found"], count["labels"])
    typed = count["right type"] / max(1, count["right"])
    print(
        f"{part:10} {len(labelled):8} {count['labels']:7} {count['stored']:7} "
        f"{_said(precision):>22} {_said(recall):>22} {typed:11.2f}"
    )
    return {
        "messages": len(labelled),
        "labels": count["labels"],
        "stored": count["stored"],
        "precision": precision[0],
        "precision_low": precision[1],
        "recall": recall[0],
        "recall_low": recall[1],
        "right_type": typed,
    }


def _share(hits: int, of: int) -> tuple[float, float, float]:
    """A share with its 95 % interval after Wilson."""
    if of == 0:
        return math.nan, 0.0, 1.0
    share = hits / of
    middle = (share + _Z**2 / (2 * of)) / (1 + _Z**2 / of)
    half = _Z * math.sqrt(share * (1 - share) / of + _Z**2 / (4 * of**2)) / (1 + _Z**2 / of)
    return share, max(0.0, middle - half), min(1.0, middle + half)


def _said(share: tuple[float, float, float]) -> str:
    return f"{share[0]:.2f} ({share[1]:.2f} to {share[2]:.2f})"


def _print_misses(labelled: Iterable[Labelled]) -> None:
    for each in labelled:
        spans = [(each.text.find(one.quote), each.text.find(one.quote) + len(one.quote), one) for one in each.found]
        for start, end, one in spans:
            if not any(want.start < end and start < want.end for want in each.wanted):
                print(f"junk    {each.id}: {one.cue}")
        for want in each.wanted:
            if not any(want.start < end and start < want.end for start, end, _ in spans):
                print(f"missed  {each.id}: {want.type}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
