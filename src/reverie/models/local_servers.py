"""Finds model servers on this machine: Ollama, LM Studio, llama.cpp, vLLM, at their usual ports.

Only loopback addresses are asked, without a proxy and without following a redirect, and only for their list of models.
What is found is offered to the user; nothing uses it unasked.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from typing import Any

from reverie.values import value

PORTS: Mapping[str, int] = {"ollama": 11434, "lmstudio": 1234, "llamacpp": 8080, "vllm": 8000}
"""The servers, by what stands before the slash of their models' names, and the ports on which they usually listen."""
_SECONDS = 1.0
_MOST_BYTES = 1_000_000
_MOST_MODELS = 50


@value
class LocalServer:
    """A server that answered with a list of models."""

    name: str
    """A key of `PORTS`: its models are `NAME/MODEL`."""
    base_url: str
    models: tuple[str, ...]


def local_url(name: str) -> str:
    """The address of a server at its usual port."""
    return f"http://127.0.0.1:{PORTS[name]}/v1"


def find_local_servers(ports: Mapping[str, int] = PORTS) -> tuple[LocalServer, ...]:
    """The servers that answer now, all asked at once."""
    with ThreadPoolExecutor(len(ports) or 1) as pool:
        asked = pool.map(lambda named: _ask(*named), ports.items())
        return tuple(server for server in asked if server is not None)


def fetch_model_names(base_url: str) -> list[str] | None:
    """What an OpenAI-compatible server says it has; None where none answers."""
    if not base_url.startswith(("http://", "https://")):
        return None
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect())
    try:
        with opener.open(f"{base_url.rstrip('/')}/models", timeout=_SECONDS) as answer:
            rows = json.loads(answer.read(_MOST_BYTES))["data"]
        return [str(row["id"]) for row in rows][:_MOST_MODELS]
    except (OSError, ValueError, KeyError, TypeError, HTTPException, RecursionError):
        return None


def _ask(name: str, port: int) -> LocalServer | None:
    base_url = f"http://127.0.0.1:{port}/v1"
    models = fetch_model_names(base_url)
    return None if models is None else LocalServer(name, base_url, tuple(models))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A server of this machine may not send us elsewhere."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None
