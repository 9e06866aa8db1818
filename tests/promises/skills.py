"""What we promise of skills and commands."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "skills:found:places": Requirement(
        "Skills and commands of the user, of the project from where the agent stands upward, and of plugins are found."
    ),
    "skills:found:nested": Requirement("Skills of a folder below are found when a file there is touched."),
    "skills:found:precedence": Requirement(
        "Of one name the user's own goes before the project's, the nearer folder before the farther, a skill before a "
        "command."
    ),
    "skills:found:broken": Requirement("A file that cannot be read is named; the others stay."),
    "skills:head:fields": Requirement("Every field of the format is read, in the words people use for yes and no."),
    "skills:listing:budget": Requirement(
        "The listing stays within its budget, tells as much as fits, and is the same for the same skills."
    ),
    "skills:listing:who": Requirement("The model hears only of skills that it may invoke and whose files are in play."),
    "skills:invoked:arguments": Requirement(
        "Arguments are filled in once, wholly, by number or by name; what nobody gave stays as it is written."
    ),
    "skills:invoked:commands": Requirement(
        "Inline commands are data until somebody who may run them hands in their output; no argument becomes one."
    ),
    "skills:invoked:files": Requirement("An invoked skill says where its own files lie."),
}
