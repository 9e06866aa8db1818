"""Finds random words that a sentence calls a key, token or password: "use … to log in", "le jeton est …", "密钥是…".

The word is judged first (`plausible.looks_random`); only then are the few characters around it read, so that a text
without such a word costs nothing.
"""

from __future__ import annotations

import re
from functools import cache

from reverie.files.secret_scan.plausible import is_hash, looks_random

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
_BEFORE = rf"(?i)(?<![_./])(?:{_NAMES}|{_WAYS_IN})(?![A-Za-z_./(])(?P<between>.{{0,60}}?)\Z"
_AFTER = (
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
    match = (_compile(_BEFORE).search(before) if is_linked else None) or _compile(_AFTER).match(after)
    return match is not None and not re.search(_HARMLESS, match["between"]) and looks_random(word)


@cache
def _compile(source: str) -> re.Pattern[str]:
    return re.compile(source)
