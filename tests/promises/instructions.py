"""What we promise of instruction files."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES: dict[str, Requirement] = {
    "instructions:order": Requirement(
        "managed, user, then every folder from the root to the working directory; in each the shared files, the rules, "
        "then the local file"
    ),
    "instructions:labels": Requirement(
        "each file carries path, type label, load reason, and what else an InstructionsLoaded hook is told"
    ),
    "instructions:agents-md": Requirement(
        "AGENTS.md has the rank of CLAUDE.md and is not loaded twice when one includes, links to or copies the other"
    ),
    "instructions:once": Requirement("a file is loaded once, whatever links and includes lead to it"),
    "instructions:nested": Requirement(
        "instructions below the working directory are loaded when a file there is touched"
    ),
    "instructions:rules:paths": Requirement(
        "a rule with `paths:` is loaded when a matching file is touched, one without at the start"
    ),
    "instructions:rules:budget": Requirement(
        "braces unfold within a budget, a broken bracket matches nothing, a hostile pattern takes no time"
    ),
    "instructions:include": Requirement(
        "`@path` includes a text file, from the folder of the file, the home or the root"
    ),
    "instructions:include:not-in-code": Requirement("code, e-mail addresses and package names are not includes"),
    "instructions:include:depth": Requirement("includes go four deep; deeper ones are warned of"),
    "instructions:include:cycles": Requirement("files that include one another are loaded once"),
    "instructions:include:missing": Requirement("a missing include costs a note and nothing else"),
    "instructions:outside": Requirement(
        "a file outside the project waits for the user's word; a refused one is not asked for again"
    ),
    "instructions:comments": Requirement("HTML comments are left out, except in code"),
    "instructions:excludes": Requirement("excluded files are not loaded, except managed ones"),
    "instructions:limits": Requirement(
        "over 40,000 characters a file is loaded with a warning; over the byte limit, or no text, it is skipped"
    ),
    "instructions:compact": Requirement(
        "after a compaction the files are read again, nested ones and matched rules only when matched again"
    ),
    "instructions:render": Requirement("the model reads each file under its path and whose it is, in order"),
    "instructions:managed-text": Requirement(
        "the text of managed settings stands with the machine's files, and no exclude keeps it out"
    ),
    "instructions:real-trees": Requirement("real trees load as a person would expect"),
}
