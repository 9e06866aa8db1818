"""How long commands take to start, beside a bare interpreter."""
