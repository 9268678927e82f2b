"""The console on standard output, whose reader may go away and whose disk may be full."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from loadstone.cli.console import writing


class OutConsole(Console):
    """Leaves it to the command what an output that takes no more means; rich would end it."""

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich does it.

        Raises:
            BrokenPipeError: If the reader of a pipe went away.
            UnwritableError: If it cannot be written otherwise.
        """
        with writing():
            super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """Raises what rich has caught."""
        raise BrokenPipeError
