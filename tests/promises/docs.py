"""What we promise of the documents and the code's own words."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "docs:packages:reading-order": Requirement(
        "Every package lists its modules in reading order, and every module says what it owns."
    ),
    "docs:packages:one-meaning": Requirement("A public class name has one meaning."),
    "docs:exports": Requirement(
        "Every public name loads when it is asked for, and `import reverie` loads nothing else."
    ),
    "docs:reference": Requirement(
        "The references of commands, settings and Python are generated from the code, and the pages are current."
    ),
    "docs:licences": Requirement("Every dependency is listed with its licence and what brings it."),
    "docs:notebook": Requirement(
        "In a notebook plain calls work while a loop is running, results are readable, and a session learns."
    ),
    "docs:examples:run": Requirement("Every example in the documents runs."),
    "docs:true": Requirement(
        "What the documents name is there: files, links, commands, keys, modes, events, settings, layers."
    ),
    "docs:figures": Requirement(
        "Figures in the README and in the report come from one run of `make bench` and are not typed by hand; what "
        "could not be measured is said in words."
    ),
    "docs:no-machine-paths": Requirement("No file names a machine's path or a package registry's host."),
}
