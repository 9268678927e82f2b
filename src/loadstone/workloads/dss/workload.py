"""Decision support: 22 queries, refreshes, and streams of both at the same time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any, ClassVar

from loadstone.errors import LoadstoneError
from loadstone.protocol.steps import StepRun, steps_of
from loadstone.results.record import CheckResult, MetricValue, Notice
from loadstone.results.trial_files import read_plan
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.database import Database
from loadstone.targets.dialect import Dialect
from loadstone.workloads.base import LoadContext, RunDriver, StepInfo
from loadstone.workloads.dss import refresh
from loadstone.workloads.dss.checks import (
    LINES_HOLD,
    ORDERS_HOLD,
    OTHERS,
    PUBLISHED,
    REFERENCE,
    check_published,
    check_reference,
    check_tables,
)
from loadstone.workloads.dss.data import DataSet, provide, refuse_altered_files
from loadstone.workloads.dss.equal_answers import EQUAL, check_equal
from loadstone.workloads.dss.metrics import (
    GEOMETRIC_MEAN,
    HEADLINE,
    METRICS,
    POWER,
    QUERIES,
    STEPS,
    THROUGHPUT,
    metric_values,
    missing,
)
from loadstone.workloads.dss.parameters import DecisionSupportParameters
from loadstone.workloads.dss.reference import LARGEST_SCALE
from loadstone.workloads.dss.rounds import rounds, steps_planned, users
from loadstone.workloads.dss.steps import PowerRun
from loadstone.workloads.dss.sums import summed
from loadstone.workloads.dss.tables import tables
from loadstone.workloads.measured import Measured
from loadstone.workloads.stepped import LONGEST_S, SteppedWorkload

_BYTES_AT_1 = 1.0e9
_MOST_SAID = 5


class DecisionSupport(SteppedWorkload):
    """The decision-support workload."""

    name = "dss"
    origin = "TPC-H 3.0.1; the published result at 300 GB"
    usual_engine = "duckdb"
    requires: ClassVar[frozenset[str]] = frozenset({"sql", "files"})
    Parameters = DecisionSupportParameters
    metrics = METRICS
    headline = HEADLINE
    energy_units = ("query",)
    checks = (PUBLISHED, REFERENCE, EQUAL, ORDERS_HOLD, LINES_HOLD, OTHERS)
    first_factor = None
    decides = frozenset(
        {
            "load",
            "users",
            "rate_per_s",
            "arrival",
            "sessions",
            "queue",
            "drain",
            "think_time",
            "backlog",
            "warm_up",
            "ramp",
            "measure",
            "phases",
            "threads",
        }
    )
    parameters: DecisionSupportParameters

    @classmethod
    def fitting(cls, capabilities: frozenset[str]) -> dict[str, Any]:
        """No refreshes where rows cannot be deleted."""
        return {} if "changes" in capabilities else {"refreshes": False}

    def needs(self) -> frozenset[str]:
        """Refreshes delete rows."""
        return self.requires | ({"changes"} if self.parameters.refreshes else set())

    def arrival(self, profile: ProfileSpec) -> str:
        """The runs."""
        own = self.parameters
        refreshed = " with refreshes" if own.refreshes else ""
        streams = f", then {own.query_streams} streams" if own.query_streams else ""
        return f"power run{streams}{refreshed}"

    def loaded(self, profile: ProfileSpec) -> ProfileSpec:
        """A session for each stream; phases end when their work is done."""
        own = self.parameters
        return profile.model_copy(
            update={
                "users": users(own),
                "warm_up": LONGEST_S if own.warm_up else 0.0,
                "measure": LONGEST_S,
            }
        )

    def data_key(self) -> dict[str, Any]:
        """Scale, indexes, and how many refreshes lie ready."""
        own = self.parameters
        return {"scale": own.scale, "indexes": own.indexes, "pairs": own.pairs}

    def expected_size_bytes(self) -> int:
        """About the raw data."""
        return int(self.parameters.scale * _BYTES_AT_1)

    def build(self, target: Database, run_driver: RunDriver, seed: int) -> dict[str, float]:
        """Generates the data if they are not there yet, and loads them.

        Returns:
            `load_time_s` and its parts `create_s`, `rows_s`, `keys_s` and `statistics_s`;
            `generate_s`, which is not part of it; `rows`, `raw_bytes`, `size_bytes`.

        Raises:
            WrongInputError: If a file was altered.
            LoadstoneError: If the rows in the target are not those of the files.
        """
        own = self.parameters
        data = self._data(target, seed)
        refuse_altered_files(data)
        indexes = own.indexes
        if indexes == "usual":
            indexes = target.usual_keys
        wanted = [*tables(indexes), *refresh.STAGED]
        laps = [monotonic()]

        def lap() -> float:
            laps.append(monotonic())
            return laps[-1] - laps[-2]

        target.create_tables(wanted)
        parts = {"create_s": lap()}
        for table in wanted:
            target.load_files(table, data.files[table.name], sessions=own.load_sessions)
        parts["rows_s"] = lap()
        target.finish_tables(wanted)
        parts["keys_s"] = lap()
        target.analyse()
        parts["statistics_s"] = lap()
        self._compare(target, data)
        return {
            "load_time_s": sum(parts.values()),
            **parts,
            "generate_s": data.generated_s,
            "rows": float(sum(data.rows.values())),
            "raw_bytes": float(data.bytes),
            "size_bytes": float(target.size_bytes()),
        }

    def planned(self, context: LoadContext[Database]) -> dict[str, Any]:
        """The runs."""
        own = self.parameters
        return {
            "rounds": rounds(own, context.seed, context.target.dialect),
            "time_limit_s": own.time_limit,
        }

    def observe(self, target: Database) -> dict[str, float]:
        """Nothing: a count of rows would run beside the first steps, and warm cold caches."""
        return {}

    def measure(self, measured: Measured) -> list[MetricValue]:
        """The figures of `METRICS`; those that a failed query spoils are left out."""
        return metric_values(measured, self.parameters)

    def energy_per(self, measured: Measured) -> Mapping[str, float]:
        """A query; what refreshes took is part of it."""
        return {"query": sum(measured.operations.get(name, 0) for name in QUERIES)}

    def notices(self, measured: Measured) -> list[Notice]:
        """Which steps failed or never began, and which figures there are not because of them.

        An error where the figure is missing that the trial is judged by.
        """
        steps = steps_of(measured.events)
        failed = [step for step in steps if not step.ended_well]
        planned = steps_planned(self.parameters)
        never = planned - len(steps)
        if not failed and not never:
            return []
        found = {value.name: value.value for value in self.measure(measured)}
        lacking = missing(found, self.parameters)
        said = [_said(step) for step in failed[:_MOST_SAID]]
        said += [f"{never} never began"] if never else []
        any_is_timed = bool(PowerRun.of(steps).queries_s)
        stands = "the times of all others stand" if any_is_timed else "no query was timed"
        return [
            Notice(
                code="queries-failed",
                severity="warning" if self.judged_metric() in found else "error",
                message=f"{len(failed) + never} of {planned} steps did not end well: "
                + "; ".join(said),
                advice=(f"there is no {', '.join(lacking)}; " if lacking else "") + stands,
            )
        ]

    def check(
        self, target: Database, before: Mapping[str, float], measured: Measured
    ) -> list[CheckResult]:
        """Answers against the published ones or a second reading, and other trials; the tables."""
        own, steps, folder = self.parameters, steps_of(measured.events), measured.folder
        found = []
        if folder is not None:
            if own.warm_up and own.scale == 1.0:
                found.append(check_published(folder, steps))
            elif own.warm_up and own.scale <= LARGEST_SCALE:
                seed = read_plan(folder).data_seed
                found.append(check_reference(folder, self._data(target, seed), steps))
            equal = check_equal(folder, steps)
            found += [] if equal is None else [equal]
        return [*found, *check_tables(target, measured.loaded, steps)]

    def warms(self) -> str | None:
        """The warm-up asks all queries."""
        return "its parameter warm_up asks each query before" if self.parameters.warm_up else None

    def judged_metric(self) -> str:
        """The composite, or what there is of it without streams or refreshes."""
        own = self.parameters
        if own.query_streams:
            return HEADLINE if own.refreshes else THROUGHPUT.name
        return POWER.name if own.refreshes else GEOMETRIC_MEAN.name

    def steps(self) -> Sequence[StepInfo]:
        """The queries and the two refreshes."""
        return STEPS

    def fingerprint_tables(self, dialect: Dialect) -> dict[str, str]:
        """All numbers and dates of the eight tables, by place."""
        return summed(dialect)

    def _data(self, target: Database, seed: int) -> DataSet:
        own = self.parameters
        return provide(own.scale, target.files_form, pairs=max(own.pairs, 1), seed=seed)

    def _compare(self, target: Database, data: DataSet) -> None:
        """What was loaded is what is in the files."""
        found = target.fingerprint(summed(target.dialect))
        for table, rows in data.rows.items():
            if found.rows[table] != rows or found.sums[table] != data.sums[table]:
                raise LoadstoneError(
                    f"{table} holds {found.rows[table]:,} rows with sum {found.sums[table]} after "
                    f"the load; its files hold {rows:,} with sum {data.sums[table]}"
                )


def _said(step: StepRun) -> str:
    return f"{step.operation} of {step.stream} ({step.error_class}: {step.error})"
