"""Tells a real secret from a word, a name, a path or a placeholder in its place, by itself or by its sentence.

A sentence may call a random word a key, token or password: "use … to log in", "le jeton est …", "密钥是…". The few
characters around a word are read only once the word looks random, so that a text without such a word costs nothing.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache

from reverie.patterns import lazy_regex

MIN_BITS = 2.6
"""Bits per character that a random value of 16 hexadecimal digits or more nearly always has."""

MIN_BITS_OF_DIGITS = 2.2
MIN_DIGITS, MAX_DIGITS = 15, 20
MIN_RANDOM_CHARS = 13
MIN_NUMBERS = 2
"""Runs of digits that a random word of that length nearly always has."""

MIN_ASSIGNED_CHARS = 14
"""A shorter value that is assigned to the name of a secret is one only if its kinds of character change often."""

MIN_RUNS_OF_SHORT = 5
MIN_CHARS_OF_RANDOM_PART = 16

# Compiled at their first use: most texts hold nothing to judge.
_PLACEHOLDER = lazy_regex(
    r"example|placeholder|change.?me|redacted|dummy|your[_-]|<[^>]*>|\{\{|\$\{|\$[a-z_(]|%\(|%s|x{4,}|\*{3,}|\.{3,}|…|"
    r"0{7,}|insert|my_?secret|my_?password|\[secret"
)
_VARIABLE = lazy_regex(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+|[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+")
_PATH = lazy_regex(
    r"(?:[\w@.~-]*/)+[\w.@-]*\.\w{1,5}|~?/[\w./-]+|[\w-]+\.(?:py|js|ts|json|ya?ml|toml|md|txt|env|sh|cfg|ini)"
)
_DOT = lazy_regex(r"\.|::|->")
_RUN_OF_A_CLASS = lazy_regex(r"[a-z]+|[A-Z]+|\d+")
_INNER_NUMBER = lazy_regex(r"(?<=[a-z])\d+(?=[a-z])")
_WORD = lazy_regex(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}")
_SPEAKABLE = lazy_regex(r"(?i)(?=.*[aeiouy])[aeiouy]*(?:[^aeiouy]{1,3}[aeiouy]+)*[^aeiouy]{0,3}")
_JOINED_WORDS = lazy_regex(r"[A-Za-z]+(?:[-/+=&|][A-Za-z]+)*[!?*]?|\d+[- ]?[a-z]+|[A-Za-z_]\w*=[\w.]*")
_HARMLESS_NAME = lazy_regex(
    r"(?i)(?:names?|ids?|path|file|url|uri|type|env|ref|counts?|limits?|length|size|ttl|expiry|prefix|pattern|regex|field|"
    r"header|param|index|usage|hash|sha\d*|budget|publickeytoken|\.(?:json|py|md|txt|ya?ml|toml))\Z"
)
_USUAL_WORD = lazy_regex(
    r"(?i)(?:(?:my|the|db|user|test|new|old|your)?[_-]?(?:pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|auth))\d{0,3}|"
    r"user(?:name)?|root|admin|guest|test|postgres|null|none|true|false|undefined|string|required|optional"
)
_UUID = lazy_regex(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_LOWER_HEX = lazy_regex(r"[0-9a-f]+")
_IDENTIFIERS = ("toolu_", "srvtoolu_", "msg_", "req_", "call_", "resp_", "chatcmpl-")
"""How the identifiers of requests, messages and tool calls begin."""
_LONG_PART = lazy_regex(r"[A-Za-z0-9]{7,}")
_ZEROS = "0" * 7
_NUMBER = lazy_regex(r"\d+")
_DATE = lazy_regex(r"\d{4}-\d\d-\d\d.*")
_MIXED = lazy_regex(r"\A(?!0x|/|[A-Za-z_-]{3,}\d{0,3}=).*(?:[A-Za-z]\d|\d[A-Za-z])[A-Za-z0-9]{2}")
_LOCAL_HOST = lazy_regex(r"localhost|127\.|\[?::1|(?:[\w-]+\.)*(?:example\.|(?:test|invalid|example)\Z)")


def is_placeholder(value: str) -> bool:
    """Whether a value is the kind that documentation shows in place of a secret."""
    return _PLACEHOLDER.search(value.lower()) is not None


def is_real(match: re.Match[str]) -> bool:
    """Accept a token whose prefix says what it is."""
    return not is_placeholder(_secret(match))


def is_random(match: re.Match[str]) -> bool:
    """Accept a long value that only looks like a key."""
    value = _secret(match)
    return not is_placeholder(value) and _NUMBER.search(value) is not None and entropy(value) >= MIN_BITS


def is_assigned_secret(match: re.Match[str]) -> bool:
    """Accept what is assigned to a name such as `apiToken`, unless the name or the value says otherwise."""
    value = _secret(match)
    if is_placeholder(value) or _HARMLESS_NAME.search(match["name"]):
        return False
    value = value.rstrip(".")
    if value.isdigit():
        return len(value) >= MIN_DIGITS and entropy(value) >= MIN_BITS_OF_DIGITS
    if not (_NUMBER.search(value) and re.search(r"[A-Za-z]", value)):
        return False
    if _is_variable_or_path(value) or _reads_like_a_name(value):
        return False
    if len(value) < MIN_ASSIGNED_CHARS and len(_RUN_OF_A_CLASS.findall(value)) < MIN_RUNS_OF_SHORT:
        return False
    return entropy(value) >= MIN_BITS


def is_made_by_machine(value: str) -> bool:
    """Whether a long word is neither a name nor a path nor what documentation shows: a key, a hash, an identifier."""
    if _UUID.fullmatch(value):
        return _ZEROS not in value
    return not (_reads_like_a_name(value) or _is_variable_or_path(value) or is_placeholder(value))


def looks_random(value: str) -> bool:
    """Whether a word of a machine mixes letters and digits as chance does."""
    if value.isdigit():
        return MIN_DIGITS <= len(value) <= MAX_DIGITS and entropy(value) >= MIN_BITS_OF_DIGITS
    bare = re.sub(r"[^A-Za-z0-9]", "", value)
    if len(bare) < MIN_RANDOM_CHARS or len(_NUMBER.findall(bare)) < MIN_NUMBERS:
        return False
    return _MIXED.search(value) is not None and not _DATE.fullmatch(value) and entropy(value) >= MIN_BITS


def is_hash(value: str) -> bool:
    """Whether a random word has the shape of a digest or an identifier, which most such words in prose are."""
    return _LOWER_HEX.fullmatch(value) is not None or _UUID.fullmatch(value) is not None


def has_random_part(value: str) -> bool:
    """Whether a word of a machine may be more than a hash, a usual identifier, or a name with a date or a version."""
    if is_hash(value) or value.startswith(_IDENTIFIERS):
        return False
    parts = _LONG_PART.findall(value)
    return any(not (part.isdigit() or (part.isalpha() and _is_speakable(part))) for part in parts)


def is_password(match: re.Match[str]) -> bool:
    """Accept what is said to be a password, unless it is an ordinary word."""
    value = _secret(match).rstrip(".,;:!?。，；")
    if len(value) < 6 or is_placeholder(value) or _USUAL_WORD.fullmatch(value):
        return False
    if _is_variable_or_path(value) or "://" in value or _JOINED_WORDS.fullmatch(value):
        return False
    if value.isdigit():
        return True
    return re.search(r"[A-Za-z]", value) is not None and re.search(r"\d|[!@#$%^&*+=~?|]", value) is not None


def is_url_password(match: re.Match[str]) -> bool:
    """Accept the password of a URL, unless it is a stand-in."""
    value = _secret(match)
    if is_placeholder(value) or _USUAL_WORD.fullmatch(value) or value.startswith(("$", "{", "%", "<")):
        return False
    return not (_LOCAL_HOST.match(match["host"]) and (value == match["user"] or value.isalpha()))


def is_basic_login(match: re.Match[str]) -> bool:
    """Accept base64 that holds a user and a password."""
    import base64
    import binascii

    try:
        user, colon, password = base64.b64decode(_secret(match) + "==").decode("utf-8").partition(":")
    except (binascii.Error, ValueError):
        return False
    is_usual = _USUAL_WORD.fullmatch(password) or is_placeholder(password)
    return bool(colon and user and len(password) >= 4 and not is_usual)


def _secret(match: re.Match[str]) -> str:
    return match["secret"] if "secret" in match.re.groupindex else match[0]


def entropy(value: str) -> float:
    """Bits per character, as the text itself distributes them."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _is_variable_or_path(value: str) -> bool:
    if _VARIABLE.fullmatch(value):
        return not any(map(_is_random_part, _DOT.split(value)))
    return _PATH.fullmatch(value) is not None


def _is_random_part(part: str) -> bool:
    """Whether a key stands behind a dot, as in `s.…` or `api_live.…`."""
    return (
        len(part) >= MIN_CHARS_OF_RANDOM_PART
        and "_" not in part
        and _NUMBER.search(part) is not None
        and not _reads_like_a_name(part)
    )


def _reads_like_a_name(value: str) -> bool:
    """Words with at most two numbers among them: an identifier, not a random string."""
    if len(_NUMBER.findall(value)) > 2:
        return False
    if len(_INNER_NUMBER.findall(value)) == 2 and value.isalnum() and value.islower():
        return False
    return sum([len(word) for word in _WORD.findall(value) if _is_speakable(word)]) >= 0.55 * len(value)


@lru_cache(maxsize=4096)
def _is_speakable(word: str) -> bool:
    return _SPEAKABLE.fullmatch(word) is not None


_NAMES = (
    r"passw(?:or)?d|passphrase|passcode|passwort|kennwort|mot de passe|contraseña|senha|wachtwoord|lösenord|hasło|"
    r"heslo|şifre|парол[ьяею]|密码|密碼|口令|パスワード|비밀번호|pwd|pat|"
    r"(?<!cache )(?<!primary )(?<!foreign )(?<!public )(?<!sort )(?<!partition )(?<![a-z])(?:api[ _-]?)?keys?|"
    r"apikey|tokens?|secrets?|credentials?|creds|bearer|"
    r"zugangsdaten|schlüssels?|geheimnis|clés?|jetons?|identifiants?|clave|llave|credencial(?:es)?|secreto|chaves?|"
    r"credenciais|segredo|chiave|credenziali|gettone|segreto|sleutel|nyckel|nøgle|nøkkel|avain|klucz|klíč|kulcs|anahtar|"
    r"токена?|ключа?|секрета?|密钥|密鑰|令牌|金鑰|凭证|凭据|トークン|キー|鍵|シークレット|토큰|키|시크릿|"
    r"टोकन|कुंजी|مفتاح|رمز|מפתח|khóa|kunci"
)
_WAYS_IN = (
    r"log(?:s|ged|ging)?[ -]?in(?:to)?|sign(?:ed)? in|authenticat\w+|authorization|einloggen|anmelden|melde|"
    r"connect(?:e[rz]?|é)|iniciar sesión|entrar|autentica\w*|autentifica\w*|accedi|accedere|zaloguj|войти|вход|"
    r"登录|登入|ログイン|로그인"
)
_HARMLESS_WORD = (
    r"(?i)(?<![^\W\d_])(?:commits?|sha\d*|hash|digest|checksum|md5|uuid|guid|revision|rev|etag|version|build|images?|"
    r"files?|path|branch|url|session|request|trace|message|count|usage|limits?|budget|per|parser?|ids?|named?|called)"
    r"(?![^\W\d_])"
)
_HARMLESS = lazy_regex(_HARMLESS_WORD)
_HARMLESS_AT_END = lazy_regex(_HARMLESS_WORD + r"\W{0,3}\Z")
_LETTER = lazy_regex(r"[^\W\d_]")
_NO_PROSE = lazy_regex(r"[\n\d{}\[\];=<>\\|\"]")
_LINK = lazy_regex(
    r"(?i:\b(?:is|was|are|to|es|est|ist|lautet|é|è|sono|são|son|jest|это|равен|with|using|mit|avec|con|com|met|med|z|с)|"
    r"[:：—–-]|は|是|为|為|[는은이가])[ \t]*[\"'`(「『«“„]*\Z|\(\Z"
)
_BEFORE = lazy_regex(rf"(?i)(?<![_./])(?:{_NAMES}|{_WAYS_IN})(?![A-Za-z_./(])(?P<between>.{{0,60}}?)\Z")
_AFTER = lazy_regex(
    r"(?i)['`)»」』”]*(?:[ \t]+(?:as|is|to|for|como|als|um|comme|pour|come|per|para|jako|как|—)\b|"
    r"[ \t]*(?:作为|作為|登录|登入|で|を|로))"
    rf"(?P<between>.{{0,40}}?)(?<![_./])(?:{_NAMES}|{_WAYS_IN})(?![A-Za-z_./(])"
)
_BEFORE_CHARS, _AFTER_CHARS = 90, 60


def is_called_secret(text: str, start: int, end: int) -> bool:
    """Whether the sentence around a word says that it opens something, and the word is one of those that do."""
    if not (_ends_in_prose(text[max(0, start - 3) : start]) or _begins_in_prose(text[end : end + 3])):
        return False
    before = _NO_PROSE.split(text[max(0, start - _BEFORE_CHARS) : start].removesuffix('"'))[-1]
    after = _NO_PROSE.split(text[end : end + _AFTER_CHARS].removeprefix('"'), maxsplit=1)[0]
    if not (_LETTER.search(before) or _LETTER.search(after)) or _HARMLESS_AT_END.search(before):
        return False
    word = text[start:end]
    is_linked = not is_hash(word) or _LINK.search(before) is not None
    match = (_BEFORE.search(before) if is_linked else None) or _AFTER.match(after)
    return match is not None and not _HARMLESS.search(match["between"]) and looks_random(word)


@lru_cache(maxsize=4096)
def _ends_in_prose(before: str) -> bool:
    """Whether two characters of a sentence stand before a word, or before its quote."""
    return len(piece := before.removesuffix('"')[-2:]) == 2 and _NO_PROSE.search(piece) is None


@lru_cache(maxsize=4096)
def _begins_in_prose(after: str) -> bool:
    return len(piece := after.removeprefix('"')[:2]) == 2 and _NO_PROSE.search(piece) is None
