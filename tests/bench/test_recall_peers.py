from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from bench.recall.peers import Peer
from numpy.typing import NDArray


class _Lengths:
    """Texts of one length mean the same."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[len(text)] for text in texts], dtype=np.float32)

    def windows(self, text: str) -> tuple[str, ...]:
        return (text,)


def test_a_peer_starts_once_and_is_told_each_case_and_its_vectors() -> None:
    peer = Peer(Path(sys.executable), "tests.bench.driver", _Lengths())

    answers = [peer({"a": "four", "b": other})("five") for other in ("two", "nine")]

    assert [answer[1:] for answer in answers] == [["0", "a"], ["1", "a", "b"]]
    assert answers[0][0] == answers[1][0]
