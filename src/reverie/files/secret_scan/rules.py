"""The kinds of secret, as a table: name, keywords, pattern.

Formats are those that the issuers publish; specific rules stand first: where two overlap, the first names the finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from reverie.files.secret_scan import plausible
from reverie.values import value


@value
class SecretRule:
    """One kind of secret."""

    name: str
    keywords: tuple[str, ...]
    """Without one of them in the text the pattern is not tried; a match of a rule in context begins with one."""
    source: str
    """A regular expression; its group `secret`, where there is one, is the secret, else the whole match."""
    accepts: Callable[[re.Match[str]], bool] = plausible.is_real
    begins: str = ""
    """What a match of a rule in context begins with instead, some way before a keyword: rarer is the faster one."""

    def pattern(self) -> re.Pattern[str]:
        return _compile(self.source)


@cache
def _compile(source: str) -> re.Pattern[str]:
    # Compiling all of them takes longer than starting the program; most texts need none.
    return re.compile(source)


def _token(name: str, keywords: str, pattern: str) -> SecretRule:
    return SecretRule(name, tuple(keywords.split()), f"(?:{pattern})(?![A-Za-z0-9])")


def begins_word(text: str, place: int) -> bool:
    """Whether a token may begin here; no lookbehind, so that the search can look for the first letters of a pattern."""
    before = text[max(0, place - 2) : place]
    # The letter of an escape, as in a string of JSON, is no part of the word.
    return not (before[-1:].isascii() and before[-1:].isalnum()) or re.fullmatch(r"\\[nrt]", before) is not None


TOKENS: tuple[SecretRule, ...] = (
    _token("age-secret-key", "AGE-SECRET-KEY", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _token("aws-access-key", "AKIA ASIA ABIA ACCA A3T", r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}"),
    _token("anthropic-key", "sk-ant-", r"sk-ant-(?:[a-z]{3,6}\d{2}-)?[\w-]{20,}"),
    _token("openrouter-key", "sk-or-", r"sk-or-v\d-[0-9a-f]{64}"),
    _token("langfuse-key", "sk-lf-", r"sk-lf-[0-9a-f-]{36}"),
    _token("openai-key", "sk-", r"sk-(?:(?:proj|svcacct|admin|None)-[\w-]{20,}|[A-Za-z0-9]{32,})"),
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    _token("github-fine-grained-token", "github_pat_", r"github_pat_\w{22,255}"),
    _token("gitlab-token", "gl", r"gl(?:pat|dt|rt|ptt|cbt|soat|ft|ffct|imt|agent|oas)-[\w.-]{20,}"),
    _token("gitlab-session", "_gitlab_session=", r"_gitlab_session=[0-9a-z]{32}"),
    _token("gitlab-runner-token", "GR1348941", r"GR1348941[\w-]{20}"),
    _token("reverie-token", "rvt_", r"rvt_[\w-]{43}"),
    _token("slack-token", "xox", r"xox[abcdeoprs](?:\.xox[abp])?-[A-Za-z0-9-]{10,}"),
    _token("slack-app-token", "xapp-", r"xapp-\d-[A-Z0-9]{8,}-\d{8,}-[a-z0-9]{16,}"),
    _token(
        "slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{40,60}"
    ),
    _token("stripe-key", "k_live_ k_test_ k_prod_", r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,99}"),
    _token("stripe-webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/]{24,}=*"),
    _token("google-api-key", "AIza", r"AIza[\w-]{35}"),
    _token("google-oauth-secret", "GOCSPX-", r"GOCSPX-[\w-]{28}"),
    _token("google-oauth-token", "ya29. 1//0", r"ya29\.[\w-]{30,}|1//0[\w-]{40,}"),
    _token("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _token("pypi-token", "pypi-Ag", r"pypi-Ag[\w-]{50,}"),
    _token("rubygems-key", "rubygems_", r"rubygems_[a-f0-9]{48}"),
    _token("crates-token", "cio", r"cio[A-Za-z0-9]{32}"),
    _token("nuget-key", "oy2", r"oy2[a-z0-9]{43}"),
    _token("docker-token", "dckr_", r"dckr_[op]at_[\w-]{27,}"),
    _token("sendgrid-key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{32,64}"),
    _token("twilio-key", "SK", r"SK[0-9a-f]{32}"),
    _token("mailgun-key", "key-", r"key-[0-9a-f]{32}"),
    _token("mailchimp-key", "-us", r"[0-9a-f]{32}-us\d{1,2}"),
    _token("brevo-key", "xkeysib-", r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    _token("telegram-bot-token", ":A", r"\d{5,16}:A[\w-]{34}"),
    _token("discord-token", ".", r"[MNO][A-Za-z0-9_-]{23,25}\.[\w-]{6}\.[\w-]{27,38}"),
    _token("discord-webhook", "api/webhooks", r"discord(?:app)?\.com/api/webhooks/\d{17,20}/[\w-]{60,}"),
    _token("jwt", "eyJ ZXlK", r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}|ZXlK[A-Za-z0-9+/]{60,}={0,2}"),
    _token("digitalocean-token", "_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _token("shopify-token", "shp", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _token("square-token", "sq0 EAAA", r"sq0(?:atp|csp|idp)-[\w-]{22,43}|EAAA[\w-]{60}"),
    _token("huggingface-token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{34,}"),
    _token("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37}"),
    _token("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{52}"),
    _token("xai-key", "xai-", r"xai-[A-Za-z0-9]{70,90}"),
    _token("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{48,56}"),
    _token("langsmith-key", "lsv2_", r"lsv2_[a-z]{2}_[a-f0-9]{32}_[a-f0-9]{10}"),
    _token("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?"),
    _token("doppler-token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    _token("linear-key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    _token("notion-token", "ntn_ secret_", r"ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43}"),
    _token("postman-key", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _token("new-relic-key", "NRAK- NRJS- NRII-", r"NR(?:AK-[A-Z0-9]{27}|JS-[a-f0-9]{19}|II-[\w-]{32})"),
    _token("grafana-token", "glc_ glsa_", r"glc_[A-Za-z0-9+/]{32,}=*|glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}"),
    _token("vault-token", "hvs. hvb.", r"hv[sb]\.[\w-]{24,}"),
    _token("terraform-token", "atlasv1", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}"),
    _token("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.=-]{32,64}"),
    _token("dynatrace-token", "dt0", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _token("atlassian-token", "ATATT3 ATCTT3 ATBB", r"AT[AC]TT3[\w=-]{60,}|ATBB[A-Za-z0-9]{32}"),
    _token("flyio-token", "fo1_ fm1 fm2", r"fo1_[\w-]{43}|fm[12][ar]?_[A-Za-z0-9+/]{60,}={0,3}"),
    _token("heroku-key", "HRKU-", r"HRKU-[\w-]{36,64}"),
    _token("sentry-token", "sntrys_ sntryu_", r"sntrys_eyJ[\w+/=-]{40,}|sntryu_[a-f0-9]{64}"),
    _token("supabase-key", "sbp_ sb_secret_", r"sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,}"),
    _token("cloudflare-origin-key", "v1.0-", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}"),
    _token("facebook-token", "EAA", r"EAA[MC][A-Za-z0-9]{100,}"),
    _token("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _token("figma-token", "figd_", r"figd_[\w-]{38,}"),
    _token("netlify-token", "nfp_", r"nfp_[A-Za-z0-9]{36,}"),
    _token("sourcegraph-token", "sgp_", r"sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}"),
    _token("onepassword-token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/=_-]{200,}"),
    _token("pulumi-token", "pul-", r"pul-[a-f0-9]{40}"),
    _token("tailscale-key", "tskey-", r"tskey-[a-z]+-[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]{16,})?"),
    _token("buildkite-token", "bkua_", r"bkua_[a-f0-9]{40}"),
    _token("typeform-token", "tfp_", r"tfp_[\w.-]{59}"),
    _token("easypost-key", "EZAK EZTK", r"EZ[AT]K[A-Za-z0-9]{54}"),
    _token("shippo-token", "shippo_", r"shippo_(?:live|test)_[a-f0-9]{40}"),
    _token("adafruit-key", "aio_", r"aio_[A-Za-z0-9]{28}"),
    _token("prefect-key", "pnu_", r"pnu_[A-Za-z0-9]{36}"),
    _token("alibaba-key", "LTAI", r"LTAI[A-Za-z0-9]{16,24}"),
    _token("tencent-key", "AKID", r"AKID[A-Za-z0-9]{32}"),
    _token("settlemint-token", "sm_", r"sm_[aps]at_[A-Za-z0-9]{16}"),
    _token("harness-key", "pat. sat.", r"[ps]at\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    _token("intra42-secret", "s-s4t2", r"s-s4t2(?:ud|af)-[a-f0-9]{64}"),
    _token("clojars-token", "CLOJARS_", r"CLOJARS_[A-Za-z0-9]{60}"),
    _token("asaas-key", "aact_", r"aact_(?:prod|hmlg)_[\w-]{20,100}"),
    _token("artifactory-key", "AKCp cmVmd", r"AKCp[A-Za-z0-9]{69}|cmVmd[A-Za-z0-9]{59}"),
    _token("bedrock-key", "ABSK bedrock-api-key-", r"ABSK[A-Za-z0-9+/]{109,269}={0,2}|bedrock-api-key-[\w+/=-]{20,}"),
    _token("onepassword-key", "A3-", r"A3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,5}"),
    _token("openshift-token", "sha256~", r"sha256~[\w-]{43}"),
    _token("azure-client-secret", "Q~", r"[\w.~-]{3}\dQ~[\w.~-]{31,34}"),
    _token("azure-storage-key", "AccountKey=", r"AccountKey=[A-Za-z0-9+/]{86}=="),
)
"""Secrets that their issuer marks with a prefix or a shape of their own: one word, found wherever it stands."""

VALUE_MIN_CHARS, VALUE_MAX_CHARS = 14, 300
"""What is said to be a key or a token is no shorter (passwords are), and no longer; no token is shorter either."""

NAMED_SECRET = "named-secret"  # noqa: S105 - the name of a rule
"""What only a sentence calls a secret."""

_QUALIFIERS = "api access auth private client signing encryption account master service shared secret"
_QUALIFIED = "|".join(f"(?<={word})|(?<={word}[ _.-])" for word in _QUALIFIERS.split())
_NAME_OF_SECRET = rf"(?P<name>(?i:token|secret|credentials?|(?:{_QUALIFIED})key)[\w.-]{{0,20}})"
_NAME_OF_PASSWORD = r"(?i:passw(?:or)?d|passphrase|passcode|(?<![a-z])pwd|(?<![a-z])pw(?![a-z]))\w{0,20}"  # noqa: S105 - a pattern
_TYPE = r"(?:[ \t]*:?[ \t]*&?(?i:str|string|text|bytes))?"
_ASSIGNED = (
    rf"""["'`]?\]?{_TYPE}[ \t]{{0,40}}(?:(?:=>|:{{1,3}}=|[?|.+]?=|:|>(?!@))"""
    r"""(?:[ \t]{15,40}["'`]|[\s"'`]{0,14})|,[ \t]{0,3}["'`])"""
)
_SAID_TO_BE = r"(?:[ \t]+(?:for|of|to|on|in)[ \t]+[^\n.=:]{1,50}?)?[ \t]+(?:is|was|are|to)(?:[ \t]+now)?:?[ \t]+[\"'`]?"
_PASSWORD_ELSEWHERE = (
    *(
        "passwort",
        "kennwort",
        "mot de passe",
        "contraseña",
        "senha",
        "wachtwoord",
        "lösenord",
        "adgangskode",
        "passord",
    ),
    *("salasana", "hasło", "heslo", "jelszó", "şifre", "parola", "пароль", "密码", "密碼", "口令", "パスワード"),
    *("暗証番号", "비밀번호", "암호", "mật khẩu", "kata sandi", "पासवर्ड", "סיסמה", "كلمة المرور"),
)
_IS_ELSEWHERE = (
    r"(?:\b(?:ist|lautet|est|es|é|è|is|är|er|on|jest|je|là|adalah|है|это|היא|هي)(?=[ \t:\"'`«„])|"
    r"是|为|為|は|[는은이]|[:：=]|(?<=[ \t])[—–-](?=[ \t])|(?<=[^\W\d_])(?=[\"'`「『]))"
)
_VALUE = r"(?P<secret>[\w\-./+=~]{8,200}[:|%][\w\-./+=~]{8,200}|[\w\-./+=~]{14,200}|[\w\-.+=]{10,13}(?![\w\-./+=~@%:]))"
_BLOCK_OF_A_KEY = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----BEGIN)[\s\S]){20,8000}?"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)"
)
_LOGIN_IN_URL = (
    r"://(?P<user>[^\s:/@\"'`<>]{0,64}):(?P<secret>[^\s/@\"'`<>]{3,128})@(?!sha256)(?P<host>[\w.\[\]:-]{2,})"
)

IN_CONTEXT: tuple[SecretRule, ...] = (
    SecretRule("private-key", ("-----begin",), _BLOCK_OF_A_KEY),
    SecretRule(
        "putty-private-key",
        ("putty-user-key-file",),
        r"PuTTY-User-Key-File-\d:[\s\S]{20,6000}?Private-MAC: ?\w+",
    ),
    SecretRule(
        "aws-secret-key",
        ("aws",),
        r"(?i:aws.{0,20}(?:secret|key).{0,20}?)[=:,>\s\"'`](?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        plausible.is_random,
    ),
    SecretRule("url-password", ("@",), _LOGIN_IN_URL, plausible.is_url_password, begins="://"),
    SecretRule(
        "authorization-header",
        ("bearer",),
        r"(?i:bearer)[ \t]+[\"'`]?(?P<secret>[\w.~+/-]{16,}=*)",
        plausible.is_random,
    ),
    SecretRule(
        "basic-login",
        ("basic",),
        r"(?i:basic)[ \t]+[\"'`]?(?P<secret>[A-Za-z0-9+/]{8,}={0,2})",
        plausible.is_basic_login,
    ),
    SecretRule(
        "curl-login",
        ("curl",),
        r"curl\b[^\n|;]{0,200}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"'$]{1,64}:(?P<secret>[^\s\"']{4,})",
        plausible.is_password,
    ),
    SecretRule(
        "assigned-secret",
        ("key", "token", "secret", "credential"),
        f"{_NAME_OF_SECRET}(?:{_ASSIGNED}|{_SAID_TO_BE}){_VALUE}",
        plausible.is_assigned_secret,
    ),
    SecretRule(
        "command-line-secret",
        ("token", "secret", "key"),
        r"--(?P<name>[\w-]{0,20}(?:token|secret|api-?key|access-?key))[ =][\"']?" + _VALUE,
        plausible.is_assigned_secret,
        begins="--",
    ),
    SecretRule(
        "password",
        ("passw", "passphrase", "passcode", "pwd", "pw"),
        rf"{_NAME_OF_PASSWORD}(?:{_ASSIGNED}|{_SAID_TO_BE})(?P<secret>[^\s\"'`<>(){{}}\[\]]{{6,128}})",
        plausible.is_password,
    ),
    SecretRule(
        "password",
        _PASSWORD_ELSEWHERE,
        rf"(?i:{'|'.join(_PASSWORD_ELSEWHERE)})"
        rf"[^\W\d_]{{0,3}}(?:[ \t]+[^\n.=:：\d]{{1,50}}?)??[ \t]*{_IS_ELSEWHERE}[ \t]*"
        r"[\"'`「『«“„]?(?P<secret>[!-~]{6,64})",
        plausible.is_password,
    ),
)
"""Secrets that only their surroundings betray."""
