"""A tool server on its standard streams that takes its time: seconds before it answers at all, seconds for a call."""

import json
import sys
import time

STARTS, CALLS = map(float, sys.argv[1:3])
INFO = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "slow", "version": "1"}}
TOOLS = [{"name": "add", "description": "Add numbers.", "inputSchema": {"type": "object", "properties": {}}}]


def answered(method: str) -> object:
    match method:
        case "initialize":
            time.sleep(STARTS)
            return INFO
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            time.sleep(CALLS)
            return {"content": [{"type": "text", "text": "forty-two"}]}
        case _:
            return {}


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answered(asked["method"])}), flush=True)
