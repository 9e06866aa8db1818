from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.messages.blocks import JsonObject
from reverie.permissions.need import Act
from reverie.settings import Settings
from reverie.tools.agent import AgentTool, Order
from reverie.tools.desk import Desk
from reverie.tools.registry import Registry
from reverie.tools.send_message import Outgoing, SendMessage, outgoing
from reverie.tools.tool import ToolAnswer, ToolMistake
from tests.requirements import requirement


def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, tmp_path, tmp_path, Settings(), lambda: datetime(2026, 11, 15, tzinfo=UTC), {})


@requirement("forks:tool:starts", "agents:listing:attachment")
async def test_the_agent_tool_hands_over_what_was_asked_and_names_no_role(tmp_path: Path) -> None:
    orders: list[Order] = []

    async def start_agent(order: Order) -> ToolAnswer:
        orders.append(order)
        return ToolAnswer("done")

    tool = Registry([AgentTool(start_agent)]).find("Agent")
    given: JsonObject = {"description": "look", "prompt": "look at it", "run_in_background": True, "name": "n"}
    assert tool.is_concurrent(given, desk(tmp_path))
    assert tool.need(given, desk(tmp_path)).subject == "fork"
    assert tool.need({**given, "subagent_type": "Plan"}, desk(tmp_path)).subject == "Plan"
    assert (await tool.run(given, desk(tmp_path))).content == "done"
    assert (orders[0].kind, orders[0].in_background, orders[0].name) == ("", True, "n")
    assert "Explore" not in tool.spec.description
    for rule in ("Never hand over understanding", "Do not peek", "Do not race"):
        assert rule in tool.spec.description
    with pytest.raises(ToolMistake):
        tool.need({"prompt": "x"}, desk(tmp_path))


@requirement("mailbox:send:structured")
async def test_a_message_to_another_session_needs_a_yes(tmp_path: Path) -> None:
    async def send(_: Outgoing) -> str:
        return "sent"

    tool = Registry([SendMessage(send)]).find("SendMessage")
    inside: JsonObject = {"to": "tess", "message": "hello"}
    assert tool.need(inside, desk(tmp_path)).act is Act.NONE
    for to in ("uds:/tmp/x.sock", "bridge:abc"):
        assert tool.need({**inside, "to": to}, desk(tmp_path)).act is Act.OTHER
    assert (await tool.run(inside, desk(tmp_path))).content == "sent"
    answer = outgoing({"to": "t", "message": {"type": "shutdown_response", "request_id": "1", "approve": False}})
    assert (answer.kind, answer.request_id, answer.approve) == ("shutdown_response", "1", False)
