"""The `reverie` program.

What must be instant is answered before anything else is imported; the rest is the matter of `reverie.apps.cli`.
"""

from __future__ import annotations

import sys
from types import ModuleType


def main() -> None:
    """Run the command line and end the process with its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from reverie import __version__

        sys.stdout.write(f"reverie {__version__}\n")
        return
    if sys.argv[1:2] == ["recall"]:
        sys.modules.setdefault("inspect", _LateInspect("inspect"))
        from reverie.apps.cli.quick_recall import run as recall

        code = recall(sys.argv[2:])
        if code is not None:
            sys.exit(code)
    from reverie.apps.cli.program import run

    sys.exit(run(sys.argv[1:]))


class _LateInspect(ModuleType):
    """Stands for `inspect`, which takes longer to import than a query takes, until somebody asks it for something.

    `dataclasses` imports it for classes without a docstring, of which we have none.
    """

    def __getattr__(self, name: str) -> object:
        if sys.modules.get("inspect") is self:
            del sys.modules["inspect"]
        import inspect

        return getattr(inspect, name)


if __name__ == "__main__":
    main()
