"""Scripts that run inside a peer's own environment: documents in on the first line, then question in, keys out."""
