from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie.errors import Damaged
from reverie.messages.trajectory import read_recording
from reverie.messages.view import ItemKind, project
from tests.messages.violations import violations
from tests.requirements import requirement


@requirement("messages:trajectory:pairs")
def test_commands_become_calls_and_outputs_their_results(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    messages = [
        {"role": "system", "content": "You have a shell."},
        {"role": "user", "content": "Fix it."},
        {"role": "assistant", "content": "THOUGHT: look\n\n```bash\nls -R\n```"},
        {"role": "user", "content": "<returncode>2</returncode>\n<output>\nno such file</output>"},
        {"role": "assistant", "content": "no command here"},
        {"role": "user", "content": "give exactly one command"},
    ]
    path.write_text(json.dumps({"messages": messages}), encoding="utf-8")

    view = project(read_recording(path))

    assert [item.kind for item in view.items] == [
        ItemKind.TYPED,
        ItemKind.REPLY,
        ItemKind.RESULT,
        ItemKind.REPLY,
        ItemKind.TYPED,
    ]
    assert view.system[0].text == "You have a shell."
    assert view.items[1].message.tool_uses[0].input == {"command": "ls -R"}
    assert view.items[1].message.text == "THOUGHT: look"
    assert view.items[2].message.tool_results[0].is_error


@requirement("messages:trajectory:pairs")
def test_real_trajectories_are_whole_conversations(shared_data: Path) -> None:
    for path in sorted((shared_data / "trajectories").rglob("*.json")):
        recorded = json.loads(path.read_text(encoding="utf-8"))["messages"]

        view = project(read_recording(path))

        assert violations(view.messages) == (), path
        assert len(view.items) == len(recorded) - 1
        assert sum(item.kind is ItemKind.RESULT for item in view.items) >= len(recorded) // 2 - 4


@requirement("messages:trajectory:pairs")
def test_another_document_is_named_as_damaged(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text("[1, 2]", encoding="utf-8")

    with pytest.raises(Damaged, match=r"other\.json"):
        read_recording(path)
