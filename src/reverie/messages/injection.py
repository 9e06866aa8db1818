"""Detects prompt injection: hidden characters, embedded instructions, text that imitates this program.

Findings flag and never refuse: a memory about prompt injection is a legitimate memory. `fence_text` is how recalled
text enters a conversation: as a block it cannot leave, with the tags that a host gives meaning to made harmless.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from enum import StrEnum

from reverie.files.secret_scan.visible import lines_of, without
from reverie.patterns import lazy_regex
from reverie.values import value


class Suspicion(StrEnum):
    """What is wrong with a piece of text."""

    invisible = "invisible characters"
    direction = "characters that reorder text"
    order = "an order to disregard instructions"
    disguise = "markup of a host or of a tool call"
    leak = "an order to send data elsewhere"


@value
class Flag:
    """A suspicious piece of text, by place."""

    suspicion: Suspicion
    start: int
    end: int
    line: int
    """Counted from 1."""


def flags(text: str) -> tuple[Flag, ...]:
    """Everything suspicious in a text, in order; phrases are found even where invisible characters break them up."""
    suspicions = sorted([*_hidden(text), *_phrases(text)], key=lambda item: item[:2])
    lines = lines_of((start for start, _, _ in suspicions), text)
    return tuple(
        Flag(suspicion, start, end, line) for (start, end, suspicion), line in zip(suspicions, lines, strict=True)
    )


def fence_text(text: str, label: str = "memory") -> str:
    """The text as a block of data that nothing in it can close."""
    inside = harmless(text)
    longest = max((len(run) for run in re.findall(r"`+", inside)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{label}\n{inside}\n{fence}"


def harmless(text: str) -> str:
    """The text with its invisible characters removed and tags of the host shown as text."""
    if text.isascii():
        return _TAG.sub("&lt;", text)
    shown = _replace_spans(text, [(start, end, "") for start, end, _ in _hidden(text)])
    # Characters that are legitimate elsewhere must not break up a tag either.
    plain, origin = without(_HIDDEN, shown)
    places = [origin(match.start()) for match in _TAG.finditer(plain)]
    return _replace_spans(shown, [(place, place + 1, "&lt;") for place in places])


def _replace_spans(text: str, changes: list[tuple[int, int, str]]) -> str:
    parts, done = [], 0
    for start, end, new in changes:
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])


_HIDDEN = lazy_regex(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]+"
)
_REORDERS = lazy_regex("[\u202a-\u202e\u2066-\u2069]")
_DIRECTION_MARKS = {"\u200e", "\u200f", "\u061c"}
_ENGLAND = "\U0001f3f4"
"""The black flag, which tag characters turn into the flag of a region."""


def _hidden(text: str) -> Iterator[tuple[int, int, Suspicion]]:
    matches = [] if text.isascii() else list(_HIDDEN.finditer(text))
    is_right_to_left = bool(matches) and any(unicodedata.bidirectional(char) in {"R", "AL"} for char in text)
    for match in matches:
        if match[0] in _DIRECTION_MARKS and is_right_to_left:
            continue
        if not _is_legitimate(text, match):
            kind = Suspicion.direction if _REORDERS.search(match[0]) else Suspicion.invisible
            yield *match.span(), kind


def _is_legitimate(text: str, match: re.Match[str]) -> bool:
    """Whether the characters do the work they exist for: emoji, joined scripts, a mark at the start of a file."""
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    if match[0] == "\ufeff":
        return match.start() == 0
    if match[0] in {"\u00ad", "\u2028", "\u2029"}:
        return True
    if before == _ENGLAND:
        return re.fullmatch("[\U000e0020-\U000e007e]{1,8}\U000e007f", match[0]) is not None
    if match[0] in {"\ufe0e", "\ufe0f"}:
        return before in set("#*0123456789") or (before != "" and not before.isascii())
    if set(match[0]) <= set("\u200c\u200d\ufe0f") and len(match[0]) <= 2:
        return before != "" and after != "" and not before.isascii() and not after.isascii()
    return "\u180b" <= match[0] <= "\u180f" and unicodedata.name(before or "a", "").startswith("MONGOLIAN")


_OVERRIDDEN = r"(?:instructions?|prompts?|rules?|guidelines?|directives?|polic(?:y|ies)|constraints?)\b"
_ROLES = r"(?:ai|assistant|mode|model|unrestricted|jailbroken|bound|admin(?:istrator)?)\b"
_SECRETS = (
    r"\b(?:secrets?|tokens?|passwords?|credentials?|api keys?|environment variables?|\.env\b|(?:ssh|private) keys?)"
)

_PHRASES: tuple[tuple[Suspicion, str, str], ...] = (
    (
        Suspicion.order,
        "ignore disregard forget override bypass follow",
        r"\b(?:ignore|disregard|forget|override|bypass|do not follow|stop following)\b[^.\n]{0,20}"
        r"\b(?:all|any|your|previous|prior|above|earlier|preceding|system)\b[^.\n]{0,30}\b" + _OVERRIDDEN,
    ),
    (
        Suspicion.order,
        "you pretend",
        r"\b(?:you are now|from now on,? you are|pretend to be) (?:a|an|the|in|no longer)\b[^.\n]{0,40}\b" + _ROLES,
    ),
    (Suspicion.order, "new", r"\bnew (?:system )?(?:instructions?|prompt)\s*:"),
    (
        Suspicion.order,
        "reveal print repeat output",
        r"\b(?:reveal|print|repeat|output)\b[^.\n]{0,30}\b(?:system|hidden|initial) (?:prompt|instructions?)",
    ),
    (
        Suspicion.order,
        "user",
        r"\b(?:do not|don't|never) (?:tell|inform|mention this to|reveal this to) the user\b",
    ),
    (
        Suspicion.order,
        "忽略 无视 忘记 忘掉 不要理会 不要遵守 绕过",
        r"(?:忽略|无视|忘记|忘掉|不要理会|不要遵守|绕过)[^。\n]{0,12}(?:指令|指示|提示词?|规则|要求|设定|命令)",
    ),
    (Suspicion.order, "你", r"(?:你现在是|从现在起你是|假装你是)[^。\n]{0,20}"),
    (Suspicion.order, "用户", r"(?:不要|别)(?:告诉|通知)用户"),
    (
        Suspicion.order,
        "無視 忘れ",
        r"(?:以前|これまで|上記|前)の(?:指示|命令|ルール)を?(?:全て|すべて)?(?:無視|忘れ)",
    ),
    (
        Suspicion.leak,
        "send post upload exfiltrate forward leak mail",
        r"\b(?:send|post|upload|exfiltrate|forward|leak|e?mail)\b[^.\n]{0,40}" + _SECRETS + r"[^\n]{0,40}\bto\b",
    ),
    (Suspicion.leak, "$(", r"\b(?:curl|wget)\b[^\n]{0,120}\$\((?:cat|env|printenv)"),
    (Suspicion.leak, "](http", r"!\[[^\]\n]{0,99}\]\(https?://[^)\s?]{1,200}\?[^)\s]{0,99}=(?:\{|%7B|\$|<)"),
    (
        Suspicion.leak,
        "发送 上传 泄露 转发",
        r"(?:发送|上传|泄露|转发)[^。\n]{0,20}(?:密钥|密码|令牌|凭证|环境变量)",
    ),
    (Suspicion.disguise, "<| inst] sys>>", r"<\|[a-z_]{2,30}\|>|\[/?INST\]|<</?SYS>>"),
    (Suspicion.disguise, "human assistant system", r"(?m:^(?:Human|Assistant|System)[ \t]*:[ \t])"),
    (Suspicion.disguise, "tool_", r'"type"\s*:\s*"tool_(?:use|result)"'),
)
"""What each finding means, words without which the pattern need not be tried, and the pattern."""

_HOST_TAGS = (
    "system-reminder|system|system_prompt|user-prompt-submit-hook|function_calls|function_results|invoke|tool_use|"
    "tool_result|tool_call|tool_response|antml:[a-z_]+|human|assistant|persisted-output"
)
_TAG = lazy_regex(rf"<(?=\s*/?\s*(?:{_HOST_TAGS})(?![\w-]))", re.IGNORECASE)
_WHOLE_TAG = rf"(?<!\w)<\s*/?\s*(?:{_HOST_TAGS})(?:\s[^<>\n]{{0,200}})?\s*>"


def _phrases(text: str) -> Iterator[tuple[int, int, Suspicion]]:
    visible, origin = (text, int) if text.isascii() else without(_HIDDEN, text)
    lowered = visible.lower()
    for suspicion, keywords, pattern in (*_PHRASES, (Suspicion.disguise, "<", _WHOLE_TAG)):
        if any(keyword in lowered for keyword in keywords.split()):
            for match in re.finditer(pattern, visible, re.IGNORECASE):
                yield origin(match.start()), origin(match.end() - 1) + 1, suspicion
