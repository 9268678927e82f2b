"""What is said where: figures and documents on standard output, all else on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from typing import TYPE_CHECKING

from loadstone.errors import LoadstoneError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def say_error(error: LoadstoneError) -> int:
    """Says what is wrong and what to do, on standard error.

    Returns:
        The exit code that belongs to it.
    """
    print(f"loadstone: {error.message}", file=sys.stderr)
    if error.advice:
        print(f"  {error.advice}", file=sys.stderr)
    return int(error.exit_code)


def say(text: str) -> None:
    """One line for people, on standard error."""
    print(f"loadstone: {text}", file=sys.stderr)


def say_document(text: str) -> None:
    """A document on standard output: whole and in UTF-8, whatever the encoding of the terminal.

    Raises:
        UnwritableError: If it cannot be written.
    """
    text = text if text.endswith("\n") else f"{text}\n"
    with writing():
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.flush()
            sys.stdout.buffer.write(text.encode("utf-8", errors="backslashreplace"))
        else:
            sys.stdout.write(text)


class UnwritableError(LoadstoneError):
    """Standard output takes no more, though nobody closed it: a full disk."""


@contextmanager
def writing() -> Iterator[None]:
    """Standard output is written within the block, and nothing else is.

    Raises:
        BrokenPipeError: If the reader of a pipe went away.
        UnwritableError: If it cannot be written otherwise.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UnwritableError(
            f"standard output cannot be written: {error.strerror}",
            advice="send it elsewhere; loadstone show prints a result again",
        ) from error


def out() -> Console:
    """The console on standard output."""
    from loadstone.cli.out_console import OutConsole

    return OutConsole(highlight=False, emoji=False)


def plain_table(
    *columns: str, title: str | None = None, whole: Sequence[str] = ("name", "started")
) -> Table:
    """A table without lines; what does not fit is wrapped, never cut.

    Args:
        columns: Their headings.
        title: Above them.
        whole: Columns that are not wrapped as long as there is room for the others.
    """
    from rich.table import Column

    from loadstone.cli.plain_table import PlainTable

    return PlainTable(
        *(Column(name, overflow="fold", no_wrap=name in whole) for name in columns),
        title=title,
        title_justify="left",
        header_style="bold",
        box=None,
    )


def err() -> Console:
    """The console on standard error."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, emoji=False)
