"""How people reach it.

`config` (environment, files and flags become settings), `wiring` (settings become objects), `rows` (what inspectors
show, as pure rows), `cli` (one file per command), `demo` (what `make demo` shows).
"""
