"""What we promise of settings and switches."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "settings:defaults:numbers": Requirement("Every number that decides something is a setting with a stated default."),
    "settings:defaults:switches": Requirement("Every switch exists, with its stated default."),
    "settings:tree:immutable": Requirement(
        "The tree is frozen, hashable, equal by value, and changed only by making another."
    ),
    "settings:precedence:highest-wins": Requirement(
        "A scalar is that of the highest source: managed, flags, environment, local, project, user, default."
    ),
    "settings:precedence:lists-join": Requirement(
        "Lists of several sources are joined, lowest first, except those that stand alone."
    ),
    "settings:precedence:declarations": Requirement(
        "Hooks and agents of every source are kept in order, each with its source and place."
    ),
    "settings:guards:committed": Requirement(
        "What a committed project file may not set is ignored with a warning that names key, file and line."
    ),
    "settings:guards:trust": Requirement(
        "Hooks, agents and permissions that widen count only once the project is trusted; those that narrow at once."
    ),
    "settings:guards:local": Requirement(
        "A local file of the project counts as the user's own as far as they agreed to it: an archive may bring one."
    ),
    "settings:guards:tracked-local": Requirement("A local file that git tracks counts as committed."),
    "settings:guards:budget": Requirement("A committed file may lower a budget and never raise it."),
    "settings:guards:process": Requirement(
        "Homes, simple mode and the kill switch come from the environment or a flag only."
    ),
    "settings:mistakes:place": Requirement(
        "A wrong type, a value out of range or an unknown key is a mistake that names file and line."
    ),
    "settings:mistakes:all": Requirement("All mistakes of all sources are reported at once."),
    "settings:mistakes:suggestion": Requirement(
        "An unknown key or a misspelt variable is answered with the nearest one that exists."
    ),
    "settings:mistakes:files": Requirement(
        "Broken syntax, another encoding, an unreadable, huge or special file is named, never guessed around."
    ),
    "settings:locate:lines": Requirement(
        "Every key of a TOML or JSON document is found on its line, however it is written."
    ),
    "settings:values:same-everywhere": Requirement(
        "A value means the same in a TOML file, in JSON, in a variable and in a flag."
    ),
    "settings:environment:systematic": Requirement(
        "Every scalar and list can be set by a variable of its own, and no two share one."
    ),
    "settings:environment:names": Requirement("Every environment variable has its stated effect."),
    "settings:environment:vendor": Requirement(
        "The variables that users of the host agent already set keep their meaning."
    ),
    "settings:vendor:files": Requirement(
        "The named keys of the host agent's settings files are honoured and the others passed over."
    ),
    "settings:vendor:managed": Requirement(
        "The host agent's managed settings count above all others but our own managed file; `claudeMd` only there."
    ),
    "settings:managed:parts": Requirement(
        "Managed settings are one file and then a folder of files in the order of their names."
    ),
    "settings:memory:off-matrix": Requirement(
        "Memory is off exactly when the kill switch, simple mode, remote mode without a directory or the setting says."
    ),
    "settings:memory:off-means-all": Requirement(
        "Off means no rules, index, recall, writes, extraction, dream, team memory or agent memory."
    ),
    "settings:features:remote": Requirement("Remote mode never extracts or dreams, even with a memory directory."),
    "settings:features:notes": Requirement("Notes need automatic compaction and do not need memory."),
    "settings:models:two-lines": Requirement("A server of one's own is two lines of settings."),
    "settings:secrets:never-shown": Requirement(
        "No key enters the settings, and what may be a secret is masked wherever settings are shown."
    ),
    "settings:load:cheap": Requirement("Without files and variables nothing is parsed and no parser is imported."),
    "settings:home:own-directory": Requirement(
        "In the home directory itself the user's files are not taken for a project's."
    ),
    "settings:cli:origins": Requirement(
        "`reverie settings` shows each value and where it came from, for people and as JSON."
    ),
    "settings:cli:one-key": Requirement(
        "`reverie settings KEY` shows one setting or a group; an unknown one ends with 2 and a suggestion."
    ),
    "settings:docs:true": Requirement("The reference page lists every key and is what the code says."),
    "settings:removed:warning": Requirement(
        "A key that an earlier version had is a warning that says what to do instead, and never an error."
    ),
    "settings:effect:every": Requirement(
        "Every setting changes something that is seen from outside; one without an effect does not exist."
    ),
}
