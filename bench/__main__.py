"""All measurements, one after another: `python -m bench [NAME …]`. Each prints its own table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main(wanted: list[str]) -> int:
    folder = Path(__file__).parent
    names = sorted(path.parent.name for path in folder.glob("*/__main__.py"))
    unknown = [name for name in wanted if name not in names]
    if unknown:
        print(f"no measurement {', '.join(unknown)}; there are {', '.join(names)}", file=sys.stderr)
        return 2
    failed = 0
    for name in wanted or names:
        print(f"\n== {name} ==", flush=True)
        failed += (
            subprocess.run([sys.executable, "-m", f"bench.{name}"], cwd=folder.parent, check=False).returncode != 0
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
