"""What we promise of permissions."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "permissions:shell:read-only": Requirement(
        "Shell commands that only read are recognised by parsing; unknown means ask."
    ),
    "permissions:shell:hostile": Requirement(
        "Redirection, substitution, options that write or run, wrappers and invisible characters are caught."
    ),
    "permissions:shell:values": Requirement("The words we judge are the words that the shell hands to the program."),
    "permissions:shell:executed": Requirement(
        "A made-up command that is judged to only read, run beside hostile repositories, changes nothing, starts "
        "nothing of theirs, leaves the shell as it was and shows nothing from outside."
    ),
    "permissions:shell:changes-nothing": Requirement("A command called read-only changes no file when it is run."),
    "permissions:rules:syntax": Requirement(
        "Rules are read in the users' syntax; a mistake names the rule and its place."
    ),
    "permissions:rules:order": Requirement("Deny goes before ask, ask before the mode, the mode before allow."),
    "permissions:rules:compound": Requirement(
        "A joined command is allowed when every part is, and denied when any part is."
    ),
    "permissions:rules:hidden": Requirement(
        "Where a rule forbids a program, a command that hides which one it runs is asked about, in any mode."
    ),
    "permissions:rules:paths": Requirement(
        "Path rules follow `.gitignore`, from the project, the settings file, home or the root."
    ),
    "permissions:modes": Requirement(
        "default, acceptEdits, plan, bypassPermissions, dontAsk and auto settle questions as they say."
    ),
    "permissions:files:roots": Requirement(
        "File tools cannot leave the allowed roots through links, also for files that do not exist yet."
    ),
    "permissions:files:protected": Requirement(
        "Files that steer programs later ask in every mode that asks, under any spelling."
    ),
    "permissions:reasons": Requirement("Every verdict has a sentence that says why and what to do."),
    "permissions:suggestions": Requirement(
        "A suggested rule settles the question it was suggested for, and not much more."
    ),
    "permissions:granted-rules": Requirement(
        "A granted rule is kept in a private settings file whose comments and order stay; never in a committed one."
    ),
    "permissions:policy": Requirement("The policy of the settings knows where each rule was written."),
    "permissions:kept:agreed": Requirement(
        "A rule granted for the project counts next time; rules around it that nobody agreed to are not lifted along."
    ),
}
