"""Promises of the tools."""

from tests.promises import Requirement

PROMISES = {
    "tools:recall:past": Requirement(
        "RecallMemory over past sessions leaves out the session that asks", source="findings 1.15"
    ),
    "tools:schema:names-the-field": Requirement(
        "An input of the wrong shape is refused with the name of the field.", "issue 5 §2"
    ),
    "tools:registry:stable": Requirement("The tools come in the same order with the same bytes.", "spec 1 §17"),
    "tools:links:not-followed-later": Requirement(
        "A link that is put into a path after the call was judged is not followed, at whatever moment.", "issue 5 §3"
    ),
    "tools:read:pages": Requirement("The pages of a file, put together, are the file.", "issue 5 §2"),
    "tools:read:kinds": Requirement(
        "Pictures come as pictures, notebooks as cells; what cannot be shown is refused with another way.", "issue 5 §2"
    ),
    "tools:change:needs-read": Requirement(
        "A file is changed only as the model has read it and as it still is.", "spec 3 §3"
    ),
    "tools:edit:exact": Requirement(
        "An edit replaces the one piece that is named and leaves every other byte.", "issue 5 §2"
    ),
    "tools:edit:near-matches": Requirement("A piece that is not there is answered with what is like it.", "issue 5 §2"),
    "tools:write:atomic": Requirement(
        "A killed write leaves the old file or the new one, never a part.", "spec 3 §3; style 5.10"
    ),
    "tools:glob:finds": Requirement("Glob finds what `pathlib` finds, without what git ignores.", "issue 5 §2"),
    "tools:grep:same-answers": Requirement("Grep answers the same with and without ripgrep.", "issue 5 §2"),
    "tools:grep:modes": Requirement("Grep lists files, shows lines with those around, and counts.", "issue 5 §2"),
    "tools:grep:bounded": Requirement("An expression that takes for ever is ended.", "issue 5 §2"),
    "tools:bash:directory": Requirement(
        "The working directory is kept between commands and does not leave the agent's folders.", "issue 5 §2"
    ),
    "tools:bash:no-orphans": Requirement(
        "A command that is cancelled, too slow or killed leaves no process behind.", "issue 5 §2"
    ),
    "tools:bash:output": Requirement(
        "Long output shows beginning and end and names the file that has all of it.", "spec 8 §1.3"
    ),
    "tools:bash:keys": Requirement(
        "Keys of ours are neither handed to commands nor shown or kept when one is printed.", "product §2, promise 8"
    ),
    "tools:bash:background": Requirement("A command may run on while the model works.", "issue 5 §2"),
    "tools:tasks:survive": Requirement("Open tasks are seen by what must survive a reduction.", "issue 5 §2"),
    "tools:web-search": Requirement(
        "The provider's own search is offered where the model has it, asked for, priced, and what it finds is data.",
        "issue 12 §1",
    ),
    "tools:web:off": Requirement("Fetching pages must be switched on.", "issue 5 §2"),
    "tools:web:public-only": Requirement("Addresses inside this machine or network are not fetched.", "issue 5 §2"),
    "tools:web:text": Requirement("A page comes as text, within limits, from the host that was asked.", "issue 5 §2"),
    "tools:memory:inferred": Requirement("What the model saves is inferred, and is found again.", "spec 2 §6"),
    "tools:memory-tool:texts": Requirement(
        "The provider's memory tool answers with the provider's texts.", "spec 8 §1.10"
    ),
    "tools:memory-tool:commits": Requirement(
        "What the memory tool writes is a commit and is scanned for secrets.", "issue 5 §2"
    ),
    "tools:memory-tool:stays-inside": Requirement("The memory tool cannot leave its directory.", "spec 8 §1.10"),
    "tools:span:reads-again": Requirement("What was left out of view can be read again.", "product §2"),
    "tools:plan:shown": Requirement("A plan is put before the user as it was written.", "issue 5 §3"),
}
