"""The system prompt: fifteen sections in a fixed order, joined to blocks by how long each stays the same.

The static block has the same bytes for everybody; the session block until a compaction; the instructions of tool
servers may change at any turn and so stand behind both, where a change costs least. Git's state comes last. All text
lies in `prompts/`; nothing here reads a clock, a disk or the environment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from reverie.messages.entries import SystemBlock
from reverie.messages.injection import harmless
from reverie.session.memory_prompt import MemoryFacts, memory_rules
from reverie.session.output_style import OutputStyle
from reverie.session.prompt_text import prompt_text
from reverie.values import value

Tier: TypeAlias = Literal["static", "session", "volatile"]

_STATIC = ("identity", "system", "coding", "conduct", "tools", "tone", "brevity")


@value
class PromptFacts:
    """Everything that differs from one session to another."""

    directory: str
    platform: str
    model: str
    system: str = ""
    """Name and release of the operating system."""
    shell: str = ""
    is_git: bool = False
    additional: tuple[str, ...] = ()
    """Further folders that the agent may enter."""
    knowledge_cutoff: str = ""
    """Up to when the model's knowledge is reliable, where that is known."""
    language: str = ""
    """The language of answers, when the user has chosen one."""
    style: OutputStyle | None = None
    is_interactive: bool = True
    """Whether somebody is there to answer."""
    has_agents: bool = False
    has_skills: bool = False
    memory: MemoryFacts | None = None
    """None when memory is off."""
    servers: tuple[tuple[str, str], ...] = ()
    """Names of connected tool servers and what each says about its tools."""
    scratch: str = ""
    token_budget: int | None = None
    """Tokens that the answers of one turn may have together, when the user has set a limit."""
    git_status: str = ""
    """The section made by `opening_prompt.git_status`, once per session."""
    custom: str | None = None
    """Stands in the place of all sections but the one on memory."""
    appended: str = ""


@value
class PromptSection:
    """One section, for who joins them and for who shows what fills the window."""

    name: str
    text: str
    tier: Tier


def system_prompt(facts: PromptFacts) -> tuple[SystemBlock, ...]:
    """The system text as blocks: static, session, then each volatile section by itself."""
    prompt_sections = sections(facts)
    blocks = [SystemBlock(_join_sections(prompt_sections, tier), tier) for tier in ("static", "session")]
    blocks += [SystemBlock(section.text, section.tier) for section in prompt_sections if section.tier == "volatile"]
    return tuple(block for block in blocks if block.text)


def with_servers(system: Sequence[SystemBlock], servers: Sequence[tuple[str, str]]) -> tuple[SystemBlock, ...]:
    """The same system text where it tells of all these servers already; else with that one section rendered anew."""
    heading = prompt_text("mcp").partition("\n")[0]
    old = [place for place, block in enumerate(system) if block.tier == "volatile" and block.text.startswith(heading)]
    servers_text = system[old[0]].text if old else ""
    if all(section in servers_text for section in _each_server(servers)):
        return tuple(system)
    new = SystemBlock(_servers(servers), "volatile")
    place = old[0] if old else sum(block.tier != "volatile" for block in system)
    return (*system[:place], new, *system[place + len(old) :])


def sections(facts: PromptFacts) -> tuple[PromptSection, ...]:
    """All sections that say something, in their order."""
    prompt_sections = _default(facts) if facts.custom is None else _custom(facts)
    prompt_sections += [
        PromptSection("appended", facts.appended, "session"),
        # Servers come and go; what stands behind their section would be lost with it, so only what is small does.
        PromptSection("servers", _servers(facts.servers) if facts.custom is None else "", "volatile"),
        PromptSection("git_status", facts.git_status, "volatile"),
    ]
    return tuple(section for section in prompt_sections if section.text.strip())


def _default(facts: PromptFacts) -> list[PromptSection]:
    static = [PromptSection(name, prompt_text(name), "static") for name in _STATIC]
    session = {
        "guidance": _guidance(facts),
        "memory": memory_rules(facts.memory) if facts.memory is not None else "",
        "environment": _environment(facts),
        "language": prompt_text("language", language=facts.language) if facts.language else "",
        "style": _style(facts.style) if facts.style is not None else "",
        "scratch": prompt_text("scratch", scratch=facts.scratch) if facts.scratch else "",
        "token_budget": prompt_text("token_budget", tokens=f"{facts.token_budget:,}") if facts.token_budget else "",
    }
    return [*static, *(PromptSection(name, text, "session") for name, text in session.items())]


def _custom(facts: PromptFacts) -> list[PromptSection]:
    rules = memory_rules(facts.memory) if facts.memory is not None else ""
    return [PromptSection("custom", facts.custom or "", "session"), PromptSection("memory", rules, "session")]


def _guidance(facts: PromptFacts) -> str:
    chosen = ["guidance_interactive" if facts.is_interactive else "guidance_alone"]
    chosen += ["guidance_agents"] if facts.has_agents else []
    chosen += ["guidance_skills"] if facts.has_skills else []
    return "\n".join(["# This session\n", *map(prompt_text, chosen)])


def _environment(facts: PromptFacts) -> str:
    folders = ", ".join(map(_plain, facts.additional))
    further = f"- Further directories you may work in: {folders}\n" if folders else ""
    cutoff = f"- Knowledge cut-off: {facts.knowledge_cutoff}" if facts.knowledge_cutoff else ""
    return prompt_text(
        "environment",
        directory=_plain(facts.directory),
        is_git="yes" if facts.is_git else "no",
        additional=further,
        platform=facts.platform,
        system=facts.system or "unknown",
        shell=facts.shell or "unknown",
        model=facts.model,
        cutoff=cutoff,
    ).rstrip()


def _style(style: OutputStyle) -> str:
    # The static block is shared by everybody, so a style sets its section aside in words instead of taking it out.
    scope = "It adds to what is said above; where the two differ, this style counts."
    replaced = (
        'It takes the place of the section "Working on code" above, and counts wherever it differs from the rest.'
    )
    return prompt_text("style", name=style.name, scope=scope if style.keeps_coding else replaced, text=style.text)


def _each_server(servers: Iterable[tuple[str, str]]) -> list[str]:
    return [f"## {_plain(name)}\n\n{harmless(text).strip()}" for name, text in sorted(servers) if text.strip()]


def _servers(servers: Iterable[tuple[str, str]]) -> str:
    server_texts = _each_server(servers)
    return "\n\n".join([prompt_text("mcp"), *server_texts]) if server_texts else ""


def _plain(name: str) -> str:
    """A name on one line: a folder that somebody else named must not write lines of its own into the prompt."""
    return "".join(char if char.isprintable() else "?" for char in name)


def _join_sections(prompt_sections: Iterable[PromptSection], tier: str) -> str:
    return "\n\n".join(section.text.strip("\n") for section in prompt_sections if section.tier == tier)
