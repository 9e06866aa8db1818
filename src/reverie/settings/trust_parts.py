"""Settings that a project's own files bring, as things for the user to agree to (`files.trust`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from reverie.files.trust import TrustKind, TrustPart
from reverie.settings.layers import Origin
from reverie.settings.session import Declaration


def parts_of_settings(origins: Mapping[str, Sequence[Origin]]) -> tuple[TrustPart, ...]:
    """What the project's own files set of the settings that wait for trust, as they are when everything is accepted.

    Hooks are left out: they bring scripts along and make their own parts (`extensions.hooks.consent`).
    """
    return tuple(
        part_of_setting(name, origin.value, origin.place)
        for name, said in origins.items()
        for origin in said
        if origin.is_agreed and name != TrustKind.HOOKS
    )


def part_of_setting(key: str, value: object, place: str = "") -> TrustPart:
    """One value of a setting as one thing to agree to."""
    text = value.text if isinstance(value, Declaration) else json.dumps(value, ensure_ascii=False)
    return TrustPart(key, place, text)
