"""File system basics: durable writes, locks, paths, trust, the secret scan.

Reading order: `durable` (atomic writes, appends, removal), `locks` (one holder at a time), `inside` (paths that stay
below a root), `programs` (starts other programs), `git` (the git program, with everything off that a repository could
steer), `places` (where every file lies, and which project a directory belongs to), `trust` (what the user agreed to of
a project), `secret_scan` (what must never be stored), `front_matter` (the YAML head of a Markdown file), `merge`
(three-way merge of texts), `globs` (patterns over paths), `background_tasks` (running work, one JSON file each).
"""

from reverie.files.durable import (
    append_lines,
    flush,
    hold_appenders,
    remove_file,
    remove_temporaries,
    write_at,
    write_atomic,
    write_folder,
    write_many,
)
from reverie.files.inside import (
    check_name,
    is_encodable,
    is_inside,
    open_folder,
    open_real,
    read_small,
    safe_join,
    write_real,
)
from reverie.files.locks import Holder, exclusive, is_gone, locked, present_holder, read_holder

__all__ = [
    "Holder",
    "append_lines",
    "check_name",
    "exclusive",
    "flush",
    "hold_appenders",
    "is_encodable",
    "is_gone",
    "is_inside",
    "locked",
    "open_folder",
    "open_real",
    "present_holder",
    "read_holder",
    "read_small",
    "remove_file",
    "remove_temporaries",
    "safe_join",
    "write_at",
    "write_atomic",
    "write_folder",
    "write_many",
    "write_real",
]
