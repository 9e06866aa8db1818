"""How `make docs` builds the site: Sphinx reads the Markdown files of the project as they are; a warning is an error.

The README is the home page; the sidebar is `SIDEBAR`, which only the site has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reverie import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SIDEBAR = {
    "Guides": ("guides/companion", "guides/agent", "guides/python", "guides/notebook", "team", "server"),
    "Using it": (
        *("memory", "session", "background", "inspect", "other-agents", "mcp", "extensions"),
        *("troubleshooting", "comparison"),
    ),
    "Reference": (
        *("reference/cli", "reference/settings", "reference/python", "formats", "security", "recall", "scale"),
        *("simulator", "glossary"),
    ),
    "Taking part": ("/CONTRIBUTING", "architecture", "/AGENTS", "adr/README", "/bench/*", "/CHANGELOG", "/NOTICES"),
}
"""Pages below `docs`, or from the root of the project."""

project = "Reverie"
author = "the authors of Reverie"
copyright = "the authors of Reverie, Apache-2.0"  # noqa: A001 - Sphinx's name
version = release = __version__

root_doc = "README"
include_patterns = ["*.md", "bench/*.md", "docs/*.md", "docs/**/*.md"]
exclude_patterns = ["CLAUDE.md"]
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4

html_theme = "furo"
html_title = f"Reverie {__version__}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "native"


def setup(app: Sphinx) -> None:
    """Give the home page its sidebar."""
    app.connect("source-read", _add_sidebar)


def _add_sidebar(_app: Sphinx, page: str, text: list[str]) -> None:
    if page == "docs/adr/README":
        text[0] += _contents("Decisions", ["0*"])
    if page == root_doc:
        for caption, pages in SIDEBAR.items():
            text[0] += _contents(caption, [name if name.startswith("/") else f"/docs/{name}" for name in pages])


def _contents(caption: str, pages: Sequence[str]) -> str:
    return "\n".join(["", "```{toctree}", ":hidden:", ":glob:", f":caption: {caption}", "", *pages, "```", ""])
