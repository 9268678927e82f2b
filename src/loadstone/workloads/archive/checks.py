"""Whether the history holds every event once, where it belongs, and as the driver counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loadstone.results.record import CheckResult
from loadstone.targets.database import Database
from loadstone.workloads.archive.contents import (
    Contents,
    Rows,
    by_station,
    read_contents,
    strays,
)
from loadstone.workloads.archive.element_windows import SEEN, check_view
from loadstone.workloads.archive.parameters import ArchiveParameters
from loadstone.workloads.archive.said import sent
from loadstone.workloads.archive.segments import (
    INDEXES,
    MOVED,
    ORDER,
    Query,
    check_indexes,
    check_moved,
    check_order,
    read_segments,
)
from loadstone.workloads.checked import CheckSpec

ONCE = CheckSpec(
    "every event is stored once",
    "for each station the numbers of its rows are 1 to n, each once, by their count, least,"
    " greatest, sum and sum of squares",
)
MARKS = CheckSpec(
    "stations know what is stored",
    "the mark of each station is its highest number",
)
ACCOUNT = CheckSpec(
    "events add up",
    "offered = stored + held back + lost, by the counts of the load generator and the rows."
    " A batch whose commit was sent and not answered when the load ended is stored whole or"
    " not at all, and the rows tell which",
)
PLACES = CheckSpec(
    "events lie in the segment of their time",
    "each row: none at or after the begin of the next segment. A row before the begin of "
    "its own only if the segment before was closed when it came: then no row of that "
    "station with a higher number lies in an earlier segment",
)
SAID = CheckSpec(
    "events say what was sent",
    "each row: element, value, text and quality by place, against events that are made again from "
    "seed, station and number; where none was lost, the earliest and the latest time of each "
    "station, and of a sample, every 16th event, the times by place. Not with csv, nor of a "
    "station with gaps",
)
CHECKS = (ONCE, MARKS, ACCOUNT, SAID, PLACES, ORDER, INDEXES, SEEN, MOVED)
_SHOWN = 3


def check_history(
    target: Database, parameters: ArchiveParameters
) -> tuple[list[CheckResult], list[Contents]]:
    """The checks that hold at any time, whatever the driver counted and whatever a crash took.

    Returns:
        The checks, and the contents that they have read.
    """
    segments = read_segments(target.query)
    contents = read_contents(target.query, target.dialect, segments)
    stations, marks = by_station(contents), read_marks(target.query)
    checks = [
        _check_once(stations),
        _check_marks(stations, marks),
        _check_places(contents),
        check_order(segments),
        check_indexes(segments, target.index_names, live=parameters.index == "live"),
        check_view(target.query, target.dialect, contents, parameters.elements),
    ]
    if parameters.move:
        checks.append(check_moved(segments, target.moved))
    return checks, contents


def check_account(contents: Sequence[Contents], facts: Mapping[str, float]) -> CheckResult:
    """What was offered is stored, still held back, or counted as lost.

    A batch whose commit was sent and not answered is in doubt: it is stored whole or not at all,
    and the rows tell which.

    Args:
        contents: Of all segments.
        facts: What the driver said at its end.
    """
    stored = sum(each.count for each in contents)
    told = {name: round(facts.get(f"events_{name}", 0)) for name in _ACCOUNTS}
    in_doubt = stored - told["stored"]
    resolved = 0 <= in_doubt <= told["in_doubt"]
    held_back = told["buffered"] + told["in_doubt"] - in_doubt
    fits = told["offered"] == stored + held_back + told["lost"]
    doubt = f" (and {told['in_doubt']:,} in doubt)" if told["in_doubt"] else ""
    return ACCOUNT.of(
        passed=resolved and fits and told["offered"] > 0,
        detail=f"the driver offered {told['offered']:,}: {told['stored']:,} stored{doubt}, "
        f"{told['buffered']:,} held back, {told['lost']:,} lost; the history holds {stored:,}",
    )


def check_said(
    contents: Sequence[Contents],
    parameters: ArchiveParameters,
    seed: int,
    *,
    timed: bool,
) -> CheckResult:
    """Each row says what its station sent as this number.

    Args:
        contents: Of all segments.
        parameters: Of the trial; its events are made up.
        seed: Of the load.
        timed: No event was lost: the number of an event says when it was due.
    """
    stations = {each: rows for each, rows in by_station(contents).items() if rows.whole}
    wrong = []
    for station, rows in sorted(stations.items()):
        own = sent(station, rows.count, parameters, seed)
        if rows.said != own.said:
            wrong.append(f"station {station}: elements, values, texts or qualities")
        span_us = rows.last_us - rows.first_us
        if timed and (rows.timed, span_us) != (
            own.timed_from(rows.first_us),
            own.last_us - own.first_us,
        ):
            wrong.append(f"station {station}: times")
    events = sum(rows.count for rows in stations.values())
    of_times = "with their times" if timed else "times are not known: events were lost"
    return SAID.of(
        passed=not wrong,
        detail=f"other than sent: {'; '.join(wrong[:_SHOWN])}"
        if wrong
        else f"{events:,} events of {len(stations)} stations, {of_times}",
    )


_ACCOUNTS = ("offered", "stored", "lost", "buffered", "in_doubt")


def read_marks(query: Query) -> dict[int, int]:
    """Station: the highest sequence number that it has noted as stored."""
    rows = query("SELECT station, stored FROM archive_station")
    return {int(station): int(stored) for station, stored in rows}


def _check_once(stations: Mapping[int, Rows]) -> CheckResult:
    damaged = [station for station, rows in sorted(stations.items()) if not rows.whole]
    shown = "; ".join(f"station {each}: {_described(stations[each])}" for each in damaged[:_SHOWN])
    return ONCE.of(
        passed=not damaged,
        detail=f"{len(damaged)} stations have gaps or doubles: {shown}"
        if damaged
        else f"{sum(rows.count for rows in stations.values()):,} events of {len(stations)} "
        "stations, numbered from 1 without a gap or a double",
    )


def _check_marks(stations: Mapping[int, Rows], marks: Mapping[int, int]) -> CheckResult:
    reached = {station: rows.greatest for station, rows in stations.items()}
    wrong = [
        station
        for station in sorted({*marks, *reached})
        if marks.get(station, 0) != reached.get(station, 0)
    ]
    shown = "; ".join(
        f"station {each} notes {marks.get(each, 0):,} and has {reached.get(each, 0):,}"
        for each in wrong[:_SHOWN]
    )
    return MARKS.of(
        passed=not wrong,
        detail=f"{len(wrong)} do not: {shown}" if wrong else f"{len(marks)} marks are right",
    )


def _check_places(contents: Sequence[Contents]) -> CheckResult:
    found = strays(contents)
    early = sum(each.early for part in contents for each in part.misplaced.values())
    late = f"; {early:,} came after the segment of their time was closed" if early else ""
    shown = ", ".join(f"{name}: {count:,} rows" for name, count in found.items())
    return PLACES.of(
        passed=not found,
        detail=f"not so in {shown}" if found else f"{len(contents)} segments{late}",
    )


def _described(rows: Rows) -> str:
    return f"{rows.count:,} rows, numbers from {rows.least:,} to {rows.greatest:,}"
