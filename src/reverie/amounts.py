"""Formats numbers for people (sizes, durations, money), the same in every interface."""

from __future__ import annotations


def short_count(number: int | None) -> str:
    """A number as people say it: 950, 12.3k, 1.2M."""
    if number is None:
        return "–"
    if number < 1_000:
        return str(number)
    if number < 1_000_000:
        return f"{number / 1_000:.1f}k" if number < 100_000 else f"{number / 1_000:.0f}k"
    return f"{number / 1_000_000:.1f}M"


def format_count(number: int, noun: str, nouns: str = "") -> str:
    """A number with what it counts: 1 file, 3 files."""
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"


def short_size(size_bytes: int) -> str:
    """A size as people say it."""
    if size_bytes < 1_000:
        return f"{size_bytes} B"
    if size_bytes < 1_000_000:
        return f"{size_bytes / 1_000:.1f} kB"
    if size_bytes < 1_000_000_000:
        return f"{size_bytes / 1_000_000:.1f} MB"
    return f"{size_bytes / 1_000_000_000:.1f} GB"


def dollars(amount: float | None) -> str:
    """A cost; a dash where the price is not known."""
    if amount is None:
        return "–"
    return f"${amount:.4f}" if amount < 0.1 else f"${amount:.2f}"
