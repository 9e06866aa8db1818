"""How many secrets are found, and what is taken for one: `python -m bench.secrets [gitleaks.toml] [FOLDER …]`.

Secrets of every rule of a gitleaks configuration (else of the engine of the `secrets` extra) are made at run time and
put into the carrier lines of the sample data and into sentences of ten languages. A secret counts as found when
redaction leaves nothing of it; the same for other scanners, whose findings are cut out of the text. Folders hold texts
without secrets: what is found there is a false alarm.
"""
