"""How much of what a session needs next is still there after a reduction. Run with `python -m bench.fidelity`.

`sessions` reads recorded sessions; `passages` makes text of items; `identifiers` finds what can be needed again; `cuts`
chooses where to compact; `score` measures what is visible and what is reachable; `strategies` are ours and the others,
`with_langchain` drives those of LangChain in `langchain_child`, an environment of their own; `spending` replays a
session for cost and cache; `measure` runs it all and `chart` draws it.
"""
