"""The entry point `loadstone`: dispatches to a verb, and turns errors into one line and a code.

The verbs are imported only when they are called, so that `--help` and completion answer at once.
"""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import pairwise
from keyword import iskeyword
from traceback import format_exception
from types import FrameType
from typing import TYPE_CHECKING, Any

from cyclopts import App, CycloptsError, Group, UnusedCliTokensError

from loadstone import __version__
from loadstone.cli.console import UnwritableError, say_error, writing
from loadstone.cli.plain_signs import PLAIN_SIGNS
from loadstone.errors import (
    ExitCode,
    InterruptedTrialError,
    LoadstoneError,
    WrongInputError,
)
from loadstone.secret import ELSEWHERE, HELD, HIDDEN, holds_secret, masked, shown

if TYPE_CHECKING:
    from rich.console import Console

HELP = """A performance lab for data platforms: real workloads on real systems, one variable at a \
time, figures you can defend."""

EPILOGUE = """Exit codes: 0 fine; 1 an error of Loadstone itself; 2 wrong input; 3 a trial is \
invalid; 4 a check of the data failed; 5 the target or the driver failed; 6 refused for safety; \
7 the doctor found what it was told to fail on; 130 interrupted.

Every command takes --debug, which shows the stack trace of an error."""

EXPERIMENT = Group("Experiments", sort_key=1)
RESULTS = Group("Results", sort_key=2)
HOUSEKEEPING = Group("Housekeeping", sort_key=3)
OTHER = Group("Options", sort_key=4)

VERBS = (
    ("run", EXPERIMENT, "Run one configuration, an experiment file, or a trial's plan.json again."),
    ("compare", EXPERIMENT, "Compare levels of one factor, or two results that are there."),
    ("ladder", EXPERIMENT, "Climb a ladder of changes, each judged against the one before."),
    ("sweep", EXPERIMENT, "Run a matrix of factors and levels."),
    ("search", EXPERIMENT, "Search for the highest rate, or the most users, that holds."),
    ("scale", EXPERIMENT, "Measure the same work at 1 to N of something, and fit its law."),
    ("graduate", EXPERIMENT, "Load a system at 100 %, 90 % ... 10 % and idle, with its power."),
    ("crash", EXPERIMENT, "Crash a configuration under load and look for acknowledged commits."),
    ("plan", EXPERIMENT, "Show what an experiment would do, without starting anything."),
    ("init", EXPERIMENT, "Write a commented experiment file that runs as it stands."),
    ("list", RESULTS, "List results, or the workloads, targets, designs, factors, references."),
    ("show", RESULTS, "Show a result on the terminal."),
    ("report", RESULTS, "Write the report of a result as one HTML file."),
    ("export", RESULTS, "Export the figures of a result as CSV or Parquet."),
    ("import", RESULTS, "Make a result or a scenario of what another program wrote."),
    ("join-power", RESULTS, "Join the log of a power meter to a result, as a new one."),
    ("reindex", RESULTS, "Rebuild the index of results from their folders."),
    ("cube", HOUSEKEEPING, "Write the files of the planning cube, or check and change them."),
    ("doctor", HOUSEKEEPING, "Look at this host and at a server, and advise; change nothing."),
    ("recover", HOUSEKEEPING, "Undo what a killed run left behind."),
    ("schema", HOUSEKEEPING, "Print the JSON schema of the experiment file."),
    ("completion", HOUSEKEEPING, "Print or install the completion of a shell."),
)
"""Verb, its group, and its line in the list of commands."""


def build_app(called: str = "") -> App:
    """The commands, each imported when it is needed.

    Args:
        called: The verb that is called: its help is its own text, not its line in the list.
    """
    app = App(
        name="loadstone",
        help=HELP,
        help_epilogue=EPILOGUE,
        help_format="markdown",
        version=f"loadstone {__version__}",
        version_flags=["--version"],
        suppress_keyboard_interrupt=False,
        group_commands=OTHER,
    )
    for order, (verb, group, line) in enumerate(VERBS):
        module = f"{verb}_" if iskeyword(verb) else verb.replace("-", "_")
        app.command(
            f"loadstone.cli.{module}:command",
            name=verb,
            help=None if verb == called else line,
            group=group,
            sort_key=order,
        )
    return app


_NEGATIVE = re.compile(r"-\.?\d")
_OPTION = re.compile(r"--[\w-]+")
_HOME = re.compile(r"(?P<option>--[\w-]+=)?(?P<home>~[\w.-]*)(?=/|$)")
_BARE = re.compile(r"--[\w-]+=")
_NEEDS_NO_JOURNAL = {"recover", "completion", "schema"}


OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""A command imports a thousand modules, most of whose objects stay: with Python's 700, an eighth of
the processor time of a short run goes into looking for garbage among them."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one command and ends the process with its exit code.

    Args:
        arguments: Without the program's name; default: those of the process.
    """
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors=PLAIN_SIGNS)
    sys.exit(run_command(list(sys.argv[1:] if arguments is None else arguments)))


def run_command(arguments: list[str]) -> int:
    """Runs one command.

    Args:
        arguments: Without the program's name.

    Returns:
        The exit code.
    """
    debug = "--debug" in arguments or bool(os.environ.get("LOADSTONE_DEBUG"))
    words = [each for each in arguments if each != "--debug"]
    with _interrupts_noted() as noted:
        return _run(words, arguments, noted, debug=debug)


def _run(words: list[str], arguments: list[str], noted: list[int], *, debug: bool) -> int:
    """Runs one command; `noted` has the interrupts that came meanwhile."""
    try:
        words = [_with_home(each) for each in _as_values(words)]
        _refuse_secrets(words)
        _refuse_empty(words)
        _say_what_is_left_behind(words)
        app = build_app(words[0] if words else "")
        options: dict[str, Any] = {"console": _help_console()} if _asks_help(words) else {}
        code = app(
            words, exit_on_error=False, print_error=False, result_action="return_value", **options
        )
        with writing():
            sys.stdout.flush()
        return code if isinstance(code, int) else int(ExitCode.OK)
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # The reader of a pipe went away (`| head`): nothing to say, and nobody to say it to.
        _say_no_more()
        return int(ExitCode.OK)
    except UnwritableError as error:
        _say_no_more()
        return say_error(error)
    except Exception as error:
        if noted and not isinstance(error, LoadstoneError):
            return int(ExitCode.INTERRUPTED)
        if debug and not isinstance(error, InterruptedTrialError | CycloptsError):
            print(masked("".join(format_exception(error))), end="", file=sys.stderr)
        return say_error(_for_the_user(error, arguments))


@contextmanager
def _interrupts_noted() -> Iterator[list[int]]:
    """Ctrl-C is seen also where a library makes an exception of its own of it."""
    noted: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        noted.append(number)
        raise KeyboardInterrupt

    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield noted
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _for_the_user(error: Exception, arguments: list[str]) -> LoadstoneError:
    """Any error as one that is answered in a line, with an exit code."""
    if isinstance(error, LoadstoneError):
        return error
    if isinstance(error, CycloptsError):
        return WrongOptionError(error, arguments)
    return _internal(error)


def _say_no_more() -> None:
    """What is still to be written on standard output would fail at the end of the process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class WrongOptionError(LoadstoneError):
    """An option or command that does not exist, or a value that it does not take.

    Who errs may have typed a password in the wrong place: what is not a plain word is not quoted.
    """

    exit_code = ExitCode.WRONG_INPUT

    def __init__(self, error: CycloptsError, arguments: Sequence[str]) -> None:
        chain = " ".join(error.command_chain or ())
        command = f"loadstone {chain}".strip()
        advice = f"{command} --help shows what it takes"
        if isinstance(error, UnusedCliTokensError):
            text = _left_over(command, error.unused_tokens or (), arguments)
            advice = f"put a value that has blanks in quotes, and commas between levels; {advice}"
        else:
            text = _without_words(" ".join(str(error).split()), arguments)
        super().__init__(text[:1].lower() + text[1:], advice=advice)


def _left_over(command: str, tokens: Sequence[str], arguments: Sequence[str]) -> str:
    """That words are left over, by their places where these are sure: none of them is quoted."""
    places = [number for number, word in enumerate(arguments, start=1) if word in tokens]
    found = ", ".join(map(str, places)) if len(places) == len(tokens) else ""
    if len(tokens) == 1:
        which = f"word {found} is left over" if found else "a word is left over"
    else:
        which = f"words {found} are left over" if found else f"{len(tokens)} words are left over"
    return f"{which}: {command} takes fewer words"


def _internal(error: Exception) -> LoadstoneError:
    return LoadstoneError(
        f"{type(error).__name__}: {error}",
        advice="this is an error in Loadstone: please report it with the output of the same "
        "command and --debug",
    )


def _refuse_secrets(words: Sequence[str]) -> None:
    """Stops before a password in any word of the command line is told, written or handed on.

    Raises:
        WrongInputError: Which names the place, and never the word.
    """
    for number, word in enumerate(words):
        if holds_secret(word):
            option = word.partition("=")[0] if word.startswith("--") else ""
            before = words[number - 1] if number else ""
            place = next((each for each in (option, before) if _OPTION.fullmatch(each)), "")
            raise WrongInputError(
                f"{place}: the word {HELD}" if place else f"word {number + 1} {HELD}",
                advice=ELSEWHERE,
            )


def _without_words(text: str, arguments: Sequence[str]) -> str:
    """A message of the command line's reader without the words that may be passwords."""
    values = [each.partition("=")[2] if each.startswith("--") else each for each in arguments]
    for word in sorted({*arguments, *values} - {""}, key=len, reverse=True):
        if shown(word) == HIDDEN:
            text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", HIDDEN, text)
    return text


def _as_values(words: list[str]) -> list[str]:
    """The words with each that begins like a negative number joined to the option before it.

    No option begins with a digit, so `-5s` is a value; the parser would take it for an option.
    """
    joined: list[str] = []
    for word in words:
        if _NEGATIVE.match(word) and joined and _OPTION.fullmatch(joined[-1]):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def _with_home(word: str) -> str:
    """A word with the home it begins with written out: shells do so for a word, not behind `=`.

    Raises:
        WrongInputError: If there is no such home.
    """
    found = _HOME.match(word)
    if found is None:
        return word
    home = os.path.expanduser(found["home"])  # noqa: PTH111 - the user is no path yet
    if home == found["home"]:
        raise WrongInputError(
            f"the home {home} is not known here", advice="write the folder out: /home/me/results"
        )
    return f"{found['option'] or ''}{home}{word[found.end() :]}"


def _refuse_empty(words: Sequence[str]) -> None:
    """Stops at an option or a name without a value, as an unset variable of a shell leaves it.

    Raises:
        WrongInputError: If there is one.
    """
    for before, word in pairwise(["", *words]):
        option = before if before.startswith("--") else "a word of the command"
        if not word or _BARE.fullmatch(word):
            raise WrongInputError(
                f"{word.rstrip('=') or option} is empty",
                advice="give it a value, or leave it out; an empty level of a setting is NAME=, or "
                "'' within quotes",
            )


def _asks_help(words: Sequence[str]) -> bool:
    return not words or "--help" in words or "-h" in words


def _help_console() -> Console:
    from loadstone.cli.out_console import OutConsole

    return OutConsole()


def _say_what_is_left_behind(words: list[str]) -> None:
    """One line about the runs that were killed and not yet put right."""
    if _asks_help(words) or words[0].startswith("-") or words[0] in _NEEDS_NO_JOURNAL:
        return
    from loadstone.journal import open_journals

    left = {each: len(each.entries()) for each in open_journals() if not each.alive}
    left = {journal: count for journal, count in left.items() if count}
    if not left:
        return
    first, count = next(iter(left)), sum(left.values())
    runs = "a killed run" if len(left) == 1 else f"{len(left)} killed runs"
    more = "" if len(left) == 1 else ", and others"
    print(
        f"loadstone: {runs} left {count} {'change' if count == 1 else 'changes'} in place "
        f"({masked(first.command) or first.path}{more}): loadstone recover undoes them",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
