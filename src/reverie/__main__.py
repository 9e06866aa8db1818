"""The `reverie` program.

What must be instant is answered before anything else is imported; the rest is the matter of `reverie.apps.cli`.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and end the process with its exit code."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        _open_closed_streams()
    if sys.argv[1:] in (["--version"], ["-V"]):
        from reverie import __version__

        sys.stdout.write(f"reverie {__version__}\n")
        return
    if sys.argv[1:2] == ["hook"] and len(sys.argv) > 2 and not {"-h", "--help"}.intersection(sys.argv):
        # A host waits for this at every prompt; the command line's parser would take a quarter of the time.
        from reverie.apps.hook.run import main as run_hook

        sys.exit(run_hook(sys.argv[2:]))
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


if __name__ == "__main__":
    main()
