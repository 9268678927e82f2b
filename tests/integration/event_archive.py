"""A small event archive, written by SQL, on every engine that can hold one."""

from collections.abc import Iterator

from loadstone.targets.database import Database
from loadstone.targets.registry import TARGETS
from loadstone.workloads.archive.parameters import ArchiveParameters
from loadstone.workloads.archive.tables import EVENT_COLUMNS, VIEW, segment_name, segment_table
from loadstone.workloads.archive.workload import EventArchive

ENGINES = [engine for engine, target in TARGETS.items() if {"sql", "bulk"} <= target.capabilities]

STATIONS, EVENTS, ELEMENTS = 3, 200, 10
BEGIN_US = 1_700_000_000_000_000
PERIOD_US = 10_000
BEGINS_US = (0, BEGIN_US + 60 * PERIOD_US, BEGIN_US + 130 * PERIOD_US)
"""Of the first segment, which is closed, the second, which is open, and the current third."""
STRAGGLERS = 2
"""The last events of each station come after the first segment, of whose time they are, closed."""
LATE = {50, 65, 131}
"""Events that are so late that some belong to the segment before."""
FACTS = {
    "events_offered": STATIONS * EVENTS + 30.0,
    "events_accepted": STATIONS * EVENTS + 20.0,
    "events_stored": STATIONS * EVENTS + 0.0,
    "events_buffered": 20.0,
    "events_lost": 10.0,
    "events_in_doubt": 0.0,
}

Row = tuple[int, int, float, str | None, int, int, int]


def events() -> Iterator[tuple[int, Row]]:
    """Every event with the number of the segment that it belongs in."""
    for station in range(STATIONS):
        for seq in range(1, EVENTS + 1):
            straggles = seq > EVENTS - STRAGGLERS
            at = 10 if straggles else seq - 10 if seq in LATE else seq
            ts = BEGIN_US + at * PERIOD_US + station
            number = max(n for n, begin in enumerate(BEGINS_US, start=1) if begin <= ts)
            text = "open" if seq % 7 == 0 else None
            element = station * ELEMENTS + seq % ELEMENTS
            yield max(number, 2) if straggles else number, (
                element, ts, seq * 0.1, text, 192, station, seq,
            )  # fmt: skip


def make(target: Database, parameters: ArchiveParameters) -> EventArchive:
    """An archive of three segments and a fourth to come, and the workload that checks it."""
    workload = EventArchive(parameters)
    workload.build(target, lambda _request: {}, 1)
    workload.prepare(target)
    script = []
    for number in (2, 3, 4):
        table = segment_table(number, indexed=parameters.index == "live")
        target.create_tables([table])
        target.finish_tables([table])
    for number, begin, state in ((2, BEGINS_US[1], "open"), (3, BEGINS_US[2], "current")):
        script.append(_segment(number, begin, state))
    script.append(_segment(4, 2**63 - 1, "next"))
    script.append("UPDATE archive_segment SET state = 'closed', closed_us = 1 WHERE number = 1;")
    script += [
        f"INSERT INTO archive_station VALUES ({each}, {EVENTS});" for each in range(STATIONS)
    ]
    placed = list(events())
    for number in (1, 2, 3):
        lines = ", ".join(_line(target, row) for where, row in placed if where == number)
        script.append(f"INSERT INTO {segment_name(number)} VALUES {lines};")
    target.execute("\n".join([*script, view((1, 2, 3, 4))]))
    return workload


def view(numbers: tuple[int, ...], value: str = "value") -> str:
    """Statements that make the view over these segments."""
    columns = ", ".join(value if name == "value" else name for name in EVENT_COLUMNS)
    parts = [f"SELECT {columns} FROM {segment_name(number)}" for number in numbers]
    return f"DROP VIEW {VIEW}; CREATE VIEW {VIEW} AS {' UNION ALL '.join(parts)};"


def _segment(number: int, begin: int, state: str) -> str:
    return (
        "INSERT INTO archive_segment (number, name, begin_us, state) "
        f"VALUES ({number}, '{segment_name(number)}', {begin}, '{state}');"
    )


def _line(target: Database, row: Row) -> str:
    element, ts, value, text, status, station, seq = row
    quoted = "NULL" if text is None else f"'{text}'"
    moment = target.dialect.instant(ts)
    return f"({element}, {moment}, {value}, {quoted}, {status}, {station}, {seq})"
