"""The `reverie` program.

What must be instant is answered before anything else is imported; the rest is the matter of `reverie.apps.cli`.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and end the process with its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from reverie import __version__

        sys.stdout.write(f"reverie {__version__}\n")
        return
    from reverie.apps.cli.program import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
