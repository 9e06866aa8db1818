"""Model servers on this machine, found and offered."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from reverie.apps.model_list import describe_local_models
from reverie.models.choose import Access, choose
from reverie.models.local_servers import PORTS, fetch_model_names, find_local_servers
from reverie.models.openai import OpenAIModel
from reverie.testing.loopback import Canned, LoopbackServer, ReceivedRequest
from tests.requirements import requirement


def serve(heard: ReceivedRequest) -> Canned:
    assert heard.path == "/v1/models"
    return Canned((json.dumps({"data": [{"id": "llama-3"}]}).encode(),), headers={"content-type": "application/json"})


def lead_away(heard: ReceivedRequest) -> Canned:
    return Canned((b"",), status=302, headers={"location": "http://192.0.2.1/v1/models"})


@requirement("models:local-servers")
def test_servers_are_found_at_their_ports_on_loopback_only() -> None:
    with LoopbackServer(serve) as one, LoopbackServer(lead_away) as two:
        ports = {name: urlsplit(server.url).port or 0 for name, server in (("ollama", one), ("vllm", two))}
        (found,) = find_local_servers({**ports, "lmstudio": 9})
    assert (found.name, found.models) == ("ollama", ("llama-3",))
    assert found.base_url.startswith("http://127.0.0.1:")
    assert fetch_model_names("file:///etc/passwd") is None


@requirement("models:local-servers")
def test_a_server_of_this_machine_is_chosen_by_its_name() -> None:
    for name in ("lmstudio", "llamacpp", "vllm"):
        model = choose(f"{name}/qwen", Access())
        assert isinstance(model, OpenAIModel)
        assert model.base_url == f"http://127.0.0.1:{PORTS[name]}/v1"
    assert PORTS == {"ollama": 11434, "lmstudio": 1234, "llamacpp": 8080, "vllm": 8000}
    assert describe_local_models().startswith("local models: ")
