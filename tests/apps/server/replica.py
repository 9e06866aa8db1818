"""A whole server, `reverie serve`, in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Replica:
    """One `reverie serve` process, which can be killed and started again on its port."""

    database_url: str
    home: Path
    port: str = "0"
    url: str = ""
    process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        environment = {
            **{name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ},
            "HOME": str(self.home),
            "REVERIE_DATABASE_URL": self.database_url,
            "REVERIE_SERVER_REQUESTS_PER_MINUTE": "0",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "reverie", "serve", "--port", self.port],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
            cwd=self.home,
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        assert self.url.startswith("http://")
        self.port = self.url.rpartition(":")[2]

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def stop(self) -> None:
        """Kill it if it runs."""
        if self.process is not None and self.process.poll() is None:
            self.kill()
