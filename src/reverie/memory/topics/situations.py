"""When a memory applies: the `when:` of a standing instruction, which need not share words with a request.

The value, whether it holds in a situation (and why), and what can be derived from the text of a rule when it is saved.
How it stands in front matter is `fields.py`; what recall makes of the reasons is its own business.
"""

from __future__ import annotations

import re

from reverie.files.globs import matches_like_gitignore
from reverie.memory.topics.tasks import find_asked_tasks, tasks_spoken_of
from reverie.values import value

RULE_CHARS = 1000
"""A rule stands at the beginning; what comes later is explanation."""

MAX_DERIVED_TASKS = 3
"""A rule that speaks of more kinds of task than this speaks of none in particular."""


@value
class When:
    """The situations a memory speaks to; any one of them is enough."""

    always: bool = False
    files: tuple[str, ...] = ()
    """Globs over the files in play, as in a `.gitignore` line."""
    tools: tuple[str, ...] = ()
    """Names of tools or of programs run by a shell."""
    tasks: tuple[str, ...] = ()
    """Kinds of task, by the names in `tasks.py`."""
    words: tuple[str, ...] = ()
    """Words or phrases of the request."""


@value
class Situation:
    """What is going on when memories are looked for."""

    request: str = ""
    files: tuple[str, ...] = ()
    """Touched in the last turns, relative to the project root."""
    tools: tuple[str, ...] = ()
    """Used in the last turns: names of tools, and programs that a shell ran."""


def matches(when: When, situation: Situation) -> tuple[str, ...]:
    """The reasons why a memory applies now, in words; none when it does not."""
    found = ["it holds always"] if when.always else []
    for pattern in when.files:
        file = next((file for file in situation.files if matches_like_gitignore(pattern, file)), None)
        found += [f"{file} matches {pattern}"] if file is not None else []
    used = {tool.casefold() for tool in situation.tools}
    found += [f"{tool} is in use" for tool in when.tools if tool.casefold() in used]
    asked = find_asked_tasks(situation.request) if when.tasks else {}
    found += [f"the request is about {task} ({asked[task]})" for task in when.tasks if task in asked]
    found += [f"the request says {word!r}" for word in when.words if _says(situation.request, word)]
    return tuple(found)


def derive_when(name: str, description: str, body: str, topic_type: str | None) -> When | None:
    """The situations that the text of a rule names; None where it names none or is no rule."""
    rule = "\n".join((name[:RULE_CHARS], description[:RULE_CHARS], _before_reasons(body[:RULE_CHARS])))
    if topic_type == "user":
        return When(always=True) if _speaks(_MANNER, rule) and _speaks(_DEMAND, rule) else None
    if topic_type != "feedback":
        return None
    files, tools = _find_file_globs(rule), _find_tools(rule)
    tasks = tuple(tasks_spoken_of(rule))
    tasks = tasks if len(tasks) <= MAX_DERIVED_TASKS else ()
    if files or tools or tasks:
        return When(files=files, tools=tools, tasks=tasks)
    return When(always=True) if _speaks(_DEMAND, rule) or _speaks(_MANNER, rule) else None


def _says(request: str, word: str) -> bool:
    phrase = word.strip()
    if not phrase:
        return False
    if phrase.isascii():
        return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", request, re.IGNORECASE) is not None
    return phrase.casefold() in request.casefold()


def _speaks(words: str, rule: str) -> bool:
    return re.search(words, rule, re.IGNORECASE) is not None


def _before_reasons(body: str) -> str:
    """The rule itself: what explains it would name situations of its own."""
    return re.split(r"(?m)^\s*\*{0,2}(?:Why|Reason|Because|原因|理由)\b", body, maxsplit=1)[0]


# Compiled when a rule is saved: most processes only ask whether one holds.
_DEMAND = (
    r"\b(?:always|never|don'?t|do not|must(?: not)?|should(?: not|n't)?|avoid|prefers?|stop|no more|from now on|"
    r"every time|keep|use|ask before|only)\b|总是|永远|从不|绝不|不要|别|禁止|必须|务必|应该|一律|每次|以后|避免|优先|"
    r"必ず|絶対|しない|ください|항상|절대"
)
_MANNER = (
    r"\b(?:answers?|repl(?:y|ies)|responses?|explanations?|tone|emojis?|terse|concise|verbose|brief(?:ly)?|"
    r"summar(?:y|ies)|wording|greetings?|apolog(?:y|ies|ize)|in (?:english|german|chinese|japanese|french|spanish))\b|"
    r"回答|回复|语气|表情|简洁|简短|用中文|用英文|返信|回答は|簡潔|日本語で"
)

_GLOB = r"(?<![\w*/.-])(?:[\w.-]+/)*(?:\*\*/)?\*{1,2}(?:\.[\w*]+)*(?:/[\w.*-]+)*(?![\w*])|(?<![\w/])(?:[\w.-]+/)+\*\*"
_EXTENSION = (
    r"(?<![\w/*])\.(py|js|jsx|ts|tsx|go|rs|rb|java|kt|"
    r"swift|c|h|cpp|cs|php|sql|sh|md|ya?ml|toml|json|css|html|vue|tf|proto)\b"
)
_LANGUAGES = (
    ("python", r"python", ("*.py",)),
    ("typescript", r"typescript", ("*.ts", "*.tsx")),
    ("javascript", r"javascript", ("*.js", "*.jsx")),
    ("rust", r"rust", ("*.rs",)),
    ("go", r"golang|go (?:code|files?)", ("*.go",)),
    ("java", r"java(?= (?:code|files?|class))", ("*.java",)),
    ("ruby", r"ruby", ("*.rb",)),
    ("sql", r"sql", ("*.sql",)),
    ("markdown", r"markdown", ("*.md",)),
    ("css", r"css", ("*.css",)),
    ("stylesheet", r"stylesheets?", ("*.css",)),
    ("script", r"shell scripts?|bash scripts?", ("*.sh",)),
    ("ml", r"ya?ml", ("*.yml", "*.yaml")),
    ("dockerfile", r"dockerfiles?", ("Dockerfile",)),
    ("makefile", r"makefiles?", ("Makefile",)),
    ("terraform", r"terraform", ("*.tf",)),
)
"""What a text must hold at the least, the words that name a language, and its files."""
_TOOLS = (
    r"(?<![\w/.-])(?:(?P<program>git|gh|npm|npx|pnpm|yarn|bun|pip|uv|poetry|conda|docker|kubectl|helm|make|cmake|cargo|"
    r"pytest|tox|ruff|mypy|eslint|prettier|terraform|psql|sqlite3|curl|wget|ssh|rsync|sed|awk|rg|grep)"
    r"|(?P<tool>Bash|Edit|Write|Read|Grep|Glob|WebFetch|WebSearch|Task))(?![\w/.-])"
)


def _find_file_globs(rule: str) -> tuple[str, ...]:
    globs_named = re.finditer(_GLOB, rule) if "*" in rule else ()
    found = [match[0] for match in globs_named if match[0].strip("*/")]
    found += [f"*.{match[1].lower()}" for match in re.finditer(_EXTENSION, rule)]
    lowered = rule.lower()
    for part, words, globs in _LANGUAGES:
        if part in lowered and re.search(rf"(?<![\w-])(?:{words})(?![\w-])", rule, re.IGNORECASE):
            found += globs
    return tuple(dict.fromkeys(found))


def _find_tools(rule: str) -> tuple[str, ...]:
    """Programs as words; tools of the agent, whose names are ordinary words, only in backticks or as `the … tool`."""
    found: list[str] = []
    for match in re.finditer(_TOOLS, rule):
        before, after = rule[max(0, match.start() - 1) : match.start()], rule[match.end() : match.end() + 5]
        is_marked = (before == "`" and after[:1] == "`") or after == " tool"
        is_ordinary_word = match[0] in {"make", "go", "task"} or match["tool"] is not None
        if is_marked or not is_ordinary_word:
            found.append(match[0])
    return tuple(dict.fromkeys(found))
