"""When a memory applies: the `when:` of a standing instruction, which need not share words with a request.

The value, whether it holds in a situation (and why), and what can be derived from the text of a rule when it is saved.
How it stands in front matter is `fields.py`; what recall makes of the reasons is its own business.

Kinds of task are one table: how requests ask for them, and how rules refer to them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from reverie.files.globs import matches_like_gitignore
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
    """Kinds of task, by the names of `TaskKind`."""
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


def matches(when: When, situation: Situation) -> tuple[tuple[str, str], ...]:
    """Why a memory applies now: each situation's kind (`always`, `file`, `tool`, `task`, `word`) and the reason."""
    reasons = [("always", "it holds always")] if when.always else []
    for pattern in when.files:
        file = next((file for file in situation.files if matches_like_gitignore(pattern, file)), None)
        reasons += [("file", f"{file} matches {pattern}")] if file is not None else []
    used = {tool.casefold() for tool in situation.tools}
    reasons += [("tool", f"{tool} is in use") for tool in when.tools if tool.casefold() in used]
    tasks_asked = find_asked_tasks(situation.request) if when.tasks else {}
    for task in when.tasks:
        if task in tasks_asked:
            reasons.append(("task", f"the request is about {task} ({tasks_asked[task]})"))
    folded = _fold(situation.request) if when.words else ""
    # Most words are not there at all; a pattern for each would take longer than the whole recall.
    words = (word for word in when.words if word.strip().casefold() in folded)
    reasons += [("word", f"the request says {word!r}") for word in words if _says(situation.request, word)]
    return tuple(reasons)


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


def parse_when(texts: Iterable[str]) -> When | None:
    """Situations as people write them, each sorted by what it looks like; None where there are none.

    `always` is itself; a glob, a path or a file name is a file; the name of a program or a tool is a tool; a kind of
    task is a task; everything else is words of a request. `file:`, `tool:`, `task:` and `word:` before it say which.
    """
    sorted_texts: dict[str, dict[str, None]] = {kind: {} for kind in ("always", "file", "tool", "task", "word")}
    for text in texts:
        kind, _, name = (part.strip() for part in text.partition(":"))
        if not (name and kind in _PREFIXES):
            name = " ".join(text.split())
            kind = _kind_of_situation(name)
        if kind == "task":
            name = _find_task_kind(name) or name
        if name:
            sorted_texts[kind][name] = None
    if not any(sorted_texts.values()):
        return None
    return When(bool(sorted_texts["always"]), *(tuple(sorted_texts[kind]) for kind in _PREFIXES))


_PREFIXES = ("file", "tool", "task", "word")
_FILE = r"[^\s:]*/[^\s:]+|[^\s:]+/|[^\s:]*\.[A-Za-z]\w*|Dockerfile|Makefile"
"""A path, or a name with an extension; no address, no sentence."""


def _kind_of_situation(text: str) -> str:
    if text.casefold() == "always":
        return "always"
    if "*" in text or re.fullmatch(_FILE, text):
        return "file"
    if re.fullmatch(_TOOLS, text) or text.startswith("mcp__"):
        return "tool"
    return "task" if _find_task_kind(text) else "word"


def _find_task_kind(text: str) -> str | None:
    """The kind of task that a text names, in any of its forms: `tests`, `Deploying`."""
    return next((kind.name for kind in KINDS if re.fullmatch(_word(f"{kind.name}~"), text, re.IGNORECASE)), None)


@lru_cache(maxsize=16)
def _fold(request: str) -> str:
    """Every rule asks this anew."""
    return request.casefold()


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
    patterns = [match[0] for match in globs_named if match[0].strip("*/")]
    patterns += [f"*.{match[1].lower()}" for match in re.finditer(_EXTENSION, rule)]
    lowered = rule.lower()
    for part, words, globs in _LANGUAGES:
        if part in lowered and re.search(rf"(?<![\w-])(?:{words})(?![\w-])", rule, re.IGNORECASE):
            patterns += globs
    return tuple(dict.fromkeys(patterns))


def _find_tools(rule: str) -> tuple[str, ...]:
    """Programs as words; tools of the agent, whose names are ordinary words, only in backticks or as `the … tool`."""
    tools: list[str] = []
    for match in re.finditer(_TOOLS, rule):
        before, after = rule[max(0, match.start() - 1) : match.start()], rule[match.end() : match.end() + 5]
        is_marked = (before == "`" and after[:1] == "`") or after == " tool"
        is_ordinary_word = match[0] in {"make", "go", "task"} or match["tool"] is not None
        if is_marked or not is_ordinary_word:
            tools.append(match[0])
    return tuple(dict.fromkeys(tools))


@value
class TaskKind:
    """One kind of task."""

    name: str
    asked: str
    """Words of a request that ask for it; a final `~` stands for the usual endings of verbs and nouns."""
    spoken_of: str
    """Words by which a rule says that it is about it."""
    unspaced: str = ""
    """The same in scripts without spaces, for requests and rules alike."""


KINDS: tuple[TaskKind, ...] = (
    TaskKind(
        "test",
        "test~ testcase~ unittest~ pytest jest vitest coverage flaky mock~ fixture~ tdd regression~",
        "test~ testing unittest~ mock~ fixture~ coverage",
        "测试 单测 用例 テスト 테스트",
    ),
    TaskKind("commit", "commit~ squash~ amend~ rebase~ stage", "commit~ rebase~", "提交 コミット 커밋"),
    TaskKind(
        "review",
        "review~ pr prs pull-request~ merge-request~ diff feedback",
        "review~ pr prs pull-request~ merge-request~",
        "评审 审查 代码审查 合并请求 レビュー 리뷰",
    ),
    TaskKind(
        "refactor",
        "refactor~ restructure~ rename~ simplify~ extract~ clean-up deduplicate~ tidy",
        "refactor~ restructure~ rename~",
        "重构 改名 重命名 リファクタ 리팩",
    ),
    TaskKind(
        "debug",
        "debug~ fix~ bug~ error~ crash~ traceback~ fail~ broken investigate~ diagnose~ exception~ stacktrace~",
        "debug~ bug~ bugfix~ incident~ crash~",
        "调试 修复 报错 错误 崩溃 故障 排查 デバッグ バグ 修正 디버그 버그",
    ),
    TaskKind(
        "document",
        "document~ doc docs readme docstring~ changelog~ comment~ tutorial~",
        "document~ doc docs readme docstring~ changelog~ comment~",
        "文档 注释 说明书 ドキュメント コメント 문서 주석",
    ),
    TaskKind(
        "deploy",
        "deploy~ release~ publish~ ship~ rollout rollback production staging",
        "deploy~ release~ publish~ rollout production",
        "部署 发布 上线 回滚 デプロイ リリース 배포",
    ),
    TaskKind(
        "code",
        "implement~ add~ write~ create~ build~ feature~ function~ class~ endpoint~ script~ code~",
        "code coding function~ class~ api~",
        "实现 编写 写代码 新增 开发 函数 接口 実装 追加 구현",
    ),
    TaskKind(
        "database",
        "sql quer~ query migration~ migrate~ schema~ database~ table~ postgres mysql sqlite index~",
        "sql query queries migration~ schema~ database~",
        "数据库 迁移 建表 データベース マイグレーション 데이터베이스",
    ),
    TaskKind(
        "dependency",
        "dependency dependencies install~ upgrade~ package~ bump~ lockfile vendor~",
        "dependency dependencies package~ lockfile",
        "依赖 安装 升级 依存 インストール 의존성",
    ),
    TaskKind(
        "plan",
        "plan~ design~ architect~ propose~ proposal~ rfc estimate~ brainstorm~",
        "plan~ design~ proposal~ rfc estimate~",
        "计划 设计 方案 架构 計画 設計 계획 설계",
    ),
    TaskKind(
        "explain",
        "explain~ describe~ summarize~ summarise~ clarify~ teach~ walk-through",
        "explain~ explanation~ summary summaries",
        "解释 讲解 总结 説明 要約 설명",
    ),
    TaskKind(
        "interface",
        "ui ux css style~ layout~ component~ button~ page~ frontend html",
        "ui ux css layout~ component~ frontend",
        "界面 前端 样式 按钮 画面 フロントエンド 화면",
    ),
    TaskKind(
        "performance",
        "performance optimi~ optimize~ optimise~ slow faster profile~ benchmark~ latency",
        "performance benchmark~ latency profiling",
        "性能 优化 变慢 パフォーマンス 最適化 성능",
    ),
)


EDGE_CHARS = 2000
"""What is asked stands before or after what is pasted; only this much of either end is looked at."""


@lru_cache(maxsize=16)
def find_asked_tasks(request: str) -> Mapping[str, str]:
    """The kinds of task that a request asks for, each with the word that says so. Every rule asks this anew."""
    if len(request) > 2 * EDGE_CHARS:
        request = f"{request[:EDGE_CHARS]}\n{request[-EDGE_CHARS:]}"
    return _find_kinds(request, spoken_of=False)


def tasks_spoken_of(rule: str) -> dict[str, str]:
    """The kinds of task that a rule is about, each with the word that says so."""
    return _find_kinds(rule, spoken_of=True)


def _find_kinds(text: str, *, spoken_of: bool) -> dict[str, str]:
    kinds: dict[str, tuple[int, str]] = {}
    lowered = text.lower()
    for kind in KINDS:
        words = kind.spoken_of if spoken_of else kind.asked
        # Compiling all words takes longer than a whole recall; most have no stem in a text.
        spaced = tuple(word for word, stem in _stems(words) if stem in lowered)
        unspaced = tuple(word for word in kind.unspaced.split() if word.lower() in lowered)
        match = _pattern(spaced, unspaced).search(text) if spaced or unspaced else None
        if match:
            kinds[kind.name] = match.start(), match[0]
    return {name: word for name, (_, word) in sorted(kinds.items(), key=lambda item: item[1])}


@cache
def _stems(words: str) -> tuple[tuple[str, str], ...]:
    """Each word with what a text must hold, at the least, for it to stand there."""
    return tuple((word, word.split("-")[0].rstrip("~").rstrip("ey")) for word in words.split())


@lru_cache(maxsize=256)
def _pattern(spaced: tuple[str, ...], unspaced: tuple[str, ...]) -> re.Pattern[str]:
    alternatives = list(map(re.escape, unspaced))
    if spaced:
        words = "|".join(map(_word, spaced))
        alternatives.insert(0, rf"(?<![A-Za-z0-9_])(?:{words})(?![A-Za-z0-9_])")
    return re.compile("|".join(alternatives), re.IGNORECASE)


def _word(word: str) -> str:
    stem = re.escape(word.removesuffix("~")).replace(r"\-", "[ -]")
    if not word.endswith("~"):
        return stem
    # "write" gives "writing" and "simplify" gives "simplified": before an ending the last vowel goes or turns.
    if stem.endswith("e"):
        return f"(?:{stem}[sdr]?|{stem[:-1]}(?:ing|ion|ions|ation))"
    if stem.endswith("y"):
        return f"(?:{stem}(?:s|ed|ing|ment)?|{stem[:-1]}(?:ies|ied|ication))"
    return stem + r"(?:e?s|e?d|e?r|ions?|ation|ments?|\w?ing|\w?ed)?"
