"""How much of what a session needs next is still there after a reduction. Run with `python -m bench.fidelity`.

`sessions` reads recorded sessions; `passages` makes text of items; `identifiers` finds what can be needed again; `cuts`
chooses where to compact; `score` measures what is visible and what is reachable; `strategies` are ours and the simple
ones; `with_langchain` and `with_openhands` drive those of others through a `pipe` to `langchain_child` and
`openhands_child`, each in an environment of its own; `spending` replays a session for cost and cache; `measure` runs it
all, and `matched` compares costs at equal fidelity.
"""
