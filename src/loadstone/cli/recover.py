"""`loadstone recover`."""

from __future__ import annotations

import json as json_module
from typing import Annotated, Any

from cyclopts import Parameter

from loadstone.cli.console import say, say_document
from loadstone.cli.options import Flag
from loadstone.errors import ExitCode
from loadstone.journal import Entry, OpenJournal, open_journals
from loadstone.secret import masked


def command(
    *,
    dry_run: Annotated[bool, Parameter(), Flag] = False,
    json: Annotated[bool, Parameter(), Flag] = False,
) -> int:
    """Undo what killed runs left behind: processes, data folders, settings.

    Runs that are still alive are left alone. Doing it twice does no harm.

    Args:
        dry_run: Say what would be undone, and undo nothing.
        json: Print one JSON document on standard output and nothing else there.
    """
    import loadstone.host.memory_group  # these register how their changes are undone
    import loadstone.host.state  # noqa: F401
    from loadstone.meters import registry as meters
    from loadstone.targets import registry as targets

    targets.register_undoing()
    meters.register_undoing()
    journals = [each for each in open_journals() if not each.alive]
    reports = [_recover(each, dry_run=dry_run, quiet=json) for each in journals]
    if json:
        say_document(
            json_module.dumps({"version": 1, "dry_run": dry_run, "journals": reports}, indent=2)
        )
    elif not journals:
        say("nothing to recover")
    clean = dry_run or all(report["clean"] for report in reports)
    return ExitCode.OK if clean else ExitCode.TARGET


def _recover(journal: OpenJournal, *, dry_run: bool, quiet: bool) -> dict[str, Any]:
    """Undoes one journal, or says what that would do."""
    if not quiet:
        say(f"left by {masked(journal.command) or 'a run'} ({journal.path})")
    changes: list[dict[str, Any]] = []

    def report(entry: Entry, error: Exception | None) -> None:
        changes.append({"what": entry.what, "error": str(error) if error else None})
        if not quiet:
            outcome = f"could not be undone: {error}" if error else "undone"
            say(f"  {entry.what}: {'would be undone' if dry_run else outcome}")

    if dry_run:
        for entry in reversed(journal.entries()):
            report(entry, None)
        clean = False
    else:
        clean = journal.recover(report)
        _finish_records(journal)
    return {
        "journal": str(journal.path),
        "command": masked(journal.command),
        "changes": changes,
        "clean": clean,
    }


def _finish_records(journal: OpenJournal) -> None:
    """Finishes the records of the trials that the killed run left, and lists them."""
    from loadstone.load.interrupted import finish_interrupted
    from loadstone.results.folder import EXPERIMENT_FILE
    from loadstone.results.store import index_experiment

    experiment = journal.path.parent
    if (experiment / EXPERIMENT_FILE).exists():
        index_experiment(experiment, finish_interrupted)
