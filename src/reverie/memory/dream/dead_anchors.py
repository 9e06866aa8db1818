"""Marks memories whose anchor (file, symbol, commit) no longer exists, and unmarks them when it is back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from reverie.memory.topics.anchors import Anchor, describe_anchor
from reverie.memory.topics.topic import Topic

KEY = "broken_anchors"
"""The key of the front matter that lists them."""

IsBroken: TypeAlias = Callable[[Anchor], bool]


def with_broken_anchors(topic: Topic, is_broken: IsBroken) -> Topic:
    """The topic with its dead anchors marked."""
    broken = [describe_anchor(anchor) for anchor in topic.anchors if is_broken(anchor)]
    rest = tuple(pair for pair in topic.extra if pair[0] != KEY)
    extra = (*rest, (KEY, json.dumps(broken, ensure_ascii=False))) if broken else rest
    return topic if dict(extra) == dict(topic.extra) else replace(topic, extra=extra)
