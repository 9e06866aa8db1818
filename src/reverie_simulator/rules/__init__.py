"""What a request must look like, in the provider's own words.

Reading order: `check` (the order of all checks), `headers` and `features`, `body` (bytes to JSON), `shape` (a small
validator), `request`, `block_shapes` and `tool_shapes` (the fields), `conversation`, `thinking`, `marks`, `media`,
`limits`.
"""
