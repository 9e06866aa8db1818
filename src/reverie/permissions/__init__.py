"""Decides which tool calls may run without asking.

Reading order: `need` says what a call would do, `rule` reads one rule and `covers` says what it is about, `policy`
holds mode, rules and roots, `decide` gives the verdict; `run` is its part for shell commands, which `shell` reads from
their text, `real_paths` the part for files. `suggestions` offers rules with a question, `approval` is how a person is
asked and answers, `rules_file` keeps what they granted.
"""
