"""What an unknown word may have meant: words of the store that hold it, or that differ in a letter or two."""

from __future__ import annotations

from collections.abc import Callable

SHORTEST_CORRECTED = 5
"""Shorter words have too many neighbours to guess what was meant."""
_TWO_STEPS_FROM = 8
"""From this length on two wrong letters still leave no doubt."""
_MOST = 3


def corrections(term: str, find_similar: Callable[[str], list[str]]) -> dict[str, int]:
    """Word of the store → how far it is from the unknown term; at most three, nearest first."""
    if len(term) < SHORTEST_CORRECTED or not (term.isascii() and term.isalpha()):
        return {}
    allowed = 2 if len(term) >= _TWO_STEPS_FROM else 1
    distances = {}
    for word in find_similar(term):
        steps = 1 if term in word else distance(term, word, allowed)
        if steps <= allowed:
            distances[word] = steps
    return dict(sorted(distances.items(), key=lambda entry: (entry[1], entry[0]))[:_MOST])


def distance(first: str, second: str, limit: int) -> int:
    """Letters to insert, drop, replace or swap to get from one word to the other; `limit + 1` when it takes more."""
    if abs(len(first) - len(second)) > limit:
        return limit + 1
    # What both begin and end with changes nothing; most words that are compared have much of it.
    while first and second and first[0] == second[0]:
        first, second = first[1:], second[1:]
    while first and second and first[-1] == second[-1]:
        first, second = first[:-1], second[:-1]
    if not first or not second:
        return len(first) + len(second)
    if limit == 1:
        # They differ at both ends now: one letter stands for another, or two are swapped.
        is_swap = len(first) == 2 and first == second[::-1]
        return 1 if is_swap or len(first) == len(second) == 1 else 2
    older: list[int] = []
    previous = list(range(len(second) + 1))
    for row, letter in enumerate(first, start=1):
        current = [row]
        for column, other in enumerate(second, start=1):
            cost = min(previous[column] + 1, current[-1] + 1, previous[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == second[column - 2] and first[row - 2] == other:
                cost = min(cost, older[column - 2] + 1)
            current.append(cost)
        if min(current) > limit:
            return limit + 1
        older, previous = previous, current
    return min(previous[-1], limit + 1)
