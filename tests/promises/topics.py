"""What we promise about the files of memory: topics, index, age, anchors, situations, secrets, merging."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES: dict[str, Requirement] = {
    "topic:plain-words": Requirement("Callers may name type and trust in plain words.", source="contract, Python"),
    "memory:topic:round-trip": Requirement(
        "a topic that is written and read again is the same topic", source="style §5.10"
    ),
    "memory:topic:three-shapes": Requirement(
        "the type is read flat, inside metadata, and inside metadata beside node_type", source="spec 8 §1.5"
    ),
    "memory:topic:no-front-matter": Requirement(
        "a file without front matter takes its name from its first heading or file name", source="issue 3 §1"
    ),
    "memory:topic:unknown-keys": Requirement(
        "keys that we do not know, and values that we do not understand, survive every edit", source="issue 3 §1"
    ),
    "memory:topic:edits-are-surgical": Requirement(
        "an edit changes the lines of what changed and no other byte", source="issue 3 §1"
    ),
    "memory:topic:text-stays-text": Requirement(
        "names and descriptions keep colons, hashes, numbers, dates and truth words as text", source="spec 8 §1.5"
    ),
    "memory:topic:damage-is-named": Requirement(
        "front matter that is not YAML is named with file and line and never overwritten", source="issue 3 §1"
    ),
    "memory:topic:unknown-type": Requirement("an unknown type silently becomes no type", source="spec 2 §3"),
    "memory:topic:quoted": Requirement("texts are written in double quotes, one line each", source="spec 8 §1.5"),
    "memory:topic:merge-by-key": Requirement(
        "two edits of different keys or different lines of one topic merge; an overlap is reported", source="product §6"
    ),
    "memory:filenames:portable": Requirement(
        "file names are distinct and legal on case-insensitive and NFC/NFD file systems", source="issue 3 §1"
    ),
    "merge:three-way:nothing-lost": Requirement(
        "a three-way merge keeps every line that either side added", source="style §5.10"
    ),
    "merge:three-way:like-git": Requirement(
        "edits that overlap or touch conflict exactly when git says so", source="contract: undo"
    ),
    "secrets:scan:every-rule": Requirement(
        "a freshly made secret of each of the 40 and more kinds is found in every carrier line", source="spec 5 §9"
    ),
    "secrets:scan:prose": Requirement(
        "passwords in sentences, in URLs, in headers and in commands are found", source="spec 7 §61"
    ),
    "secrets:scan:no-false-alarm": Requirement(
        "placeholders, variable names, paths and ordinary text are no findings", source="issue 3 §6"
    ),
    "secrets:scan:never-shows": Requirement(
        "a finding names rule and place and never holds the text; redaction leaves no secret", source="spec 5 §9"
    ),
    "secrets:scan:hidden": Requirement(
        "invisible characters and line breaks inside a token do not hide it", source="issue 3 §6"
    ),
    "memory:index:line": Requirement(
        "each topic has one line with title, link and hook, of about 150 characters at most", source="spec 2 §5"
    ),
    "memory:index:prose-stays": Requirement(
        "everything in the index that is not an item of a topic is the user's and stays in its place",
        source="contract: files",
    ),
    "memory:index:derived": Requirement(
        "regenerating an index changes nothing; there are no missing, dangling or repeated items", source="spec 7 §10"
    ),
    "memory:index:ranked-before-cut": Requirement(
        "without room for all, pins, rules that hold always, use and recency decide; the index says what is missing",
        source="issue 3 §1",
    ),
    "memory:index:always-first": Requirement(
        "rules that hold always stand first, with the rule itself as the hook", source="issue 3 §4"
    ),
    "memory:index:loading-limits": Requirement(
        "200 lines, then 25,000 bytes, measured without front matter and comments, and a warning when cut",
        source="spec 2 §5, spec 8 §1.5",
    ),
    "memory:index:edit-is-an-edit": Requirement(
        "rewriting an item changes the description or the name of its topic", source="contract: files"
    ),
    "memory:index:cannot-conflict": Requirement(
        "two copies of an index always merge, and keep the prose of both", source="contract: files"
    ),
    "memory:age:words": Requirement(
        "today and yesterday give a short header; from two days on a warning stands before it", source="spec 2 §8"
    ),
    "memory:age:observed-not-touched": Requirement(
        "age counts from observed or verified; the file time is only the fallback", source="spec 7 §12"
    ),
    "memory:age:calendar-days": Requirement("days are calendar days in the user's zone", source="spec 7 §14"),
    "memory:age:half-life": Requirement("each type ages at its own pace", source="spec 7 §13"),
    "memory:age:expires": Requirement("a memory past its explicit day says so", source="spec 7 §13"),
    "memory:trust:shown": Requirement("a recalled memory says when it was not said by the user", source="issue 3 §6"),
    "memory:anchors:checked": Requirement(
        "files, symbols and commits are checked and called fresh, changed or broken; URLs are not fetched",
        source="product §6",
    ),
    "memory:anchors:derived": Requirement(
        "a text that names files, symbols, commits and URLs is tied to those that exist", source="issue 3 §5"
    ),
    "memory:anchors:inside-project": Requirement("no anchor is read outside the project root", source="spec 7 §35"),
    "memory:anchors:shown": Requirement("a header names anchors that changed or vanished", source="issue 3 §5"),
    "memory:when:matched": Requirement(
        "a standing instruction applies by files, tools, kind of task, words or always, and says why",
        source="issue 3 §4",
    ),
    "memory:when:derived": Requirement(
        "situations are derived from the text of a rule, in English and Chinese, where it allows", source="issue 3 §4"
    ),
    "memory:when:globs": Requirement("globs match as lines of a .gitignore do", source="issue 3 §4"),
    "memory:injection:flagged": Requirement(
        "invisible characters and known injection patterns are flagged, ordinary text is not", source="issue 3 §6"
    ),
    "memory:injection:fenced": Requirement(
        "recalled text cannot leave the fence in which it is shown", source="product §2.8"
    ),
    "memory:topic:guesses-are-named": Requirement(
        "what was read only by guessing can be listed with its line", source="contract: doctor"
    ),
    "memory:polarity": Requirement(
        "no memory differs from the words it quotes in a negation, a number, a name or a condition, in name,"
        " description or body; what differs is replaced by the words themselves",
        source="issue 12",
    ),
    "memory:polarity:door": Requirement(
        "A memory that says otherwise than its quotes or than the user typed is corrected or refused, whoever words it",
        source="issue 12",
    ),
}
