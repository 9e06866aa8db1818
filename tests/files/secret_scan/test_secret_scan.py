from __future__ import annotations

import base64
import json
import random
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.files.secret_scan import Finding, redact, scan
from reverie.files.secret_scan.plausible import is_placeholder
from reverie.files.secret_scan.rules import TOKENS, SecretRule
from tests.files.secret_scan.fresh import fresh, letters_and_digits
from tests.requirements import requirement

CHANCE = random.Random(20260822)


def secret_of(rule: SecretRule, chance: random.Random) -> str:
    return next(s for s in iter(lambda: fresh(rule.source, chance), "") if not is_placeholder(s))


def carriers(shared_data: Path) -> list[str]:
    recipe = json.loads((shared_data / "secrets" / "sample_templates.json").read_text(encoding="utf-8"))
    return list(recipe["templates"])


def fill(template: str, identifier: str, secret: str) -> str:
    return template.replace("{i}", identifier).replace("{I}", identifier.upper()).replace("{s}", secret)


@requirement("secrets:scan:every-rule")
@pytest.mark.parametrize("rule", TOKENS, ids=lambda rule: rule.name)
def test_a_fresh_token_is_found_in_every_carrier_line(rule: SecretRule, shared_data: Path, thorough: bool) -> None:
    # Every sixth carrier, beginning with another one for each rule: together the rules see them all.
    for template in carriers(shared_data) if thorough else carriers(shared_data)[TOKENS.index(rule) % 6 :: 6]:
        secret = secret_of(rule, CHANCE)
        text = fill(template, "acme", secret)

        assert any(finding.start <= text.index(secret) < finding.end for finding in scan(text)), template
        assert secret not in redact(text)


@requirement("secrets:scan:every-rule")
@pytest.mark.parametrize("alphabet", ["abcdef0123456789", "abcdefghijklmnopqrstuvwxyz0123456789"])
def test_an_unknown_token_is_found_by_the_name_it_is_given(alphabet: str, shared_data: Path) -> None:
    chance = random.Random(alphabet)
    tried = missed = 0
    for template in [
        *carriers(shared_data),
        'token: str = "{s}"',
        "const apiKey: string = '{s}'",
        "the API key is {s}",
    ]:
        for size in (32, 40, 64):
            secret = "".join(chance.choice(alphabet) for _ in range(size))
            tried += 1
            missed += secret in redact(fill(template, "acme", secret))

    assert missed <= 0.02 * tried


@requirement("secrets:scan:every-rule")
@pytest.mark.parametrize(
    "shape",
    [
        r"s\.[a-z0-9]{24}",
        r"STS\.[A-Za-z0-9]{30}",
        r"api_live_us\.[A-Za-z0-9]{30}",
        r"[a-f0-9]{32}\.[a-z0-9]{16}",
        r"[A-Z][a-z]\d[A-Z]{2}\d[a-z]{2}\d[A-Z]{2}",
        r"[a-z]{3}\d{2}[a-z]{4}\d[a-z]{4}",
        r"\$aact_prod_[A-Za-z0-9]{30}",
    ],
)
@pytest.mark.parametrize(
    "carrier", ['accessToken = "{}"', '{{"api_key"              :     "{}"}}', "SERVICE_SECRET={}"]
)
def test_a_key_behind_a_dot_or_a_short_one_is_found_by_the_name_it_is_given(shape: str, carrier: str) -> None:
    chance = random.Random(shape + carrier)
    missed = [secret for _ in range(20) if (secret := fresh(shape, chance)) in redact(carrier.format(secret))]

    assert len(missed) <= 1


@requirement("secrets:scan:prose")
@pytest.mark.parametrize(
    "sentence",
    [
        "the password is {}",
        "The database password for staging is `{}`, ask Dana before using it.",
        "Password: {}",
        "our admin passphrase was {}.",
        "DB_PASSWORD={}",
        '{{"dbPassword": "{}"}}',
        "set the wifi password to {}",
        "postgres://app:{}@db.internal:5432/prod",
        "redis://:{}@cache.internal/0",
        "git clone https://bot:{}@git.acme.dev/tools.git",
        "curl -u deploy:{} https://acme.dev/api",
        "数据库的密码是{}",
        "生产环境密码：{}",
        "本番のパスワードは{}",
        "운영 서버 비밀번호는 {}",
        "das Passwort für die Staging-Datenbank lautet {}",
        "le mot de passe de la base est {}",
        "la contraseña del servidor es {}",
        "a senha do banco é {}",
        "пароль от базы: {}",
        "hasło do serwera to jest {}",
        "veritabanı şifresi: {}",
    ],
)
def test_a_password_is_found_where_people_write_it(sentence: str) -> None:
    for size in (8, 12, 20):
        secret = letters_and_digits(size, CHANCE)

        assert secret not in redact(sentence.format(secret))


@requirement("secrets:scan:prose")
@pytest.mark.parametrize(
    "sentence",
    [
        "use {} as the algolia token",
        "use token {} to log in to the build server",
        "the key for Datadog is {}, rotate it in May",
        "sign in to the registry with {}",
        "remember: our staging credentials are {}.",
        "I put the access token ({}) into the vault",
        "der Schlüssel von Sentry ist {}",
        "le jeton de déploiement est {}",
        "la clave de la API es {}",
        "токен для сборки — {}",
        "部署用的密钥是{}",
        "デプロイ用のトークンは{}です",
    ],
)
@pytest.mark.parametrize(
    "shape", ["[a-f0-9]{32}", "[a-z0-9]{40}", "[A-Za-z0-9_-]{43}", "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"]
)
def test_a_random_word_is_a_secret_where_the_sentence_says_so(sentence: str, shape: str) -> None:
    chance = random.Random(sentence + shape)
    missed = [secret for _ in range(20) if (secret := fresh(shape, chance)) in redact(sentence.format(secret))]

    assert len(missed) <= 1


@requirement("secrets:scan:hidden")
@pytest.mark.parametrize("before", [r"first line\n", r"a\tb\t", "\0", "\ud800 ", "x\0\0"])
def test_an_escape_or_a_broken_character_before_a_token_does_not_hide_it(before: str) -> None:
    tokens = ["ghp_" + letters_and_digits(36, CHANCE), "fio-u-" + letters_and_digits(64, CHANCE)]

    assert tokens[0] not in redact(f"{before}{tokens[0]}")
    assert tokens[1] not in redact(f"{before}the token is {tokens[1]}")


@requirement("secrets:scan:prose")
def test_a_header_with_a_token_or_a_login_is_found() -> None:
    token = letters_and_digits(32, CHANCE)
    login = base64.b64encode(f"deploy:{letters_and_digits(10, CHANCE)}".encode()).decode()

    assert [finding.rule for finding in scan(f"Authorization: Bearer {token}")] == ["authorization-header"]
    assert [finding.rule for finding in scan(f"Authorization: Basic {login}")] == ["basic-login"]


@requirement("secrets:scan:every-rule")
def test_a_key_that_only_its_surroundings_betray_is_found() -> None:
    value = letters_and_digits(40, CHANCE)

    assert [finding.rule for finding in scan(f"AWS_SECRET_ACCESS_KEY={value}")] == ["aws-secret-key"]
    assert [finding.rule for finding in scan(f"deploy --api-key {value}")] == ["command-line-secret"]
    assert [finding.rule for finding in scan(f"AccountKey={(value * 3)[:86]}==")] == ["azure-storage-key"]


@requirement("secrets:scan:prose")
def test_a_private_key_is_found_whole_even_when_its_end_is_missing() -> None:
    lines = "\n".join(letters_and_digits(64, CHANCE) for _ in range(6))
    begin, end = "-----BEGIN RSA " + "PRIVATE KEY-----", "-----END RSA " + "PRIVATE KEY-----"

    assert redact(f"before\n{begin}\n{lines}\n{end}\nafter") == "before\n[secret: private-key]\nafter"
    assert redact(f"before\n{begin}\n{lines}") == "before\n[secret: private-key]"


@requirement("secrets:scan:no-false-alarm")
@pytest.mark.parametrize(
    "harmless",
    [
        "AKIA" + "IOSFODNN7" + "EXAMPLE",
        "sk-ant-api03-" + "x" * 40,
        "export GITHUB_TOKEN=<your-token-goes-here-please>",
        "token: ${GITHUB_TOKEN_FOR_RELEASES_2}",
        "password: $DB_PASSWORD_V2",
        "password = os.environ['DB_PASSWORD_2']",
        "api_key = settings.providers.openai.api_key_2",
        "api_key_env: OPENAI_API_KEY_FOR_TESTS_2",
        'token_type = "OAuth2Token"',
        "token: release-3.7.3",
        "secret = module.read_secret_of_user_2",
        "key = web3js.utils2",
        "the password is stored in the vault; never commit it",
        "the password is required and must have 8 characters",
        "postgres://user:password@localhost:5432/db",
        "postgres://postgres:postgres@localhost/test",
        "https://user:pass@example.com",
        "docker pull docker://alpine:3.18@sha256:0123",
        "secretName: importer-database-credentials-v2",
        "token_count: 12345678901234567890",
        "max_tokens=200000, cache_read_tokens=180000",
        'prompt("Password", hide_input2=True)',
        "connect(password=ssl_password, ssl_version=ssl_version_2)",
        "socks5h://<username>:<password>@proxy-host2",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        "basic authentication, basic understanding",
        "curl -u $USER:$PASSWORD https://acme.dev",
        "commit 3f2a91c4d5e6f708192a3b4c5d6e7f8091a2b3c4",
        "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "see the tokens in src/reverie/models/tokens/estimate_v2.py",
        "密码存放在保险库中,不要提交",
        "sk-ant-oat01-" + "...",
        "export ANTHROPIC_API_KEY=sk-ant-api03-" + "...",
        "the token parser was fixed in commit 3f2a91c4d5e6f708192a3b4c5d6e7f8091a2b3c4",
        "3f2a91c4d5e6f708192a3b4c5d6e7f8091a2b3c4 tokens: count the tools as well",
        "the secret scanner of session 0a280de7-5091-4d63-9c5c-399e4286e677 found nothing",
        "use claude-sonnet-4-5-20250929 as the model for the token test",
        "the key file is build/keys/release-2026-09-01.pub",
        '"tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"',
        "lib/credentials/_auth.py,sha256=fROcvmEDd_ubzMcWlFchwld2RRKAWjaThhm1GYXoB_Q,4124",
        '"integrity": "sha512-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08=="',
        "la contraseña es obligatoria y tiene 8 caracteres",
        "das Passwort ist abgelaufen, bitte neu setzen",
        "le mot de passe est stocké dans le coffre",
        "<img src='data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4'> token",
    ],
)
def test_what_only_looks_like_a_secret_is_left_alone(harmless: str) -> None:
    assert scan(harmless) == []


@requirement("secrets:scan:no-false-alarm")
def test_real_transcripts_and_instruction_files_raise_no_alarm(shared_data: Path) -> None:
    alarms = [
        (path.name, finding)
        for path in sorted(shared_data.rglob("*"))
        if path.suffix in {".md", ".jsonl"} and path.is_file()
        for finding in scan(path.read_text(encoding="utf-8"))
    ]

    assert alarms == []


@requirement("secrets:scan:hidden")
@given(st.integers(5, 35), st.sampled_from(["\u200b", "\u2060", "\ufeff", "\u00ad", "\n", "\r\n", "\\\n", "\n  > "]))
def test_a_token_that_is_broken_up_is_still_found(place: int, between: str) -> None:
    token = "ghp_" + letters_and_digits(36, random.Random(place))
    text = f"use {token[:place]}{between}{token[place:]} for releases"

    (finding,) = scan(text)
    assert redact(text) == "use [secret: github-token] for releases"
    assert text[finding.start] == "g"


@requirement("secrets:scan:never-shows")
@given(st.text(max_size=40), st.sampled_from(TOKENS), st.text(max_size=40), st.randoms(use_true_random=False))
def test_redaction_leaves_no_planted_token_and_is_stable(
    before: str, rule: SecretRule, after: str, chance: random.Random
) -> None:
    secret = secret_of(rule, chance)
    text = f"{before} {secret} {after}"

    cleaned = redact(text)
    assert secret not in cleaned
    assert redact(cleaned) == cleaned


@requirement("secrets:scan:never-shows")
def test_a_finding_names_rule_and_line_and_does_not_hold_the_text() -> None:
    token = "ghp_" + letters_and_digits(36, CHANCE)

    (finding,) = scan(f"one\ntwo {token}\n")
    assert finding == Finding("github-token", 8, 8 + len(token), line=2)
    assert token not in repr(finding)


@given(st.text())
def test_any_text_can_be_scanned_and_findings_are_apart_and_in_order(text: str) -> None:
    findings = scan(text)

    assert all(0 <= finding.start < finding.end <= len(text) for finding in findings)
    assert all(one.end <= two.start for one, two in pairwise(findings))


def test_the_engine_of_the_extra_is_asked_wherever_it_is_installed() -> None:
    pytest.importorskip("betterleaks")
    foreign = "fio-u-" + letters_and_digits(64, CHANCE)

    assert foreign not in redact(f"the render bot of the film crew has {foreign} these days")
