"""Scripts that run inside a peer's own environment: a case in, then questions in and keys out (`protocol.py`)."""
