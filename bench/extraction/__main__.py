"""`python -m bench.extraction`: precision and recall of extraction without a model, with 95 % intervals.

A stored memory is right when the passage it quotes overlaps one that was labelled; anything else is junk. Its meaning
is lost when the quote does not stand in the message word by word, or when its title says otherwise than its quote
(`memory/topics/polarity`): both are checked for every memory. `eval2-` files, here or in `examples/`, are held out:
nothing is fitted to them, only totals are printed, by language and, where the weights are installed, with vectors.
Everything else was read while the rules and the classifier were made. `--set` measures other files.
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

from bench.extraction.labels import HERE, Labelled, held_out_files, read_real, read_written
from reverie.memory.extraction.candidate import MemoryCandidate
from reverie.memory.extraction.similarity import Similarity
from reverie.memory.search.semantic import load_embedder
from reverie.memory.topics.polarity import MismatchKind, find_mismatch

_Z = 1.96
_KEPT_UNSEEN = frozenset({"held out", "unseen"})
_REMARK = (
    "What is not held out was read while the rules were made, and the weights were fitted to most of it: on new "
    "phrasing expect less than those rows show; of `unseen` and `held out` only totals were looked at; in `tempting` "
    "nothing is worth keeping."
)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.extraction", description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("REVERIE_SHARED_DATA", HERE.parents[2] / "shared/data")
    )
    parser.add_argument(
        "--models",
        type=Path,
        default=Path(os.environ.get("REVERIE_HOME", "~/.reverie")).expanduser() / "models",
        help="where the weights of the vectors are installed",
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
    print(
        f"{'part':20} {'messages':>8} {'labels':>7} {'stored':>7} {'precision':>22} {'recall':>22} "
        f"{'right type':>11} {'meaning lost':>13}"
    )
    files = options.set or held_out_files()
    if options.set is None:
        names = ", ".join(file.stem for file in files) or "none here"
        print(f"held out, fitted to by nobody: {names}")
    rows = _print_languages("by words", [each for file in files for each in read_written(file)], options)
    embedder = load_embedder(options.models)
    if embedder is None:
        print(f"no weights of vectors in {options.models}: rows with vectors are left out", file=sys.stderr)
    elif files:
        similarity = Similarity(lambda: embedder)
        labelled = [each for file in files for each in read_written(file, similarity)]
        rows |= _print_languages("with vectors", labelled, options)
    return rows if options.set else {**rows, **_measure_known(options)}


def _print_languages(
    way: str, labelled: Sequence[Labelled], options: argparse.Namespace
) -> dict[str, dict[str, float]]:
    """One row for English, one for each other language, one for those together."""
    if options.misses and options.set:
        _print_misses(labelled)
    languages = dict.fromkeys(each.language for each in labelled)
    rows = {
        f"{language or 'all'} {way}": print_row(
            f"{language or 'all'} {way}", [each for each in labelled if each.language == language]
        )
        for language in languages
    }
    others = [each for each in labelled if each.language not in {"", "en"}]
    if len(set(languages) - {"", "en"}) > 1:
        rows[f"not English {way}"] = print_row(f"not English {way}", others)
    return rows


def _measure_known(options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """What was read or fitted to: the figures only tell whether something broke."""
    labelled = list(read_written(HERE / "written.jsonl"))
    transcripts = Path(options.data) / "transcripts"
    if transcripts.is_dir():
        labelled += read_real(transcripts)
    else:
        print(f"no real sessions in {transcripts}: their row is left out", file=sys.stderr)
    print("not held out, by words:")
    if options.misses:
        _print_misses(each for each in labelled if each.part not in _KEPT_UNSEEN)
    parts = dict.fromkeys(each.part for each in labelled)
    return {part: print_row(part, [each for each in labelled if each.part == part]) for part in parts}


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
        count["lost"] += sum(loses_meaning(one, each.text) for one in each.found)
    precision, recall = _share(count["right"], count["stored"]), _share(count["found"], count["labels"])
    typed = count["right type"] / max(1, count["right"])
    print(
        f"{part:20} {len(labelled):8} {count['labels']:7} {count['stored']:7} "
        f"{_said(precision):>22} {_said(recall):>22} {typed:11.2f} {count['lost']:13}"
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
        "meaning_lost": count["lost"],
    }


def loses_meaning(memory: MemoryCandidate, text: str) -> bool:
    """Whether a memory quotes words that were not said so, or has a title that says otherwise than they do."""
    source = f"{memory.quote}\n{memory.approves}" if memory.approves else memory.quote
    differs = find_mismatch(source, memory.name, is_title=True)
    # A title that was cut says so by its ellipsis: there a condition may be missing.
    open_kinds = {MismatchKind.wording, MismatchKind.condition} if "…" in memory.name else {MismatchKind.wording}
    return memory.quote not in text or (differs is not None and differs.kind not in open_kinds)


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
