"""Workloads whose data are tables."""

from __future__ import annotations

from abc import abstractmethod

from loadstone.results.record import Fingerprint
from loadstone.targets.database import Database
from loadstone.targets.dialect import Dialect
from loadstone.workloads.base import Workload


class DatabaseWorkload(Workload[Database]):
    """What they have in common: the same rows are the same state."""

    @abstractmethod
    def fingerprint_tables(self, dialect: Dialect) -> dict[str, str]:
        """Table: SQL expression over a row, summed into the fingerprint.

        Args:
            dialect: Of the engine that sums. The value is a 64-bit integer, the same on all engines
                that hold the same data.
        """

    def fingerprint(self, target: Database) -> Fingerprint:
        """Rows and sums of the tables."""
        return target.fingerprint(self.fingerprint_tables(target.dialect))
