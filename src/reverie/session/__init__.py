"""The loop. Start reading here.

A turn: `loop` (until the model stops asking), `tool_calls` (permitted, framed by hooks, run, answered in order),
`desk_changes` (what of it scripts hear of), `compacting` (the gate and what follows it), `events` (what happens, as
values), `log` (a conversation as it grows), `preparing` (its requests), `cache_watch` (whether the provider kept them),
`ledger` (what they cost), `file_history` (going back with files), `hooking` (what is needed of the user's scripts).
`flow` drives everything that asks a model without holding one.

What the model is told: `prompt` (the system text by sections), `memory_rules`, `output_style`, `git_status`,
`user_context` (the first message), `prompt_text` (the Markdown files under `prompts/`).

Beside the conversation: `tasks` (background work that anybody can list and stop), `chores` (that of a session, run
after run), `fork` (a child that shares the conversation), `children` (those that run), `child_hooks`, `worktree`,
`progress_lines` (what they do), `mailbox`, `team` and `message_socket` (words between agents).
"""
