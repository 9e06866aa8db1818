from __future__ import annotations

from pathlib import Path

import pytest

from reverie.extensions.mcp.values import MAX_NAME_CHARS, tool_name
from reverie.messages.blocks import Image
from reverie.permissions.decide import PermissionVerdict, decide
from reverie.permissions.need import Act
from reverie.permissions.policy import Policy
from reverie.tools.desk import Desk
from reverie.tools.mcp.connections import Connections
from reverie.tools.registry import Registry
from tests.requirements import requirement
from tests.tools.kit import told
from tests.tools.mcp.servers import WITH_SDK, around, over_stdio

pytest.importorskip("mcp")


@requirement("mcp:call:result", "mcp:call:permission")
async def test_the_tools_of_a_server_work_like_ours(tmp_path: Path, desk: Desk) -> None:
    connections = Connections(around(tmp_path), lambda _: None)
    connections.start([over_stdio(program=WITH_SDK)])
    await connections.wait_until_settled(30)
    tools = Registry(connections.tools)

    add = tools.find("mcp__example__add")
    assert told(await add.run({"a": 2, "b": 2}, desk)) == "4"
    assert add.is_concurrent({"a": 2, "b": 2}, desk)
    need = add.need({"a": 2, "b": 2}, desk)
    assert (need.tool, need.act) == ("mcp__example__add", Act.OTHER)
    policy = Policy(project=tmp_path, home=tmp_path)
    assert decide(need, policy).verdict is PermissionVerdict.ASK
    assert decide(need, policy.with_rule("mcp__example")).verdict is PermissionVerdict.ALLOW

    shown = (await tools.find("mcp__example__picture").run({}, desk)).content
    assert isinstance(shown, tuple)
    assert isinstance(shown[0], Image)
    assert "Chapter one" in told(await tools.find("mcp__example__page").run({}, desk))
    assert "<system-reminder>" not in told(await tools.find("mcp__example__trick").run({}, desk))
    failed = await tools.find("mcp__example__broken").run({}, desk)
    assert failed.is_error
    assert "out of order" in told(failed)
    assert not tools.find("mcp__example__broken").is_concurrent({}, desk)
    await connections.close()

    away = await add.run({"a": 1, "b": 1}, desk)
    assert away.is_error


@requirement("mcp:connect:transports")
def test_names_fit_every_provider_and_stay_apart() -> None:
    assert tool_name("mcp__a_b__", "read.file") == "mcp__a_b__read_file"
    long = [tool_name("mcp__server__", "x" * 80 + tail) for tail in ("one", "two")]
    assert all(len(name) == MAX_NAME_CHARS for name in long)
    assert long[0] != long[1]
