"""What a request must look like, in the provider's own words.

Reading order: `check` (bytes to JSON, the order of all checks, cache marks, media), `headers` (with features and
limits), `shape` (a small validator), `request`, `block_shapes` and `tool_shapes` (the fields), `conversation`,
`thinking`.
"""
