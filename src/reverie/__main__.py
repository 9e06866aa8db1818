"""The `reverie` program.

What must be instant is answered before anything else is imported; the rest is the matter of `reverie.apps.cli`.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from types import ModuleType


def main() -> None:
    """Run the command line and end the process with its exit code."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        _open_closed_streams()
    if sys.argv[1:] in (["--version"], ["-V"]):
        from reverie import __version__

        sys.stdout.write(f"reverie {__version__}\n")
        return
    if sys.argv[1:2] == ["recall"]:
        _recall_quickly(sys.argv[2:])
    from reverie.apps.cli.program import run

    sys.exit(run(sys.argv[1:]))


def _open_closed_streams() -> None:
    """Put an empty file where whoever started us closed a stream (`>&-`).

    Otherwise the next file that is opened gets its number, and what is printed lands in it.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))
            setattr(sys, f"__{name}__", getattr(sys, name))


def _recall_quickly(arguments: list[str]) -> None:
    """End the process with the answer; come back when the command line needs more than a quick look."""
    ended_with: list[int] = []
    # The first to be registered is the last to run.
    atexit.register(_leave, ended_with)
    # A process this short never fills the memory that collecting would free.
    gc.disable()
    for name in ("inspect", "ipaddress"):
        sys.modules.setdefault(name, _LateModule(name))
    from reverie.apps.cli.quick_recall import run

    code = run(arguments)
    gc.enable()
    if code is not None:
        ended_with.append(code)
        sys.exit(code)


def _leave(ended_with: list[int]) -> None:
    """Leave without taking every module apart, which takes a tenth of the whole."""
    for code in ended_with:
        for stream in (sys.__stdout__, sys.__stderr__):
            try:
                if stream is not None:
                    stream.flush()
            except OSError:
                pass  # The reader has left.
        os._exit(code)


class _LateModule(ModuleType):
    """Stands for a module, until somebody asks it for something.

    `dataclasses` imports `inspect` for classes without a docstring, of which we have none, and `pathlib` imports
    `ipaddress` for addresses of the web. Both together take longer to import than a query takes.
    """

    def __getattr__(self, name: str) -> object:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        from importlib import import_module

        return getattr(import_module(self.__name__), name)


if __name__ == "__main__":
    main()
