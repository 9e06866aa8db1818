"""Golden files: what users and other programs see, so that a rebuilt inside is shown to change nothing.

`json/` what commands print with `--json`; `requests/` what reaches a provider; `files/` what is written to disk;
`names/` public Python names; `kept-0.1.0/` a home of that version which every later one opens.

`pytest tests/golden --update-golden` rewrites all of them except `kept-0.1.0/`, which is written only where it is
missing; a change on purpose is a commit of its own.
"""
