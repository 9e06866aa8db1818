"""What a request must look like, in the provider's own words.

Reading order: `check` (the order of all checks), `headers`, `shape` (a small validator), `request` (the fields),
`conversation`, `thinking`, `marks`, `media`, `limits`.
"""
