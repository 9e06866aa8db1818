"""Kinds of task in one table: how requests ask for them, and how rules refer to them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from reverie.values import value


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
    found: dict[str, tuple[int, str]] = {}
    lowered = text.lower()
    for kind in KINDS:
        words = kind.spoken_of if spoken_of else kind.asked
        # Compiling all words takes longer than a whole recall; most have no stem in a text.
        spaced = tuple(word for word, stem in _stems(words) if stem in lowered)
        unspaced = tuple(word for word in kind.unspaced.split() if word.lower() in lowered)
        match = _pattern(spaced, unspaced).search(text) if spaced or unspaced else None
        if match:
            found[kind.name] = match.start(), match[0]
    return {name: word for name, (_, word) in sorted(found.items(), key=lambda item: item[1])}


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
