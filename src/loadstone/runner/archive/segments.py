"""Statements that make segments of the history."""

from __future__ import annotations

from loadstone.workloads.archive.tables import EVENT_COLUMNS, VIEW, index_name, segment_name


def create_table(segment: str) -> str:
    """Makes the table of a segment."""
    return (
        f"CREATE TABLE IF NOT EXISTS {segment} (element_id INTEGER NOT NULL, "
        "ts TIMESTAMP NOT NULL, value DOUBLE, text VARCHAR, status INTEGER NOT NULL, "
        "station INTEGER NOT NULL, seq BIGINT NOT NULL)"
    )


def create_index(segment: str) -> str:
    """Makes the index of a segment, unless it has it."""
    return f"CREATE INDEX IF NOT EXISTS {index_name(segment)} ON {segment} (element_id, ts)"


def replace_view(last: int) -> str:
    """Lets the view be all segments up to number `last`."""
    columns = ", ".join(EVENT_COLUMNS)
    selects = (f"SELECT {columns} FROM {segment_name(number)}" for number in range(1, last + 1))
    return f"CREATE OR REPLACE VIEW {VIEW} AS {' UNION ALL '.join(selects)}"


def instant(unix_us: int) -> str:
    """A moment, from microseconds since 1970."""
    return f"make_timestamp({unix_us})"
