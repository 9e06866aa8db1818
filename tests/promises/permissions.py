"""What we promise of permissions."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "permissions:shell:read-only": Requirement(
        "Shell commands that only read are recognised by parsing; unknown means ask.", source="issue 5, item 3"
    ),
    "permissions:shell:hostile": Requirement(
        "Redirection, substitution, options that write or run, wrappers and invisible characters are caught.",
        source="issue 5, item 3",
    ),
    "permissions:shell:values": Requirement(
        "The words we judge are the words that the shell hands to the program.", source="issue 5, item 3"
    ),
    "permissions:shell:executed": Requirement(
        "A made-up command that is judged to only read, run beside hostile repositories, changes nothing, starts "
        "nothing of theirs, leaves the shell as it was and shows nothing from outside.",
        source="issue 12, item 8",
    ),
    "permissions:shell:changes-nothing": Requirement(
        "A command called read-only changes no file when it is run.", source="issue 5, item 3"
    ),
    "permissions:rules:syntax": Requirement(
        "Rules are read in the users' syntax; a mistake names the rule and its place.", source="issue 5, item 3"
    ),
    "permissions:rules:order": Requirement(
        "Deny goes before ask, ask before the mode, the mode before allow.", source="spec 8 §1.7"
    ),
    "permissions:rules:compound": Requirement(
        "A joined command is allowed when every part is, and denied when any part is.", source="issue 5, item 3"
    ),
    "permissions:rules:hidden": Requirement(
        "Where a rule forbids a program, a command that hides which one it runs is asked about, in any mode.",
        source="issue 12, findings 5.13",
    ),
    "permissions:rules:paths": Requirement(
        "Path rules follow `.gitignore`, from the project, the settings file, home or the root.", source="spec 8 §1.7"
    ),
    "permissions:modes": Requirement(
        "default, acceptEdits, plan, bypassPermissions, dontAsk and auto settle questions as they say.",
        source="issue 5, item 3; spec 8 §1.8",
    ),
    "permissions:files:roots": Requirement(
        "File tools cannot leave the allowed roots through links, also for files that do not exist yet.",
        source="issue 5, item 3",
    ),
    "permissions:files:protected": Requirement(
        "Files that steer programs later ask in every mode that asks, under any spelling.", source="issue 5, item 3"
    ),
    "permissions:reasons": Requirement(
        "Every verdict has a sentence that says why and what to do.", source="issue 5, item 3"
    ),
    "permissions:suggestions": Requirement(
        "A suggested rule settles the question it was suggested for, and not much more.", source="issue 5, item 7"
    ),
    "permissions:granted-rules": Requirement(
        "A granted rule is kept in a private settings file whose comments and order stay; never in a committed one.",
        source="issue 5, item 3",
    ),
    "permissions:policy": Requirement(
        "The policy of the settings knows where each rule was written.", source="spec 8 §1.7"
    ),
    "permissions:kept:agreed": Requirement(
        "A rule granted for the project counts next time; rules around it that nobody agreed to are not lifted along.",
        source="product §2, promise 8",
    ),
}
