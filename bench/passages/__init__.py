"""How fast past sessions are indexed and searched, and how large the index is, beside grep and plain FTS5."""
