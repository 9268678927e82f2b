"""In what the SQL of engines differs, as far as queries of a workload must know."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dialect:
    """The SQL of an engine.

    Attributes:
        name: Of the engine's language; scripts of a workload are chosen by it.
        scaled_decimals: The engine has no decimals: a `decimal(p, s)` is kept as an integer of
            10^-s, exact like the decimals of others.
    """

    name: str
    scaled_decimals: bool = False

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

    @property
    def _wide(self) -> str:
        return "signed" if self.name == "mariadb" else "bigint"
