"""Counts as people read them. Nodes of a cluster import it: the standard library is all it uses."""

from __future__ import annotations


def how_many(count: int, noun: str) -> str:
    """A count with its noun, of which there may be one: `1 job`, `3 jobs`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
