"""`python -m bench.extraction`: precision and recall of extraction without a model, with 95 % intervals.

A stored memory is right when the passage it quotes overlaps one that was labelled; anything else is junk. Its meaning
is lost when the quote does not stand in the message word by word, or when its title says otherwise than its quote
(`memory/topics/polarity`): both are checked for every memory. `eval2-` files, here or in `examples/`, are held out:
nothing is fitted to them, only totals are printed, by language and, where the weights are installed, with vectors.
Everything else was read while the rules and the classifier were made. `--set` measures other files.

No library that extracts memories does so without a model, so two simple ways stand beside: every sentence, and every
sentence of an English message with a cue word.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from bench.extraction.labels import HERE, Labelled, held_out_files, read_real, read_written
from bench.figures import WILSON, Figure, Result, Row, Table, add_options, default_models, report, share, shared_data
from reverie.memory.extraction.candidate import MemoryCandidate
from reverie.memory.extraction.similarity import Similarity
from reverie.memory.search.semantic import load_embedder
from reverie.memory.topics.polarity import MismatchKind, find_mismatch
from reverie.memory.topics.value import MemoryType

_SENTENCE = re.compile(r"[^.!?\n。！？]+[.!?。！？]*")
_CUE = re.compile(r"(?i)\b(?:always|never|remember|prefer|from now on|don't|do not|please use|we use|make sure|must)\b")
_ABOUT = (
    "Precision: stored memories that quote a passage which was labelled. Recall: labelled passages that were stored. "
    "Meaning lost: memories that quote what was not said, or whose title says otherwise than the quote."
)
_KEPT_UNSEEN = frozenset({"held out", "unseen"})
_REMARK = (
    "What is not held out was read while the rules were made, and the weights were fitted to most of it: on new "
    "phrasing expect less than those rows show; of `unseen` and `held out` only totals were looked at; in `tempting` "
    "nothing is worth keeping."
)


def main(arguments: Sequence[str]) -> int:
    parser = add_options(argparse.ArgumentParser(prog="python -m bench.extraction", description=__doc__))
    parser.add_argument("--models", type=Path, default=default_models(), help="where the weights of vectors lie")
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
    return report(_measure(options), options)


def _measure(options: argparse.Namespace) -> Result:
    result = Result()
    files = options.set or held_out_files()
    names = ", ".join(file.stem for file in files) or "none here"
    labelled = [each for file in files for each in read_written(file)]
    if options.misses and options.set:
        _print_misses(labelled)
    rows = _rows("reverie", labelled, is_ours=True)
    embedder = load_embedder(options.models)
    if embedder is None:
        result.left_out.append("rows with vectors: their weights are not installed (`reverie models install`)")
    elif files:
        similarity = Similarity(lambda: embedder)
        again = [each for file in files for each in read_written(file, similarity)]
        rows += _rows("reverie with vectors", again, is_ours=True)
    rows += _rows("every sentence", [replace(each, found=_split(each)) for each in labelled])
    english = [each for each in labelled if each.language == "en"]
    rows += _rows("cue words", [replace(each, found=_split(each, _CUE)) for each in english])
    about = f"Labelled messages of {names}. {_ABOUT}"
    title = "Other files" if options.set else "Held out: messages by another author that nothing was fitted to"
    result.tables.append(Table("held out", title, about, WILSON, rows, picture="recall"))
    result.left_out.append("libraries beside: none extracts without a model")
    if not options.set:
        result.tables.append(Table("known", "Not held out", f"{_REMARK} {_ABOUT}", WILSON, _known(options, result)))
    return result


def _rows(way: str, labelled: Sequence[Labelled], *, is_ours: bool = False) -> list[Row]:
    """One row for English, one for the other languages together; one for all where no language is named."""
    groups = {
        "English": [each for each in labelled if each.language == "en"],
        "five other languages": [each for each in labelled if each.language not in {"", "en"}],
        "all": [each for each in labelled if not each.language],
    }
    return [Row(f"{way}, {name}", measure(group), is_ours) for name, group in groups.items() if group]


def _known(options: argparse.Namespace, result: Result) -> list[Row]:
    """What was read or fitted to: the figures only tell whether something broke."""
    labelled = list(read_written(HERE / "written.jsonl"))
    transcripts = shared_data() / "transcripts"
    if transcripts.is_dir():
        labelled += read_real(transcripts)
    else:
        result.left_out.append("messages of real sessions: the sample data is not here (`REVERIE_SHARED_DATA`)")
    if options.misses:
        _print_misses(each for each in labelled if each.part not in _KEPT_UNSEEN)
    parts = dict.fromkeys(each.part for each in labelled)
    return [Row(part, measure([each for each in labelled if each.part == part]), is_ours=True) for part in parts]


def measure(labelled: Sequence[Labelled]) -> dict[str, Figure]:
    """Precision, recall and types of what was stored."""
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
    return {
        "messages": Figure(len(labelled)),
        "worth keeping": Figure(count["labels"]),
        "stored": Figure(count["stored"]),
        "precision": share(count["right"], count["stored"]),
        "recall": share(count["found"], count["labels"]),
        "right type": share(count["right type"], count["right"]),
        "meaning lost": Figure(count["lost"]),
    }


def _split(labelled: Labelled, cue: re.Pattern[str] | None = None) -> tuple[MemoryCandidate, ...]:
    """The sentences of a message as if they were memories; with a cue only those that have it."""
    sentences = (match[0].strip() for match in _SENTENCE.finditer(labelled.text))
    return tuple(
        MemoryCandidate(MemoryType.feedback, sentence, "", sentence, sentence, labelled.id)
        for sentence in sentences
        if len(sentence) > 1 and (cue is None or cue.search(sentence))
    )


def loses_meaning(memory: MemoryCandidate, text: str) -> bool:
    """Whether a memory quotes words that were not said so, or has a title that says otherwise than they do."""
    source = f"{memory.quote}\n{memory.approves}" if memory.approves else memory.quote
    differs = find_mismatch(source, memory.name, is_title=True)
    # A title that was cut says so by its ellipsis: there a condition may be missing.
    open_kinds = {MismatchKind.wording, MismatchKind.condition} if "…" in memory.name else {MismatchKind.wording}
    return memory.quote not in text or (differs is not None and differs.kind not in open_kinds)


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
