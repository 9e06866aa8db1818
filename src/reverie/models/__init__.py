"""Who answers.

Reading order: `choose` (a name becomes a model), `answer` (ask one and wait), `offline` (no network), `anthropic` with
`messages_stream`, `openai` with `chat_body` and `chat_stream`, and what both share: `connection` (clients and
time-outs), `faults` (an HTTP failure becomes an error of ours), `retry` (which failures are worth another try),
`received` (what arrives is made fit to be kept). Vendor SDKs are imported where a request is made, never when these
modules are.
"""
