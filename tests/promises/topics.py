"""What we promise about the files of memory: topics, index, age, anchors, situations, secrets, merging."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES: dict[str, Requirement] = {
    "topic:plain-words": Requirement("Callers may name type and trust in plain words."),
    "memory:topic:round-trip": Requirement("a topic that is written and read again is the same topic"),
    "memory:topic:three-shapes": Requirement(
        "the type is read flat, inside metadata, and inside metadata beside node_type"
    ),
    "memory:topic:no-front-matter": Requirement(
        "a file without front matter takes its name from its first heading or file name"
    ),
    "memory:topic:unknown-keys": Requirement(
        "keys that we do not know, and values that we do not understand, survive every edit"
    ),
    "memory:topic:edits-are-surgical": Requirement("an edit changes the lines of what changed and no other byte"),
    "memory:topic:text-stays-text": Requirement(
        "names and descriptions keep colons, hashes, numbers, dates and truth words as text"
    ),
    "memory:topic:damage-is-named": Requirement(
        "front matter that is not YAML is named with file and line and never overwritten"
    ),
    "memory:topic:unknown-type": Requirement("an unknown type silently becomes no type"),
    "memory:topic:quoted": Requirement("texts are written in double quotes, one line each"),
    "memory:topic:merge-by-key": Requirement(
        "two edits of different keys or different lines of one topic merge; an overlap is reported"
    ),
    "memory:filenames:portable": Requirement(
        "file names are distinct and legal on case-insensitive and NFC/NFD file systems"
    ),
    "merge:three-way:nothing-lost": Requirement("a three-way merge keeps every line that either side added"),
    "merge:three-way:like-git": Requirement("edits that overlap or touch conflict exactly when git says so"),
    "secrets:scan:every-rule": Requirement(
        "a freshly made secret of each of the 40 and more kinds is found in every carrier line"
    ),
    "secrets:scan:prose": Requirement("passwords in sentences, in URLs, in headers and in commands are found"),
    "secrets:scan:no-false-alarm": Requirement("placeholders, variable names, paths and ordinary text are no findings"),
    "secrets:scan:never-shows": Requirement(
        "a finding names rule and place and never holds the text; redaction leaves no secret"
    ),
    "secrets:scan:hidden": Requirement("invisible characters and line breaks inside a token do not hide it"),
    "memory:index:line": Requirement(
        "each topic has one line with title, link and hook, of about 150 characters at most"
    ),
    "memory:index:prose-stays": Requirement(
        "everything in the index that is not an item of a topic is the user's and stays in its place"
    ),
    "memory:index:derived": Requirement(
        "regenerating an index changes nothing; there are no missing, dangling or repeated items"
    ),
    "memory:index:ranked-before-cut": Requirement(
        "without room for all, pins, rules that hold always, use and recency decide; the index says what is missing"
    ),
    "memory:index:always-first": Requirement("rules that hold always stand first, with the rule itself as the hook"),
    "memory:index:loading-limits": Requirement(
        "200 lines, then 25,000 bytes, measured without front matter and comments, and a warning when cut"
    ),
    "memory:index:edit-is-an-edit": Requirement("rewriting an item changes the description or the name of its topic"),
    "memory:index:cannot-conflict": Requirement("two copies of an index always merge, and keep the prose of both"),
    "memory:age:words": Requirement(
        "today and yesterday give a short header; from two days on a warning stands before it"
    ),
    "memory:age:observed-not-touched": Requirement(
        "age counts from observed or verified; the file time is only the fallback"
    ),
    "memory:age:calendar-days": Requirement("days are calendar days in the user's zone"),
    "memory:age:half-life": Requirement("each type ages at its own pace"),
    "memory:age:expires": Requirement("a memory past its explicit day says so"),
    "memory:trust:shown": Requirement("a recalled memory says when it was not said by the user"),
    "memory:anchors:checked": Requirement(
        "files, symbols and commits are checked and called fresh, changed or broken; URLs are not fetched"
    ),
    "memory:anchors:derived": Requirement(
        "a text that names files, symbols, commits and URLs is tied to those that exist"
    ),
    "memory:anchors:inside-project": Requirement("no anchor is read outside the project root"),
    "memory:anchors:shown": Requirement("a header names anchors that changed or vanished"),
    "memory:when:matched": Requirement(
        "a standing instruction applies by files, tools, kind of task, words or always, and says why"
    ),
    "memory:when:derived": Requirement(
        "situations are derived from the text of a rule, in English and Chinese, where it allows"
    ),
    "memory:when:sorted": Requirement(
        "situations written as texts are sorted into files, tools, tasks, words and always"
    ),
    "memory:asks": Requirement(
        "a memory holds up to five requests for which it should come up; more or longer ones are refused at a save and "
        "kept where a hand wrote them"
    ),
    "memory:when:globs": Requirement("globs match as lines of a .gitignore do"),
    "memory:injection:flagged": Requirement(
        "invisible characters and known injection patterns are flagged, ordinary text is not"
    ),
    "memory:injection:fenced": Requirement("recalled text cannot leave the fence in which it is shown"),
    "memory:topic:guesses-are-named": Requirement("what was read only by guessing can be listed with its line"),
    "memory:polarity": Requirement(
        "no memory differs from the words it quotes in a negation, a number, a name or a condition, in name,"
        " description or body; what differs is replaced by the words themselves"
    ),
    "memory:polarity:door": Requirement(
        "A memory that says otherwise than its quotes or than the user typed is corrected or refused, whoever words it"
    ),
}
