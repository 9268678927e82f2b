"""From a browser's recording to a scenario: the one path that every import takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone.workloads.http.har.choosing import choose
from loadstone.workloads.http.har.composing import Composed, compose
from loadstone.workloads.http.har.entries import LeftOut
from loadstone.workloads.http.har.reading import read_har
from loadstone.workloads.http.har.tracing import Untraced
from loadstone.workloads.http.har.writing import people_of, refuse_existing, write
from loadstone.workloads.http.scenario import FIRST_VISIT, LOG_IN, LOG_OUT

_OF = {"log_in": LOG_IN, "first_visit": FIRST_VISIT, "log_out": LOG_OUT}
"""Parts of a scenario besides its transactions, and what results call them."""


@dataclass(frozen=True)
class Imported:
    """What became of a recording."""

    scenario: Path
    people: Path | None
    """None: nobody logs in."""
    url: str
    """The target's address."""
    operations: tuple[str, ...]
    """Log-in, transactions and log-out, as results call them."""
    requests: int
    secrets: tuple[str, ...]
    """Environment variables that must be set for a run."""
    untraced: tuple[Untraced, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]


def import_har(
    recording: Path, output: Path, *, hosts: Sequence[str], keep_static: bool, gap_s: float
) -> Imported:
    """Makes a scenario of a recording.

    Args:
        recording: A HAR file.
        output: The file of the scenario; that of its people is written beside it.
        hosts: Further hosts that may be asked: `host`, `host:port` or `http(s)://host:port`.
        keep_static: Static files are fetched on a first visit, and kept as browsers do.
        gap_s: A pause that is longer ends a transaction.

    Raises:
        WrongInputError: If the recording cannot be used, or a file is there already.
        RefusedError: If a secret of the recording would be written.
    """
    refuse_existing(output, people_of(output))
    recorded = read_har(recording)
    choice = choose(recorded, hosts, keep_static=keep_static)
    composed = compose(choice, recorded.entries, gap_s)
    people = write(composed, recording, output)
    return Imported(
        scenario=output,
        people=people,
        url=composed.origin,
        operations=_operations(composed),
        requests=_requests(composed),
        secrets=tuple(composed.secrets.values()),
        untraced=composed.untraced,
        left_out=composed.left_out,
        notes=composed.notes,
    )


def _operations(composed: Composed) -> tuple[str, ...]:
    scenario = composed.scenario
    names = [each["name"] for each in scenario["transactions"]]
    first = [_OF[field] for field in ("log_in", "first_visit") if field in scenario]
    last = [_OF[field] for field in ("log_out",) if field in scenario]
    return (*first, *names, *last)


def _requests(composed: Composed) -> int:
    scenario = composed.scenario
    parts = [*(scenario.get(field) for field in _OF), *scenario["transactions"]]
    steps = [step for part in parts if part for step in part["steps"]]
    return sum(len(step.get("parallel", [step])) for step in steps)
