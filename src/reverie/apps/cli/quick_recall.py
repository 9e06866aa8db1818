"""`reverie recall` without click, which takes longer to import than the answer takes to find.

Only command lines that are plainly right are understood: words, and the flags of `recall.py` in full, each with its
value. Everything else (help, completion, mistakes, abbreviations, flags before the command) is left to click, and a
test compares the two on every line that is understood here.
"""

from __future__ import annotations

from collections.abc import Sequence

from reverie.apps.cli.recall_answer import RecallSaid, answer
from reverie.apps.cli.which import Common, Which

_SWITCHES = {"--fresh": "fresh", "--words": "words", "--full": "full", "--json": "as_json", "--user": "is_user"}
_SINGLE = {"--limit": "limit", "--context": "context", "--project": "project", "--memory-dir": "directory"}
_REPEATED = {"--exclude": "exclude", "--file": "files", "--tool": "tools"}


def run(arguments: Sequence[str]) -> int | None:
    """Answer what follows `reverie recall`; None when click must look at it."""
    from reverie.apps.cli.exits import DONE, ended

    understood = parsed(arguments)
    if understood is None:
        return None

    def act() -> int:
        answer(*understood)
        return DONE

    return ended(act)


def parsed(arguments: Sequence[str]) -> tuple[Which, RecallSaid] | None:
    """What a plain command line says."""
    query: list[str] = []
    switches: set[str] = set()
    single: dict[str, str] = {}
    repeated: dict[str, list[str]] = {name: [] for name in _REPEATED.values()}
    rest = iter(arguments)
    for argument in rest:
        if not argument.startswith("-"):
            query.append(argument)
        elif argument in _SWITCHES:
            switches.add(_SWITCHES[argument])
        else:
            given = next(rest, "-")
            if given.startswith("-"):
                return None
            if argument in _SINGLE:
                single[_SINGLE[argument]] = given
            elif argument in _REPEATED:
                repeated[_REPEATED[argument]].append(given)
            else:
                return None
    limit = single.get("limit")
    if not query or (limit is not None and not (limit.isascii() and limit.isdecimal() and int(limit) > 0)):
        return None
    which = Which(Common(), single.get("project"), single.get("directory"), "is_user" in switches)
    return which, RecallSaid(
        query=tuple(query),
        limit=None if limit is None else int(limit),
        exclude=tuple(repeated["exclude"]),
        files=tuple(repeated["files"]),
        tools=tuple(repeated["tools"]),
        context=single.get("context", ""),
        fresh="fresh" in switches,
        words="words" in switches,
        full="full" in switches,
        as_json="as_json" in switches,
    )
