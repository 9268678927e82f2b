"""No target: for `noop`, whose operations end in the driver."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from loadstone.errors import TargetError, WrongInputError
from loadstone.probes.base import Probe
from loadstone.results.record import FactorReading, Fingerprint
from loadstone.spec.model import Failure, Level, TargetSpec
from loadstone.targets.base import Connection, SettingInfo, Target
from loadstone.targets.dialect import Dialect
from loadstone.targets.schema import Table


class NoTarget(Target):
    """Nothing is started, kept or restored."""

    engine = "none"
    capabilities: ClassVar[frozenset[str]] = frozenset()
    dialect = Dialect("none")

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """Says that there is none."""
        if spec.settings:
            raise WrongInputError(f"target none has no setting {next(iter(spec.settings))!r}")
        return {"engine": cls.engine}

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """Has no settings."""
        raise WrongInputError(
            f"target none has no setting {name!r}", advice="vary workload.… or profile.… instead"
        )

    def open(self) -> None:
        """Nothing to start."""

    def close(self) -> None:
        """Nothing to stop."""

    def start(self) -> None:
        """Nothing to start."""

    def stop(self) -> None:
        """Nothing to stop."""

    def crash(self, failure: Failure) -> None:
        """Cannot: there is no server."""
        raise TargetError("target none cannot fail", advice="choose --target postgresql")

    def snapshot(self, key: str) -> None:
        """Nothing to keep."""

    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Nothing to empty."""
        return []

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Nothing to restore."""
        return []

    def settle(self, cache: str) -> None:
        """Nothing has caches."""

    def check_alive(self) -> None:
        """Nothing ends."""

    def analyse(self) -> None:
        """Nothing to analyse."""

    def create_tables(self, tables: Sequence[Table]) -> None:
        """Nothing to make."""

    def finish_tables(self, tables: Sequence[Table]) -> None:
        """Nothing to finish."""

    def fingerprint(self, tables: Mapping[str, str]) -> Fingerprint:
        """The fingerprint of nothing."""
        return Fingerprint(rows={}, sums={}, size_bytes=0, digest=hashlib.sha256().hexdigest())

    def size_bytes(self) -> int:
        """Nothing has no size."""
        return 0

    def connection(self) -> Connection:
        """None."""
        return Connection(protocol="none")

    def execute(self, script: str) -> None:
        """Cannot: there is no server."""
        raise WrongInputError("target none runs no statements", advice="choose --target postgresql")

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Cannot: there is no server."""
        raise WrongInputError("target none answers no query", advice="choose --target postgresql")

    def index_names(self, table: str) -> set[str]:
        """No tables, no indexes."""
        return set()

    def probes(self) -> list[Probe]:
        """None."""
        return []

    def inventory(self) -> dict[str, Any]:
        """Only its name."""
        return {"engine": self.engine}

    def log_path(self) -> Path | None:
        """No log."""
        return None

    def server_cpu_s(self) -> float | None:
        """No server."""
        return None
