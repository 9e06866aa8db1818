"""The loop.

`flow` drives everything that asks a model without holding one, `events` says what happens in a turn, `log` is a
conversation as it grows, `preparing` makes its requests.

What the model is told: `prompt` (the system text by sections), `memory_rules`, `output_style`, `git_status`,
`user_context` (the first message), `prompt_text` (the Markdown files under `prompts/`).

Beside the conversation: `tasks` (background work that anybody can list and stop), `fork` (a child that shares the
conversation), `children` (those that run), `child_hooks`, `worktree`, `progress_lines` (what they do), `mailbox`,
`team` and `message_socket` (words between agents).
"""
