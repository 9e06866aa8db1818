"""How people reach it.

`config` (environment, files and flags become settings), `agreed` (as far as the user trusts the project), `wiring`
(settings become objects), `rows` (what inspectors show, as pure rows), `session_figures` (what only reading a whole
session tells), `replay` (recorded sessions through a strategy), `amounts` (numbers as people say them), `plain` (words
of others that must not steer a terminal), `model_list` (models a user can switch to), `compact_argument` (what stands
behind `/compact`), `cli` (one file per command), `tui` (the terminal agent), `demo` (what `make demo` shows).
"""
