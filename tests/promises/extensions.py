"""What we promise of skills, plugins and trust in a running session."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "extensions:skill:model": Requirement(
        "The model loads a skill by its name; one that only the user may call, or that is not there, is refused."
    ),
    "extensions:skill:user": Requirement(
        "`/name args` stays visible as it was typed, and the text of the skill joins behind it."
    ),
    "extensions:skill:listing": Requirement(
        "Skills are listed at the opening and after a compaction; those below a touched folder are announced then."
    ),
    "extensions:skill:survives": Requirement(
        "The text of an invoked skill returns after a compaction, also in a session that was resumed."
    ),
    "extensions:skill:commands": Requirement(
        "Inline commands of a skill run only as far as the rules and the user allow."
    ),
    "extensions:skill:rules": Requirement(
        "Permission rules of a skill hold until the turn ends, and those of a project's skill only after trust."
    ),
    "extensions:skill:forks": Requirement(
        "A skill with `context: fork` runs in an agent of its own, of the role that it names; its report comes back."
    ),
    "extensions:skill:voice": Requirement(
        "Model and effort of a skill hold until the turn ends; what cannot take over is warned of."
    ),
    "extensions:tool-search:choice": Requirement(
        "Tools that wait are loaded by exact names or by words, the best first."
    ),
    "extensions:plugins:sources": Requirement("A plugin brings hooks, skills and servers into a session."),
    "extensions:trust:waiting": Requirement(
        "What came with the project and acts with the user's rights does nothing until the user agreed to it."
    ),
    "extensions:trust:answers": Requirement(
        "An answer holds at once and from then on; a changed part is asked about again."
    ),
    "extensions:trust:command": Requirement("`reverie trust` shows what waits and takes the answer."),
    "extensions:hooks:effects": Requirement(
        "Hooks may ask the session's model, call tools of servers, and leave variables for later commands."
    ),
    "extensions:hooks:background": Requirement("What a hook in the background says joins at the next boundary."),
}
