"""What we promise of the command line."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "cli:print:remembered": Requirement(
        "-p tells what a turn taught, on standard error and in its documents; the transcript keeps it"
    ),
    "cli:list:off": Requirement("list says that memory is off, and not that there are none"),
    "cli:print:cache-broken": Requirement(
        "`-p` with `json` or `stream-json` tells a broken cache with its cause, tokens and price"
    ),
    "cli:start:light": Requirement(
        "`--version`, `--help` and settings import neither a vendor SDK nor anything heavy."
    ),
    "cli:flags:add-dir": Requirement("`--add-dir` lets tools enter further directories beside those of the settings."),
    "cli:errors:exit-codes": Requirement(
        "A mistake of the user exits with 2 and one line that says what to do; nothing ends in a stack trace."
    ),
    "cli:help:examples": Requirement("Every command explains itself with examples."),
    "cli:context:json": Requirement(
        "`context --json` prints one document with its stated keys; parts add up to the tokens."
    ),
    "cli:context:finds-sessions": Requirement(
        "A session is found by path, by id, by the beginning of an id, or as the newest."
    ),
    "cli:context:subagents": Requirement("The sub-agents of a session are found in both places where hosts keep them."),
    "cli:sessions:json": Requirement(
        "`sessions --json` lists id, path, title, messages, tokens, model and time, newest first."
    ),
    "cli:sessions:figures": Requirement("Exact messages and cost are remembered and read again when a file grows."),
    "cli:print:answers": Requirement("`-p` prints the answer in three formats and records the turn as a session."),
    "cli:print:denials": Requirement(
        "Under -p each call that was not permitted, of agents too, is told on standard error with the rule that would "
        "allow it, and stands in `permission_denials` of the JSON formats."
    ),
    "cli:print:commands": Requirement(
        "Under -p commands of the terminal are done or refused with a sentence, unknown ones refused; none of them "
        "goes to a model, nor does a flag that stands where the prompt should."
    ),
    "cli:print:images": Requirement("`stream-json` prints pictures of tool results too."),
    "cli:undo:newest": Requirement(
        "`undo` without a commit takes back the newest change that was not yet, `undo --learn` a whole run of `learn`."
    ),
    "cli:save:text": Requirement(
        "`save TEXT` keeps the words as they are, with a name and a type of its own, and overwrites no other memory."
    ),
    "cli:dates:human": Requirement(
        "Commands take dates as people say them: yesterday, 3 days ago, last monday, 1 march."
    ),
    "cli:tables:whole": Requirement(
        "Nothing of a table is cut in a file or a pipe; on a narrow terminal only columns that give way are."
    ),
    "cli:vectors:asked-once": Requirement(
        "A person at a terminal with a few memories is asked once whether to install vectors; a no is kept, and what "
        "goes wrong leaves the command to words. Nobody is asked without a terminal, with --json, or in CI."
    ),
    "cli:vectors:hint": Requirement(
        "A weak result by words hints at vectors on standard error, at most once a day, and never after a no."
    ),
    "cli:vectors:doctor": Requirement("`doctor` says whether vectors are installed, and the command that does it."),
    "cli:doctor:exit": Requirement("`doctor` exits with 1 when something is wrong."),
    "cli:errors:bad-input": Requirement(
        "Missing, unreadable and malformed input is named in one sentence, exit 2; nothing is written before."
    ),
    "cli:print:without-a-key": Requirement(
        "Without a key `-p` says in three lines what works and how to set one, and fails."
    ),
    "cli:print:failure-is-recorded": Requirement("A request that fails is recorded as such and exits with 1."),
    "cli:uncompact:branch": Requirement(
        "`uncompact` starts a branch before the compaction; another agent's file is only copied."
    ),
    "cli:span:reads": Requirement("`span` reads any left-out messages again, by id or by what they are about."),
    "cli:streams:closed": Requirement(
        "A stream that is closed, or whose reader leaves, is no failure and no traceback."
    ),
    "demo:runs": Requirement("The demonstration runs without key or network and shows a cache hit."),
}
