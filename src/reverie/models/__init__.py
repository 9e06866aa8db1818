"""Model providers, profiles, prices and token counts.

Reading order: `ports` (`Model`, `Request`, events: the protocol), `from_settings` (which model, how it is reached),
`choose` (a name becomes a model), `flow` (asking one and waiting, and the driver of everything that asks a model
without holding one), `ledger` (what every call cost), `offline` (no network), `anthropic` with `request_body` and
`messages_stream`, `openai` with `chat_body` and `chat_stream`, `command` (a program of another vendor answers) with
`command_programs` (how each is asked and read), `local_servers` (what answers on this machine), and what the first two
share: `connection` (clients and time-outs),
`faults` (an HTTP failure becomes an error of ours), `retry` (which failures are worth another try),
`received` (what arrives is made fit to be kept). `names` and `profiles` are the table of models, `tokens` counts.
Vendor SDKs are imported where a request is made, never when these modules are.
"""
