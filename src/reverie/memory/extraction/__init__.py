"""What was said in a session → memories: found by rules or by a model, and let through by one gate.

In reading order: `candidate` (the values), `typed` (what a person wrote by hand), `cues` (the rules), `dates`,
`wording` and `find` (from a sentence to a candidate).
"""
