"""Tokens of an identity provider whose keys this test makes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from reverie.apps.server.accounts import create_member
from reverie.apps.server.database import ALL_TENANTS
from reverie.apps.server.identity_provider import IdentityProvider, ProviderOptions
from reverie.errors import UserMistake
from tests.apps.server.kit import START_SECONDS, Served, entry, fault
from tests.requirements import requirement

FAR = 4_000_000_000


class Issuer:
    """An identity provider with one key."""

    def __init__(self, folder: Path) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.file = folder / "jwks.json"
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key()))
        self.file.write_text(json.dumps({"keys": [{**public, "kid": "one", "alg": "ES256", "use": "sig"}]}))

    def token(self, key: Any = None, *, kid: str = "one", algorithm: str = "ES256", **claims: Any) -> str:
        usual = {"iss": "https://issuer.example", "aud": "reverie", "sub": "idp|ada", "exp": FAR}
        return jwt.encode({**usual, **claims}, key or self.key, algorithm, headers={"kid": kid})

    @property
    def provider(self) -> IdentityProvider:
        return IdentityProvider(ProviderOptions("https://issuer.example", "reverie", str(self.file)))


@pytest.fixture
def issuer(tmp_path: Path) -> Issuer:
    return Issuer(tmp_path)


@requirement("server:oidc", "server:author")
async def test_a_member_writes_with_a_token_of_the_provider(served: Served, issuer: Issuer) -> None:
    served.provider = issuer.provider
    with served.database.writing(ALL_TENANTS) as connection:
        tenant = served.tenant("acme", connection)
        create_member(connection, tenant, "ada", scope="write", subject="idp|ada", now=int(START_SECONDS))
    client = served.client(issuer.token())

    await client.push({"a.md": entry("a", author="eve")})

    assert (await client.entries())["a.md"]["author"] == "ada"
    assert fault(await served.client(issuer.token(sub="idp|eve")).pull()) == (403, "forbidden")


@requirement("server:oidc")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_a_token_that_is_not_valid_is_refused(served: Served, issuer: Issuer, tmp_path: Path) -> None:
    served.provider = issuer.provider
    with served.database.writing(ALL_TENANTS) as connection:
        tenant = served.tenant("acme", connection)
        create_member(connection, tenant, "ada", scope="write", subject="idp|ada", now=int(START_SECONDS))
    other_key = ec.generate_private_key(ec.SECP256R1())
    header, claims, _ = issuer.token().split(".")
    bad = [
        issuer.token(other_key),
        issuer.token(kid="two"),
        issuer.token(iss="https://elsewhere.example"),
        issuer.token(aud="another service"),
        issuer.token(exp=1_000),
        jwt.encode({"sub": "idp|ada"}, issuer.key, "ES256", headers={"kid": "one"}),
        jwt.encode(
            {"iss": "https://issuer.example", "aud": "reverie", "sub": "idp|ada", "exp": FAR},
            "k" * 40, "HS256", headers={"kid": "one"},
        ),
        f"{header}.{claims}.",
        "x.y.z",
    ]  # fmt: skip

    for token in bad:
        assert fault(await served.client(token).pull()) == (401, "unauthorised"), token
    assert (await served.client(issuer.token()).pull()).status_code == 200
    served.provider = IdentityProvider(ProviderOptions("https://issuer.example", "reverie", str(tmp_path / "none")))
    assert fault(await served.client(issuer.token()).pull()) == (503, "unavailable")


@requirement("server:oidc")
def test_keys_are_not_fetched_over_plain_http() -> None:
    with pytest.raises(UserMistake, match="https"):
        IdentityProvider(ProviderOptions("https://issuer.example", "reverie", "http://issuer.example/keys"))
