"""How people reach it.

`config` (environment, files and flags become settings), `wiring` (settings become objects), `rows` (what inspectors
show, as pure rows), `session_figures` (what only reading a whole session tells), `replay` (recorded sessions through a
strategy), `cli` (one file per command), `demo` (what `make demo` shows).
"""
