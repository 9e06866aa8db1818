"""Tells a real secret from a word, a name, a path or a placeholder in its place, by itself or by its sentence.

A sentence may call a random word a key, token or password: "use … to log in", "le jeton est …", "密钥是…". The few
characters around a word are read only once the word looks random, so that a text without such a word costs nothing.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter

from reverie.patterns import lazy_regex

MIN_BITS = 2.6
"""Bits per character that a random value of 16 hexadecimal digits or more nearly always has."""

MIN_BITS_OF_DIGITS = 2.2
MIN_DIGITS, MAX_DIGITS = 15, 20
MIN_RANDOM_CHARS = 13
MIN_NUMBERS = 2
"""Runs of digits that a random word of that length nearly always has."""

# Compiled at their first use: most texts hold nothing to judge.
_PLACEHOLDER = (
    r"(?i)example|placeholder|change.?me|redacted|dummy|your[_-]|<[^>]*>|\{\{|\$\{|\$[a-z_(]|%\(|%s|x{4,}|\*{3,}|\.{3,}|…|"
    r"0{7,}|insert|my_?secret|my_?password|\[secret"
)
_VARIABLE = r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+|[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+"
_PATH = r"(?:[\w@.~-]*/)+[\w.@-]*\.\w{1,5}|~?/[\w./-]+|[\w-]+\.(?:py|js|ts|json|ya?ml|toml|md|txt|env|sh|cfg|ini)"
_WORD = r"[A-Z]?[a-z]{3,}|[A-Z]{3,}"
_SPEAKABLE = r"(?i)(?=.*[aeiouy])[aeiouy]*(?:[^aeiouy]{1,3}[aeiouy]+)*[^aeiouy]{0,3}"
_JOINED_WORDS = r"[A-Za-z]+(?:[-/+=&|][A-Za-z]+)*[!?*]?|\d+[- ]?[a-z]+|[A-Za-z_]\w*=[\w.]*"
_HARMLESS_NAME = (
    r"(?i)(?:names?|ids?|path|file|url|uri|type|env|ref|counts?|limits?|length|size|ttl|expiry|prefix|pattern|regex|field|"
    r"header|param|index|usage|hash|sha\d*|budget|publickeytoken|\.(?:json|py|md|txt|ya?ml|toml))\Z"
)
_USUAL_WORD = (
    r"(?i)(?:(?:my|the|db|user|test|new|old|your)?[_-]?(?:pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|auth))\d{0,3}|"
    r"user(?:name)?|root|admin|guest|test|postgres|null|none|true|false|undefined|string|required|optional"
)
_UUID = r"(?i:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
_DATE = r"\d{4}-\d\d-\d\d.*"
_MIXED = r"\A(?!0x|/|[A-Za-z_-]{3,}\d{0,3}=).*(?:[A-Za-z]\d|\d[A-Za-z])[A-Za-z0-9]{2}"
_LOCAL_HOST = r"localhost|127\.|\[?::1|(?:[\w-]+\.)*(?:example\.|(?:test|invalid|example)\Z)"


def is_placeholder(value: str) -> bool:
    """Whether a value is the kind that documentation shows in place of a secret."""
    return re.search(_PLACEHOLDER, value) is not None


def is_real(match: re.Match[str]) -> bool:
    """Accept a token whose prefix says what it is."""
    return not is_placeholder(_secret(match))


def is_random(match: re.Match[str]) -> bool:
    """Accept a long value that only looks like a key."""
    value = _secret(match)
    return not is_placeholder(value) and re.search(r"\d", value) is not None and entropy(value) >= MIN_BITS


def is_assigned_secret(match: re.Match[str]) -> bool:
    """Accept what is assigned to a name such as `apiToken`, unless the name or the value says otherwise."""
    value = _secret(match)
    if is_placeholder(value) or re.search(_HARMLESS_NAME, match["name"]):
        return False
    value = value.rstrip(".")
    if value.isdigit():
        return len(value) >= MIN_DIGITS and entropy(value) >= MIN_BITS_OF_DIGITS
    if not (re.search(r"\d", value) and re.search(r"[A-Za-z]", value)):
        return False
    if _is_variable_or_path(value) or _reads_like_a_name(value):
        return False
    return entropy(value) >= MIN_BITS


def is_made_by_machine(value: str) -> bool:
    """Whether a long word is neither a name nor a path nor what documentation shows: a key, a hash, an identifier."""
    return not (is_placeholder(value) or _is_variable_or_path(value) or _reads_like_a_name(value))


def looks_random(value: str) -> bool:
    """Whether a word of a machine mixes letters and digits as chance does."""
    if value.isdigit():
        return MIN_DIGITS <= len(value) <= MAX_DIGITS and entropy(value) >= MIN_BITS_OF_DIGITS
    bare = re.sub(r"[^A-Za-z0-9]", "", value)
    if len(bare) < MIN_RANDOM_CHARS or len(re.findall(r"\d+", bare)) < MIN_NUMBERS:
        return False
    return re.search(_MIXED, value) is not None and not re.fullmatch(_DATE, value) and entropy(value) >= MIN_BITS


def is_hash(value: str) -> bool:
    """Whether a random word has the shape of a digest or an identifier, which most such words in prose are."""
    return re.fullmatch(rf"[0-9a-f]+|{_UUID}", value) is not None


def is_identifier(value: str) -> bool:
    """Whether a random word begins as the identifiers of requests, messages and tool calls do."""
    return value.startswith(("toolu_", "msg_", "req_", "call_", "resp_", "chatcmpl-"))


def is_password(match: re.Match[str]) -> bool:
    """Accept what is said to be a password, unless it is an ordinary word."""
    value = _secret(match).rstrip(".,;:!?。，；")
    if len(value) < 6 or is_placeholder(value) or re.fullmatch(_USUAL_WORD, value):
        return False
    if _is_variable_or_path(value) or "://" in value or re.fullmatch(_JOINED_WORDS, value):
        return False
    if value.isdigit():
        return True
    return re.search(r"[A-Za-z]", value) is not None and re.search(r"\d|[!@#$%^&*+=~?|]", value) is not None


def is_url_password(match: re.Match[str]) -> bool:
    """Accept the password of a URL, unless it is a stand-in."""
    value = _secret(match)
    if is_placeholder(value) or re.fullmatch(_USUAL_WORD, value) or value.startswith(("$", "{", "%", "<")):
        return False
    return not (re.match(_LOCAL_HOST, match["host"]) and (value == match["user"] or value.isalpha()))


def is_basic_login(match: re.Match[str]) -> bool:
    """Accept base64 that holds a user and a password."""
    try:
        user, colon, password = base64.b64decode(_secret(match) + "==").decode("utf-8").partition(":")
    except (binascii.Error, ValueError):
        return False
    is_usual = re.fullmatch(_USUAL_WORD, password) or is_placeholder(password)
    return bool(colon and user and len(password) >= 4 and not is_usual)


def _secret(match: re.Match[str]) -> str:
    return match["secret"] if "secret" in match.re.groupindex else match[0]


def entropy(value: str) -> float:
    """Bits per character, as the text itself distributes them."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _is_variable_or_path(value: str) -> bool:
    return re.fullmatch(_VARIABLE, value) is not None or re.fullmatch(_PATH, value) is not None


def _reads_like_a_name(value: str) -> bool:
    """Words with at most two numbers among them: an identifier, not a random string."""
    words = [word for word in re.findall(_WORD, value) if re.fullmatch(_SPEAKABLE, word)]
    return len(re.findall(r"\d+", value)) <= 2 and sum(map(len, words)) >= 0.55 * len(value)


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
_HARMLESS = (
    r"(?i)(?<![^\W\d_])(?:commits?|sha\d*|hash|digest|checksum|md5|uuid|guid|revision|rev|etag|version|build|images?|"
    r"files?|path|branch|url|session|request|trace|message|count|usage|limits?|budget|per|parser?|ids?|named?|called)"
    r"(?![^\W\d_])"
)
_NO_PROSE = r"[\n\d{}\[\];=<>\\|\"]"
_LINK = (
    r"(?i:\b(?:is|was|are|to|es|est|ist|lautet|é|è|sono|são|son|jest|это|равен|with|using|mit|avec|con|com|met|med|z|с)|"
    r"[:：—–-]|は|是|为|為|[는은이가])[ \t]*[\"'`(「『«“„]*\Z|\(\Z"
)
_BEFORE = lazy_regex(rf"(?i)(?<![_./])(?:{_NAMES}|{_WAYS_IN})(?![A-Za-z_./(])(?P<between>.{{0,60}}?)\Z")
_AFTER = lazy_regex(
    r"(?i)['`)»」』”]*(?:[ \t]+(?:as|is|to|for|como|als|um|comme|pour|come|per|para|jako|как|—)\b|"
    r"[ \t]*(?:作为|作為|登录|登入|で|を|로))"
    rf"(?P<between>.{{0,40}}?)(?<![_./])(?:{_NAMES}|{_WAYS_IN})(?![A-Za-z_./(])"
)
_SHORTEST_NAME = 2
_BEFORE_CHARS, _AFTER_CHARS = 90, 60


def is_called_secret(text: str, start: int, end: int) -> bool:
    """Whether the sentence around a word says that it opens something, and the word is one of those that do."""
    before = re.split(_NO_PROSE, text[max(0, start - _BEFORE_CHARS) : start].removesuffix('"'))[-1]
    after = re.split(_NO_PROSE, text[end : end + _AFTER_CHARS].removeprefix('"'), maxsplit=1)[0]
    if max(len(before), len(after)) < _SHORTEST_NAME or re.search(_HARMLESS + r"\W{0,3}\Z", before):
        return False
    word = text[start:end]
    is_linked = not is_hash(word) or re.search(_LINK, before) is not None
    match = (_BEFORE.search(before) if is_linked else None) or _AFTER.match(after)
    return match is not None and not re.search(_HARMLESS, match["between"]) and looks_random(word)
