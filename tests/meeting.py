"""A command for jobs that run at once, however late the machine starts some of them."""

from __future__ import annotations

from pathlib import Path


def met(folder: Path, jobs: int) -> str:
    """A command that ends a second after so many jobs have begun it.

    Args:
        folder: Where they see each other: all nodes show it, and the jobs may make it.
        jobs: How many wait for each other. What begins later finds them all there.
    """
    seen = f"[ $(ls {folder} | wc -l) -ge {jobs} ]"
    return f"mkdir -p {folder}; mktemp {folder}/XXXXXX; until {seen}; do sleep 0.1; done; sleep 1"
