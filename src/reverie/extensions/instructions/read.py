"""Reads one instruction file within limits; a file that is too large, binary or unreadable gives a message."""

from __future__ import annotations

import os
from pathlib import Path, PurePath

from reverie.extensions.instructions.instruction_file import Identity
from reverie.files import read_small
from reverie.settings import InstructionsSettings
from reverie.values import value

_EXTENSIONS = """
adoc asciidoc asm astro awk bash bat bib bicep bzl c cc cfg cjs clj cljs cmake cmd cnf conf config cpp cs csproj css
csv cts cue cxx d dart diff dockerfile dockerignore editorconfig edn ejs el elm eex erb erl ex exs f90 feature fish fs
fsx gemspec gitattributes gitignore go gql gradle graphql groovy h haml handlebars hbs hcl heex hpp hrl hs htm html
hxx ini ipynb j2 java jinja jinja2 jl js json json5 jsonc jsonl jsx just k kt kts latex less lhs liquid lisp lock log
lua m make markdown md mdc mdx mermaid mjs mk ml mli mm mts mustache nim nix njk nu org patch phtml php pl plantuml pm
po pot prisma properties proto ps1 psd1 psm1 puml pug py pyi pyx qml r rake razor rb rego rkt rmd rs rst rtf sass sbt
scala scm scss sh sln sol sql sty styl sum sv svelte svg swift t tcl template tex text tf tfvars thrift tmpl toml tpl
ts tsv tsx twig txt typ v vb vbproj vhd vhdl vim vue wgsl xhtml xml xsd xsl xslt yaml yml zig zsh
"""
TEXT_EXTENSIONS = frozenset(_EXTENSIONS.split())


@value
class UnreadableFile:
    """Why a file was not taken, as the end of a sentence that begins with its path."""

    why: str


def is_text_name(path: PurePath) -> bool:
    """Whether a name promises text; a name without an ending may."""
    ending = path.suffix.removeprefix(".").lower()
    return not ending or ending in TEXT_EXTENSIONS


def read_identity(path: Path) -> Identity | None:
    """Which file this name leads to; None when it leads to none."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def read_text(path: Path, settings: InstructionsSettings) -> str | UnreadableFile:
    """The file as text."""
    content = read_small(path, limit_bytes=settings.file_bytes)
    if content is None:
        if not path.is_file():
            return UnreadableFile("is not a plain file")
        size_bytes = path.stat().st_size
        if size_bytes > settings.file_bytes:
            return UnreadableFile(
                f"has {size_bytes:,} bytes, more than the {settings.file_bytes:,} that are loaded "
                "(instructions.file_bytes); split it"
            )
        return UnreadableFile("cannot be read; check its permissions" if not os.access(path, os.R_OK) else "changed")
    if b"\0" in content[:8_192]:
        return UnreadableFile("is not text in UTF-8")
    return content.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
