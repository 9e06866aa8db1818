"""Promises of the tools."""

from tests.promises import Requirement

PROMISES = {
    "tools:recall:past": Requirement("RecallMemory over past sessions leaves out the session that asks"),
    "tools:schema:names-the-field": Requirement("An input of the wrong shape is refused with the name of the field."),
    "tools:registry:stable": Requirement("The tools come in the same order with the same bytes."),
    "tools:links:not-followed-later": Requirement(
        "A link that is put into a path after the call was judged is not followed, at whatever moment."
    ),
    "tools:read:pages": Requirement("The pages of a file, put together, are the file."),
    "tools:read:kinds": Requirement(
        "Pictures come as pictures, notebooks as cells; what cannot be shown is refused with another way."
    ),
    "tools:change:needs-read": Requirement("A file is changed only as the model has read it and as it still is."),
    "tools:edit:exact": Requirement("An edit replaces the one piece that is named and leaves every other byte."),
    "tools:edit:near-matches": Requirement("A piece that is not there is answered with what is like it."),
    "tools:write:atomic": Requirement("A killed write leaves the old file or the new one, never a part."),
    "tools:glob:finds": Requirement("Glob finds what `pathlib` finds, without what git ignores."),
    "tools:grep:same-answers": Requirement("Grep answers the same with and without ripgrep."),
    "tools:grep:modes": Requirement("Grep lists files, shows lines with those around, and counts."),
    "tools:grep:bounded": Requirement("An expression that takes for ever is ended."),
    "tools:bash:directory": Requirement(
        "The working directory is kept between commands and does not leave the agent's folders."
    ),
    "tools:bash:no-orphans": Requirement("A command that is cancelled, too slow or killed leaves no process behind."),
    "tools:bash:output": Requirement("Long output shows beginning and end and names the file that has all of it."),
    "tools:bash:keys": Requirement(
        "Keys of ours are neither handed to commands nor shown or kept when one is printed."
    ),
    "tools:bash:background": Requirement("A command may run on while the model works."),
    "tools:tasks:survive": Requirement("Open tasks are seen by what must survive a reduction."),
    "tools:web-search": Requirement(
        "The provider's own search is offered where the model has it, asked for, priced, and what it finds is data."
    ),
    "tools:web:off": Requirement("Fetching pages must be switched on."),
    "tools:web:public-only": Requirement("Addresses inside this machine or network are not fetched."),
    "tools:web:text": Requirement("A page comes as text, within limits, from the host that was asked."),
    "tools:memory:inferred": Requirement("What the model saves is inferred, and is found again."),
    "tools:memory:when-and-asks": Requirement("The model says with a memory when it matters."),
    "tools:memory-tool:texts": Requirement("The provider's memory tool answers with the provider's texts."),
    "tools:memory-tool:commits": Requirement("What the memory tool writes is a commit and is scanned for secrets."),
    "tools:memory-tool:stays-inside": Requirement("The memory tool cannot leave its directory."),
    "tools:span:reads-again": Requirement("What was left out of view can be read again."),
    "tools:plan:shown": Requirement("A plan is put before the user as it was written."),
}
