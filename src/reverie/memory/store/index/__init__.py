"""MEMORY.md: one generated line per topic, between the user's own prose.

`memory_md` reads and writes its lines and cuts it to its limits, `edits` takes over what was changed in it by hand and
joins the user's lines of two; `catalogue` keeps what it must know of every topic up to date, on disk.
"""
