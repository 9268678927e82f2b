"""In what the SQL of engines differs, as far as queries of a workload must know."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal


@dataclass(frozen=True)
class Dialect:
    """The SQL of an engine.

    Attributes:
        name: Of the engine's language; scripts of a workload are chosen by it.
        scaled_decimals: The engine has no decimals: a `decimal(p, s)` is kept as an integer of
            10^-s, exact like the decimals of others.
        counted_instants: The engine has no times: an `instant` is kept as its microseconds since
            1970.
        literals_are_doubles: A number with a point is no decimal: sums of two are not exact.
    """

    name: str
    scaled_decimals: bool = False
    counted_instants: bool = False
    literals_are_doubles: bool = False

    def cents(self, money: str) -> str:
        """A `decimal(p, 2)` or a sum of such, as an integer number of hundredths.

        Args:
            money: SQL expression.
        """
        return self.unscaled(money, 2)

    def unscaled(self, decimal: str, scale: int) -> str:
        """A `decimal(p, scale)` or a sum of such, as an integer number of 10^-scale.

        Args:
            decimal: SQL expression.
            scale: Digits after the point.
        """
        if self.scaled_decimals:
            return f"({decimal})"
        scaled = f"{10**scale} * ({decimal})" if scale else decimal
        return f"CAST({scaled} AS {self._wide})"

    def octets(self, text: str) -> str:
        """The length of a text without letters beyond ASCII, which is not looked through for them.

        Args:
            text: SQL expression.
        """
        return f"octet_length({text})" if self.name == "postgresql" else f"length({text})"

    def wide(self, number: str) -> str:
        """An integer with 64 bits, so that products of it do not overflow.

        Args:
            number: SQL expression.
        """
        return f"CAST({number} AS {self._wide})"

    def days(self, date: str) -> str:
        """A `date` as days since 1 January 1992.

        Args:
            date: SQL expression.
        """
        first = "DATE '1992-01-01'"
        if self.name in {"mariadb", "spark"}:
            return f"datediff({date}, {first})"
        if self.name == "clickhouse":
            return f"dateDiff('day', {first}, {date})"
        return f"({date} - {first})"

    def instant(self, unix_us: int) -> str:
        """An `instant` as a literal.

        Args:
            unix_us: Microseconds since 1970, UTC.
        """
        if self.counted_instants:
            return str(unix_us)
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=unix_us)
        return f"TIMESTAMP '{moment:%Y-%m-%d %H:%M:%S.%f}'"

    def exact(self, sql: str) -> str:
        """A query in which sums of two numbers with a point are exact, as in standard SQL."""
        return _SUM.sub(_summed, sql) if self.literals_are_doubles else sql

    def delete_listed(self, table: str, key: str, listed: str, of: str) -> str:
        """Deletes the rows of a table whose key is in a list.

        Args:
            table: To delete from.
            key: Its column.
            listed: Column of the list.
            of: What lists: a table, with a condition if need be (`gone WHERE day = 3`).
        """
        if self.name == "mariadb":
            # It would read the whole list for each row: before 11.1 no DELETE has a semi-join.
            name, _, condition = of.partition(" WHERE ")
            rest = f" WHERE {condition}" if condition else ""
            return f"DELETE {table} FROM {table} JOIN {name} ON {key} = {listed}{rest}"
        return f"DELETE FROM {table} WHERE {key} IN (SELECT {listed} FROM {of})"

    def unix_us(self, instant: str) -> str:
        """An `instant` as its microseconds since 1970.

        Args:
            instant: SQL expression.
        """
        if self.counted_instants:
            return f"({instant})"
        if self.name == "mariadb":
            return f"timestampdiff(MICROSECOND, TIMESTAMP '1970-01-01 00:00:00', {instant})"
        return f"CAST(extract(epoch FROM {instant}) * 1000000 AS bigint)"

    @property
    def _wide(self) -> str:
        return "signed" if self.name == "mariadb" else "bigint"


_SUM = re.compile(r"\b(\d+\.\d+) ([-+]) (\d+\.\d+)\b")


def _summed(match: re.Match[str]) -> str:
    first, sign, second = match.groups()
    return str(Decimal(first) + Decimal(f"{sign}{second}"))
