"""What a test gives a target that it opens itself."""

from __future__ import annotations

from pathlib import Path

from loadstone.journal import Journal
from loadstone.targets.base import TargetContext


def context_in(folder: Path, *, force: bool = False) -> TargetContext:
    """A context whose journal lies in a folder."""
    journal = Journal(folder / "journal.jsonl", "pytest")
    return TargetContext(journal=journal, owner="pytest", force=force)
