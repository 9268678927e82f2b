"""In what the SQL of engines differs, as far as queries of a workload must know."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True)
class Dialect:
    """The SQL of an engine.

    Attributes:
        name: Of the engine's language; scripts of a workload are chosen by it.
        scaled_decimals: The engine has no decimals: a `decimal(p, s)` is kept as an integer of
            10^-s, exact like the decimals of others.
        counted_instants: The engine has no times: an `instant` is kept as its microseconds since
            1970.
    """

    name: str
    scaled_decimals: bool = False
    counted_instants: bool = False

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
        return f"CAST({10**scale} * ({decimal}) AS {self._wide})"

    def instant(self, unix_us: int) -> str:
        """An `instant` as a literal.

        Args:
            unix_us: Microseconds since 1970, UTC.
        """
        if self.counted_instants:
            return str(unix_us)
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=unix_us)
        return f"TIMESTAMP '{moment:%Y-%m-%d %H:%M:%S.%f}'"

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
