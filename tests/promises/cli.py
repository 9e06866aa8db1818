"""What we promise of the command line."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "cli:print:remembered": Requirement(
        "-p tells what a turn taught, on standard error and in its documents; the transcript keeps it",
        source="findings 1.15",
    ),
    "cli:list:off": Requirement("list says that memory is off, and not that there are none", source="findings 1.15"),
    "cli:print:cache-broken": Requirement(
        "`-p` with `json` or `stream-json` tells a broken cache with its cause, tokens and price", "issue 12"
    ),
    "cli:start:light": Requirement(
        "`--version`, `--help` and settings import neither a vendor SDK nor anything heavy.", source="issue 2, item 6"
    ),
    "cli:flags:add-dir": Requirement(
        "`--add-dir` lets tools enter further directories beside those of the settings.", source="spec 8 §1.4"
    ),
    "cli:errors:exit-codes": Requirement(
        "A mistake of the user exits with 2 and one line that says what to do; nothing ends in a stack trace.",
        source="contract, Command line",
    ),
    "cli:help:examples": Requirement("Every command explains itself with examples.", source="issue 3, item 7"),
    "cli:context:json": Requirement(
        "`context --json` prints one document with the contract's keys; parts add up to the tokens.",
        source="contract, Command line",
    ),
    "cli:context:finds-sessions": Requirement(
        "A session is found by path, by id, by the beginning of an id, or as the newest.", source="issue 2, item 8"
    ),
    "cli:context:subagents": Requirement(
        "The sub-agents of a session are found in both places where hosts keep them.", source="issue 2, item 2"
    ),
    "cli:sessions:json": Requirement(
        "`sessions --json` lists id, path, title, messages, tokens, model and time, newest first.",
        source="contract, Command line",
    ),
    "cli:sessions:figures": Requirement(
        "Exact messages and cost are remembered and read again when a file grows.", source="issue 2, item 8"
    ),
    "cli:print:answers": Requirement(
        "`-p` prints the answer in three formats and records the turn as a session.", source="issue 2, item 8"
    ),
    "cli:print:denials": Requirement(
        "Under -p each call that was not permitted, of agents too, is told on standard error with the rule that would "
        "allow it, and stands in `permission_denials` of the JSON formats.",
        source="issue 12",
    ),
    "cli:print:commands": Requirement(
        "Under -p commands of the terminal are done or refused with a sentence, unknown ones refused; none of them "
        "goes to a model, nor does a flag that stands where the prompt should.",
        source="issue 12",
    ),
    "cli:print:images": Requirement("`stream-json` prints pictures of tool results too.", source="issue 12"),
    "cli:undo:newest": Requirement(
        "`undo` without a commit takes back the newest change that was not yet, `undo --learn` a whole run of `learn`.",
        source="issue 12",
    ),
    "cli:save:text": Requirement(
        "`save TEXT` keeps the words as they are, with a name and a type of its own, and overwrites no other memory.",
        source="contract, Command line",
    ),
    "cli:dates:human": Requirement(
        "Commands take dates as people say them: yesterday, 3 days ago, last monday, 1 march.", source="issue 12"
    ),
    "cli:tables:whole": Requirement(
        "Nothing of a table is cut in a file or a pipe; on a narrow terminal only columns that give way are.",
        source="issue 12",
    ),
    "cli:doctor:exit": Requirement("`doctor` exits with 1 when something is wrong.", source="issue 12"),
    "cli:errors:bad-input": Requirement(
        "Missing, unreadable and malformed input is named in one sentence, exit 2; nothing is written before.",
        source="issue 12",
    ),
    "cli:print:without-a-key": Requirement(
        "Without a key `-p` says in three lines what works and how to set one, and fails.", source="product §5"
    ),
    "cli:print:failure-is-recorded": Requirement(
        "A request that fails is recorded as such and exits with 1.", source="issue 2, item 8"
    ),
    "cli:uncompact:branch": Requirement(
        "`uncompact` starts a branch before the compaction; another agent's file is only copied.",
        source="issue 4, item 3",
    ),
    "cli:span:reads": Requirement(
        "`span` reads any left-out messages again, by id or by what they are about.", source="issue 4, item 3"
    ),
    "cli:streams:closed": Requirement(
        "A stream that is closed, or whose reader leaves, is no failure and no traceback.", source="issue 12"
    ),
    "demo:runs": Requirement(
        "The demonstration runs without key or network and shows a cache hit.", source="issue 2, item 9"
    ),
}
