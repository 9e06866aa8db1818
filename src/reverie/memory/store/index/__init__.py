"""MEMORY.md: one generated line per topic, between the user's own prose.

`memory_md` writes it and cuts it to its limits, `lines` knows one line, `edits` reads what was changed in it by hand,
`prose` joins the user's lines of two; `catalogue` keeps what it must know of every topic at hand, and `row_table` keeps
that on disk.
"""
