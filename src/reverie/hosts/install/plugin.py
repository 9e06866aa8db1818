"""The plugin directory that Claude Code, Codex, Copilot and Qwen take as it is, and the plugin file of opencode."""

from __future__ import annotations

import json
from pathlib import Path
from shlex import quote

from reverie.files import write_many

MARKETPLACE = NAME = "reverie"
_EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")
_DESCRIPTION = "One memory for every agent: recalls what matters for a prompt and learns from finished turns."


def write_plugin(home: Path, hook: Path, program: Path, version: str) -> Path:
    """Write the directory below our home; it is a marketplace with one plugin. Returns the marketplace."""
    root = home / "plugin"
    plugin = root / NAME
    owner = {"name": NAME}
    hooks = {
        # Without --agent: the same file serves four agents, and the caller is recognised by what it sends.
        event: [{"hooks": [{"type": "command", "command": f"{quote(str(hook))} {event}", "timeout": 3}]}]
        for event in _EVENTS
    }
    documents = {
        root / ".claude-plugin/marketplace.json": {
            "name": MARKETPLACE,
            "owner": owner,
            "plugins": [{"name": NAME, "source": f"./{NAME}", "description": _DESCRIPTION}],
        },
        plugin / ".claude-plugin/plugin.json": {"name": NAME, "version": version, "description": _DESCRIPTION},
        plugin / "hooks/hooks.json": {"description": _DESCRIPTION, "hooks": hooks},
        plugin / ".mcp.json": {"mcpServers": {NAME: {"command": str(program), "args": ["mcp"]}}},
    }
    write_many([(path, json.dumps(document, indent=2) + "\n") for path, document in documents.items()], mode=0o600)
    return root


def opencode_plugin(hook: str) -> str:
    """The plugin file of opencode: it calls the same program as the hooks of other agents."""
    return _OPENCODE.replace("HOOK", json.dumps(hook))


_OPENCODE = """\
// Written by `reverie install opencode`; `reverie install opencode --remove` takes it out.
import { spawn } from "node:child_process"

const hook = HOOK

function call(event, payload) {
  return new Promise((resolve) => {
    try {
      const child = spawn(hook, [event, "--agent", "opencode"], { stdio: ["pipe", "pipe", "ignore"] })
      const timer = setTimeout(() => child.kill(), 5000)
      let text = ""
      child.stdout.on("data", (data) => (text += data))
      child.on("error", () => resolve({}))
      child.on("close", () => {
        clearTimeout(timer)
        try { resolve(text.trim() ? JSON.parse(text) : {}) } catch { resolve({}) }
      })
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(payload))
    } catch { resolve({}) }
  })
}

export const Reverie = async ({ directory, client }) => {
  const starts = new Map()
  const payload = (session, more) => ({ session_id: session, cwd: directory, ...more })
  const show = (message) => {
    if (message) Promise.resolve(client?.tui?.showToast?.({ body: { message, variant: "info" } })).catch(() => {})
  }
  const start = (session) => {
    if (!starts.has(session)) starts.set(session, call("SessionStart", payload(session, { source: "startup" })))
    return starts.get(session)
  }
  return {
    "experimental.chat.system.transform": async (input, output) => {
      if (!input?.sessionID) return
      const { context } = await start(input.sessionID)
      if (context) output.system.push(context)
    },
    "chat.message": async (input, output) => {
      const typed = output.parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
      const prompt = typed.map((part) => part.text).join("\\n")
      if (!prompt.trim()) return
      await start(input.sessionID)
      const answer = await call("UserPromptSubmit", payload(input.sessionID, { prompt, prompt_id: output.message?.id }))
      show(answer.message)
      if (answer.context) {
        const id = "prt_" + Date.now().toString(16).padStart(12, "0") + Math.random().toString(36).slice(2, 16)
        output.parts.push({ id, sessionID: input.sessionID, messageID: output.message.id, type: "text",
          text: answer.context, synthetic: true })
      }
    },
    "experimental.session.compacting": async (input, output) => {
      const { context } = await call("PreCompact", payload(input.sessionID, {}))
      if (context) output.context.push(context)
    },
    event: async ({ event }) => {
      const session = event?.properties?.sessionID
      if (event?.type === "session.idle" && session) show((await call("Stop", payload(session, {}))).message)
    },
  }
}
"""
