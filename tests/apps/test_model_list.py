from __future__ import annotations

import json
from pathlib import Path

from reverie.apps.model_list import list_models
from reverie.settings.load import SettingsFlags, load
from reverie.testing.loopback import Canned, LoopbackServer, ReceivedRequest
from tests.requirements import requirement


def serve_models(heard: ReceivedRequest) -> Canned:
    assert heard.path == "/v1/models"
    return Canned((json.dumps({"data": [{"id": "llama-3"}]}).encode(),), headers={"content-type": "application/json"})


@requirement("tui:commands:model")
def test_models_of_the_settings_of_a_server_and_of_the_providers_are_listed(tmp_path: Path) -> None:
    (tmp_path / ".reverie").mkdir()
    settings = '[models.mine]\nprovider = "openai"\nmodel = "qwen"\nbase_url = "http://127.0.0.1:9/v1"\n'
    (tmp_path / ".reverie" / "settings.toml").write_text(settings, encoding="utf-8")
    with LoopbackServer(serve_models) as server:
        environ = {"OPENAI_BASE_URL": f"{server.url}/v1"}
        names = list_models(load(SettingsFlags(), environ=environ, user_home=tmp_path, directory=tmp_path))

    listed = dict(names)
    assert len(listed) == len(names), "a list to choose from takes no name twice"
    assert "qwen" in listed["mine"]
    assert "served at" in listed["openai/llama-3"]
    assert "needs ANTHROPIC_API_KEY" in listed["claude-sonnet-4-5"]
    assert "offline" in listed
