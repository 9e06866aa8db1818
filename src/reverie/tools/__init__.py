"""The tools that a model can call.

The shapes: `tool` is the shape of every tool, `desk` what all tools of one agent share, `seen_files` which files it has
read. `describe` and `schema` say how a tool is told of and hold its input against that; `registry` finds tools by name,
`standard` lists those that every agent has.

Files: `reach` (a path must lead where it led when the call was judged), `lines` (text as it is shown), `read`, `edit`
and `write`. Search: `walk` (which files there are), `glob`, `grep` by `ripgrep` or `line_search`. Commands: `process`,
`shell_output` (which hides our keys), `shells`, `bash`. Others: `agent` and `send_message`. The rest: `tasks`, `plan`,
`span`, `remember`, `memory_files` (the provider's own memory tool), `web_fetch` with `page_fetch`, `web_search`,
`skill`, and `mcp` (tools of other servers) with `tool_search`.
"""
