"""What the model sees: everything that keeps a conversation inside the window, and the contract with its cache.

In reading order. `conversation` is a conversation as it grows; `preparer` makes its next request. `compaction` is the
one driver: the session's loop, `/compact`, `Window` and replay ask it to compact. `stage` is the shape of everything
that reduces a view; `pipeline` runs `spill`, `snip`, `microcompact` and `collapse` before a request, and the
compactions behind the `gate` in their order. `compact` (full and partial) and `notes_compaction` (by the
`session_notes`) ask `summarise` or `digest` for words, `survive` for what must not be lost and `restore` for what
returns; `replacement` makes the entries and the `receipt`. `reactive` answers a provider that refuses. `spans` reads
again what was left out. `prefix` keeps requests extending one another, `cache_breaks` tells where they do not and what
the provider reports, `cache_edits` deletes inside the cache; `strategy` names what is done at all. `fit` shortens
what fits nowhere, `request_options` asks the provider for what the settings want. `facts`, `activity`, `cut`, `prompt`
and `prompts/` serve the others. For other people's loops: `window` (`Window`), `wrap` (a client of
`anthropic`; `wrap_openai` one of `openai`, with `openai_messages`), `client_conversations` (those of one client, with
what was recalled for them), `client_messages` (messages that the caller keeps).
"""
