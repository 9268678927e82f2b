"""The event archive: stations store value changes in a history that switches segments."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar

from loadstone.errors import WrongInputError
from loadstone.results.record import CheckResult, Fingerprint, MetricValue, Notice
from loadstone.results.trial_files import read_plan
from loadstone.spec.problems import Path as Way
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.capabilities import SECOND_PLACE
from loadstone.targets.database import Database
from loadstone.targets.dialect import Dialect
from loadstone.workloads.archive.checks import CHECKS, check_account, check_history, check_said
from loadstone.workloads.archive.durability import ArchiveAudit
from loadstone.workloads.archive.metrics import HEADLINE, METRICS, SWITCHED, metric_values
from loadstone.workloads.archive.parameters import GROUPS, INSERT, ArchiveParameters
from loadstone.workloads.archive.replay_file import provide
from loadstone.workloads.archive.search import ArchiveSearch
from loadstone.workloads.archive.tables import CREATE_VIEW, FIRST_ROW, tables
from loadstone.workloads.base import LoadContext, RunDriver, spans
from loadstone.workloads.charts import Charts, Flow
from loadstone.workloads.database import DatabaseWorkload
from loadstone.workloads.measured import Measured

BYTES_PER_EVENT = {"postgresql": 100, "mariadb": 100, "sqlite": 60}
"""Row and index, by dialect. PostgreSQL: 55 GB of 541 million events (docs/archive.md). MariaDB: a
row of 60 bytes in pages 15/16 full, an entry of the index of 24 in pages 2/3 full. SQLite: 100,000
such events, stored by its own library. DuckDB compresses: how much is not known before."""


class EventArchive(DatabaseWorkload):
    """The event-archive workload."""

    name = "archive"
    origin = "the archiver of CERN's control systems (PVSS) on Oracle Exadata, openlab 2008"
    requires: ClassVar[frozenset[str]] = frozenset({"sql", "bulk"})
    Parameters = ArchiveParameters
    metrics = METRICS
    headline = HEADLINE
    checks = CHECKS
    first_factor = ("workload.preallocate", "true, false")
    decides = frozenset(
        {"load", "users", "rate_per_s", "arrival", "sessions", "queue", "think_time", "backlog"}
    )
    Search = ArchiveSearch
    Durability = ArchiveAudit
    parameters: ArchiveParameters

    def needs(self) -> frozenset[str]:
        """The staged path calls a procedure; not every engine compresses or moves a table."""
        own = self.parameters
        return (
            self.requires
            | ({"procedures"} if own.path == "staged" else set())
            | ({"table-compression"} if own.compress else set())
            | ({SECOND_PLACE} if own.move else set())
        )

    @classmethod
    def paths(cls, parameters: Mapping[str, Any]) -> Sequence[Way]:
        """The file to replay."""
        return [("csv",)] if isinstance(parameters.get("csv"), str) else []

    def files(self) -> Mapping[str, str]:
        """What the stations replay."""
        csv = self.parameters.csv
        return {} if csv is None else {"csv": csv}

    def examine_file(self, parameter: str) -> None:
        """All lines of the file to replay are read, and kept for the load."""
        super().examine_file(parameter)
        path, elements = Path(self.files()[parameter]), self.parameters.elements
        found = provide(path).elements
        if found > elements:
            raise WrongInputError(
                f"{path} has {found:,} elements, more than the {elements:,} of a station",
                advice=f"give elements: {found} or more",
            )

    def arrival(self, profile: ProfileSpec) -> str:
        """The rate of the events."""
        own = self.parameters
        stations = "1 station" if own.stations == 1 else f"{own.stations} stations"
        if own.csv is not None:
            return f"{own.csv} replayed by {stations}, {spans(profile)}"
        return f"{own.rate:,.0f} events/s of {stations}, {spans(profile)}"

    def loaded(self, profile: ProfileSpec) -> ProfileSpec:
        """Closed users who act on a grid of their own: attendants, operators and stations."""
        return profile.model_copy(
            update={"users": self.parameters.users, "think_time": "specified"}
        )

    def data_key(self) -> dict[str, Any]:
        """An empty archive differs in whether its first segment has an index."""
        return {"index": self.parameters.index}

    def expected_size_bytes(self) -> int:
        """Nothing is loaded."""
        return 0

    def growth_bytes(self, profile: ProfileSpec, target: type[Database]) -> int | None:
        """Of all events that fall due; not known of those of a file, nor compressed."""
        own = self.parameters
        each_bytes = BYTES_PER_EVENT.get(target.dialect.name)
        if each_bytes is None or own.compress or own.csv is not None:
            return None
        loaded_s = profile.warm_up + profile.ramp_s / 2 + profile.measured_s
        return round(own.rate * loaded_s * each_bytes)

    def build(self, target: Database, run_driver: RunDriver, seed: int) -> dict[str, float]:
        """Makes the tables of an empty archive.

        Returns:
            `load_time_s`, `rows`, `size_bytes`.
        """
        begin = monotonic()
        wanted = tables(indexed=self.parameters.index == "live")
        target.create_tables(wanted)
        target.finish_tables(wanted)
        target.execute(FIRST_ROW)
        return {
            "load_time_s": monotonic() - begin,
            "rows": 1.0,
            "size_bytes": float(target.size_bytes()),
        }

    def prepare(self, target: Database) -> None:
        """Makes the view of all segments, the procedure of path `staged`, and the second place."""
        target.execute(CREATE_VIEW)
        if self.parameters.path == "staged":
            target.execute(_script(f"procedures.{target.dialect.name}.sql"))
        if self.parameters.move:
            target.make_second_place()

    def plan(self, context: LoadContext[Database]) -> dict[str, Any]:
        """The plan's `workload` object."""
        csv = self.parameters.csv
        events = None if csv is None else str(provide(Path(csv)).path)
        parameters = {**self.parameters.driver(), "events": events}
        return {"name": self.name, "role": "run", "parameters": parameters}

    def pacing(self) -> dict[str, Any]:
        """The period of each operation."""
        return self.parameters.pacing()

    def charts(self) -> Charts:
        """Bulk inserts are judged, and events are what is offered.

        A bulk insert over the threshold counts as buffering.
        """
        return Charts(
            judged=(INSERT,),
            flow=Flow("events_offered", "events_stored", "events_lost", "events_buffered"),
            groups=GROUPS,
            slow_after_s=self.parameters.threshold,
            marks=(SWITCHED,),
        )

    def observe(self, target: Database) -> dict[str, float]:
        """Events by the stations' marks, size of the database, position of the log if known."""
        (stored,) = target.query("SELECT coalesce(sum(stored), 0) FROM archive_station")[0]
        found = {"events": float(stored), "size_bytes": float(target.size_bytes())}
        log_bytes = target.log_bytes()
        return found if log_bytes is None else {**found, "log_bytes": float(log_bytes)}

    def measure(self, measured: Measured) -> list[MetricValue]:
        """The figures of `METRICS`; those that have no meaning in this trial are left out."""
        return metric_values(measured, self.parameters.threshold)

    def notices(self, measured: Measured) -> list[Notice]:
        """That events were lost: the rate was too high, or a buffer too small for an outage."""
        lost, offered = (measured.counters.get(f"events_{name}", 0) for name in ("lost", "offered"))
        if not lost:
            return []
        return [
            Notice(
                code="events-lost",
                severity="warning",
                message=f"{lost:,} of {offered:,} events were lost: a buffer of "
                f"{self.parameters.buffer_events:,} events was full",
                advice="the target does not hold this rate: lower it, or give stations a larger "
                "buffer_events to bridge a stall",
            )
        ]

    def check(
        self, target: Database, before: Mapping[str, float], measured: Measured
    ) -> list[CheckResult]:
        """The history in itself, then the driver's counts and the events sent against it."""
        own = self.parameters
        checks, contents = check_history(target, own)
        checks.append(check_account(contents, measured.facts))
        if own.csv is None and measured.folder is not None:
            plan = read_plan(measured.folder)
            raised = plan.level is not None and bool(plan.level.raised)
            timed = not raised and not measured.facts.get("events_lost")
            checks.append(check_said(contents, own, plan.seed, timed=timed))
        return checks

    def fingerprint(self, target: Database) -> Fingerprint:
        """The tables, and the file that is replayed: a changed one is another start state."""
        found = super().fingerprint(target)
        if self.parameters.csv is None:
            return found
        sha256 = provide(Path(self.parameters.csv)).sha256
        digest = hashlib.sha256(f"{found.digest} {sha256}".encode()).hexdigest()
        return found.model_copy(
            update={"digest": digest[: len(found.digest)], "sums": {**found.sums, "csv": sha256}}
        )

    def fingerprint_tables(self, dialect: Dialect) -> dict[str, str]:
        """The catalogue of segments; the history itself is empty before a trial."""
        return {"archive_segment": "number + begin_us", "archive_station": "station + stored"}


def _script(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
