"""Tokens of an OpenID Connect provider: the signature, issuer, audience and lifetime are checked by PyJWT.

The token says who somebody is, never what they may do: its `sub` must be the subject of a member, whose tenant and
scope stand in the database.
"""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import jwt

from reverie.errors import Unavailable, UserMistake
from reverie.values import value

_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]
"""Asymmetric ones only: a shared secret could be guessed, and `none` is no signature."""
_KEYS_SECONDS = 300
_REFRESH_SECONDS = 30
"""An unknown key id makes us ask for new keys at most this often."""
_FETCH_SECONDS_MAX = 5
_KEYS_BYTES_MAX = 1_000_000
_CLOCK_SKEW_SECONDS = 30


@value
class ProviderOptions:
    """Which tokens of which provider are accepted."""

    issuer: str
    audience: str
    keys: str
    """The provider's JSON Web Key Set: an https URL, or a file."""


class IdentityProvider:
    """Verifies tokens; keeps the provider's keys for some minutes."""

    def __init__(self, options: ProviderOptions) -> None:
        if urlsplit(options.keys).scheme == "http" and urlsplit(options.keys).hostname not in (
            "127.0.0.1",
            "localhost",
        ):
            raise UserMistake(f"server.oidc_jwks is {options.keys}: keys are fetched over https only")
        self.options = options
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._fetched_at = float("-inf")
        self._lock = threading.Lock()

    def read_subject(self, token: str) -> str | None:
        """Whom a token names; None when it is not valid. Raises `Unavailable` when the keys cannot be had."""
        try:
            key = self._find_key(jwt.get_unverified_header(token).get("kid"))
            if key is None:
                return None
            claims = jwt.decode(
                token,
                key,
                algorithms=_ALGORITHMS,
                audience=self.options.audience,
                issuer=self.options.issuer,
                leeway=_CLOCK_SKEW_SECONDS,
                options={"require": ["exp", "sub", "iss", "aud"]},
            )
        except jwt.PyJWTError:
            return None
        subject = claims["sub"]
        return subject if isinstance(subject, str) else None

    def _find_key(self, key_id: str | None) -> jwt.PyJWK | None:
        with self._lock:
            age_seconds = time.monotonic() - self._fetched_at
            if age_seconds > _KEYS_SECONDS or (key_id not in self._keys and age_seconds > _REFRESH_SECONDS):
                self._keys = self._fetch()
                self._fetched_at = time.monotonic()
            return self._keys.get(key_id)

    def _fetch(self) -> dict[str | None, jwt.PyJWK]:
        try:
            keys = jwt.PyJWKSet.from_dict(json.loads(self._read_keys())).keys
        except (OSError, ValueError, jwt.PyJWTError) as problem:
            raise Unavailable(f"the keys of the identity provider cannot be read: {problem}") from problem
        return {key.key_id: key for key in keys}

    def _read_keys(self) -> bytes:
        if urlsplit(self.options.keys).scheme in ("http", "https"):
            with urlopen(self.options.keys, timeout=_FETCH_SECONDS_MAX) as response:  # noqa: S310 - checked above
                content: bytes = response.read(_KEYS_BYTES_MAX)
                return content
        return Path(self.options.keys).expanduser().read_bytes()
