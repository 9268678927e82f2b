"""The tables of the event archive: stations, segments, and the first segment of the history.

The names of segments, their index and the view are what the driver uses when it makes the next.
"""

from __future__ import annotations

from loadstone.targets.schema import Column, ColumnType, Index, Table

INTEGER, BIGINT = ColumnType("integer"), ColumnType("bigint")
DOUBLE, INSTANT = ColumnType("double"), ColumnType("instant")

VIEW = "event_history"
"""All segments as one."""
EVENT_COLUMNS = ("element_id", "ts", "value", "text", "status", "station", "seq")
FIRST_SEGMENT = 1
BEGINNING_OF_TIME_US = 0
"""Where the first segment begins: an event that is older than all others is in it."""


def _varchar(size: int) -> ColumnType:
    return ColumnType("varchar", size)


STATION = Table(
    "archive_station",
    columns=(Column("station", INTEGER), Column("stored", BIGINT)),
    primary_key=("station",),
)
"""`stored`: the highest sequence number of the station that is in the history."""

SEGMENT = Table(
    "archive_segment",
    columns=(
        Column("number", INTEGER),
        Column("name", _varchar(40)),
        Column("begin_us", BIGINT),
        Column("state", _varchar(12)),
        Column("created_us", BIGINT, nullable=True),
        Column("current_us", BIGINT, nullable=True),
        Column("closed_us", BIGINT, nullable=True),
        Column("create_s", DOUBLE, nullable=True),
        Column("switch_s", DOUBLE, nullable=True),
        Column("close_s", DOUBLE, nullable=True),
    ),
    primary_key=("number",),
)
"""`begin_us`: a segment has the events from there to the begin of the next, by source time."""


def segment_name(number: int) -> str:
    """Name of a segment's table: `event_history_00000001`."""
    return f"{VIEW}_{number:08d}"


def index_name(segment: str) -> str:
    """Name of a segment's index by element and time."""
    return f"{segment}_element_ts"


def segment_table(number: int, *, indexed: bool) -> Table:
    """A segment of the history, with or without its index."""
    name = segment_name(number)
    return Table(
        name,
        columns=(
            Column("element_id", INTEGER),
            Column("ts", INSTANT),
            Column("value", DOUBLE, nullable=True),
            Column("text", _varchar(80), nullable=True),
            Column("status", INTEGER),
            Column("station", INTEGER),
            Column("seq", BIGINT),
        ),
        indexes=(Index(index_name(name), ("element_id", "ts")),) if indexed else (),
    )


def tables(*, indexed: bool) -> tuple[Table, ...]:
    """All tables of an empty archive."""
    return STATION, SEGMENT, segment_table(FIRST_SEGMENT, indexed=indexed)


FIRST_ROW = (
    "INSERT INTO archive_segment (number, name, begin_us, state) VALUES "
    f"({FIRST_SEGMENT}, '{segment_name(FIRST_SEGMENT)}', {BEGINNING_OF_TIME_US}, 'current');"
)
"""The first segment is the current one."""

CREATE_VIEW = f"""
DROP VIEW IF EXISTS {VIEW};
CREATE VIEW {VIEW} AS SELECT {", ".join(EVENT_COLUMNS)} FROM {segment_name(FIRST_SEGMENT)};
"""
