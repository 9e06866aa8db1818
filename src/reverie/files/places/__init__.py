"""Computes every path that the program uses, and which project a folder belongs to.

Reading order: `paths` (where everything lies), `slug` (a path as the name of a folder), `checkout` (the repository
around a path, its configuration and remotes), `git_programs` (what its configuration would run, as git tells),
`identity` (the store of a project, found again after a move), `memory_directory` (which directory holds the memories),
`transcripts` (all sessions of a repository). Nothing here reads the environment; only `git_programs` runs a program.
"""

from reverie.files.places.checkout import Checkout, find_checkout, list_worktrees, normalise_remote, project_root
from reverie.files.places.identity import (
    Identity,
    IdentityEvidence,
    Project,
    find_project,
    list_projects,
    memory_folder,
    open_project,
    read_identity,
    validate_memory_directory,
)
from reverie.files.places.paths import (
    AgentScope,
    InstructionFiles,
    MemoryFolder,
    Places,
    ProjectFolder,
    SessionFolder,
    SettingsFiles,
    canonical,
    slug,
    slug_of,
)

__all__ = [
    "AgentScope",
    "Checkout",
    "Identity",
    "IdentityEvidence",
    "InstructionFiles",
    "MemoryFolder",
    "Places",
    "Project",
    "ProjectFolder",
    "SessionFolder",
    "SettingsFiles",
    "canonical",
    "find_checkout",
    "find_project",
    "list_projects",
    "list_worktrees",
    "memory_folder",
    "normalise_remote",
    "open_project",
    "project_root",
    "read_identity",
    "slug",
    "slug_of",
    "validate_memory_directory",
]
