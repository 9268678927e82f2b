"""What a first experiment file shows of a target."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FirstFile:
    """The section `target`, and what may be compared on it, as comments."""

    section: str
    ladder: str = ""
    factor: tuple[str, str] = ("profile.users", "4, 8")
    """A setting that a comparison of large queries may vary, and its levels."""
