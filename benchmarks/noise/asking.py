"""What the commands over the store share: their options, and where their tables go."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.noise.store import STORE, Session, sessions
from benchmarks.page import put
from benchmarks.table import Report


def parser_of(module: str, about: str | None) -> argparse.ArgumentParser:
    """A parser with what all of them have.

    Args:
        module: Its name, as `limits`.
        about: Its docstring.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.noise.{module}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--page", action="store_true", help="write docs/benchmarks.md")
    return parser


def asked(
    module: str, about: str | None, arguments: Sequence[str], seed: int
) -> tuple[list[Session], bool]:
    """The sessions that a table is made of, and whether it goes onto the page.

    Args:
        module: Its name.
        about: Its docstring.
        arguments: Of the command line.
        seed: Of the sessions, unless others are named.
    """
    parser = parser_of(module, about)
    parser.add_argument("--seeds", nargs="+", type=int, default=[seed])
    parser.add_argument("--store", type=Path, default=STORE)
    options = parser.parse_args(arguments)
    return [each for each in sessions(options.store) if each.seed in options.seeds], options.page


def show(report: Report, *, page: bool) -> None:
    """Prints a table, or puts it on the page."""
    if page:
        put(report.markdown())
    else:
        print(report.markdown())
