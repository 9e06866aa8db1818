"""What we promise of skills and commands."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "skills:found:places": Requirement(
        "Skills and commands of the user, of the project from where the agent stands upward, and of plugins are found.",
        source="spec 8 §1.1, §1.9; issue 5, item 8",
    ),
    "skills:found:nested": Requirement(
        "Skills of a folder below are found when a file there is touched.", source="spec 8 §1.9"
    ),
    "skills:found:precedence": Requirement(
        "Of one name the user's own goes before the project's, the nearer folder before the farther, a skill before a "
        "command.",
        source="spec 8 §1.9",
    ),
    "skills:found:broken": Requirement(
        "A file that cannot be read is named; the others stay.", source="issue 5, item 8"
    ),
    "skills:head:fields": Requirement(
        "Every field of the format is read, in the words people use for yes and no.", source="spec 8 §1.9"
    ),
    "skills:listing:budget": Requirement(
        "The listing stays within its budget, tells as much as fits, and is the same for the same skills.",
        source="spec 8 §1.7, §1.9",
    ),
    "skills:listing:who": Requirement(
        "The model hears only of skills that it may invoke and whose files are in play.", source="spec 8 §1.9"
    ),
    "skills:invoked:arguments": Requirement(
        "Arguments are filled in once, wholly, by number or by name; what nobody gave stays as it is written.",
        source="spec 8 §1.9; issue 5, item 8",
    ),
    "skills:invoked:commands": Requirement(
        "Inline commands are data until somebody who may run them hands in their output; no argument becomes one.",
        source="issue 5, item 3 and 8",
    ),
    "skills:invoked:files": Requirement(
        "An invoked skill says where its own files lie.", source="spec 8 §1.9; spec 1 §11.4"
    ),
}
