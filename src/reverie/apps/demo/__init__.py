"""The demonstration: three weeks of a team, told in a minute; `make demo`, and a home for `reverie inspect --demo`.

- `script`: the sessions of the story as people read them (`story/`); `migration`: the long one.
- `project`: the repository that they work on; `simulated_model`: who answers in them.
- `home`: plays the weeks through the real program, with a clock of its own.
- `compare`: the long session under several strategies, and what each has forgotten.
- `chapters`: the story as it is told; `team`: its end, with a server; `page`: how it is printed.
"""
