"""Server-side Java: a wholesale company in the memory of one or more JVMs, derived from ssj."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from loadstone.errors import WrongInputError
from loadstone.limits import MOST_QUEUED
from loadstone.protocol.programs import Program
from loadstone.results.record import CheckResult, Fingerprint, MetricValue
from loadstone.spec.design import LoadedBy
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.base import Target
from loadstone.targets.capabilities import JAVA_TRANSACTIONS
from loadstone.targets.connection import Connection
from loadstone.workloads.base import LoadContext, Workload, spans
from loadstone.workloads.measured import Measured
from loadstone.workloads.search import LoadSearch, SearchIncrements
from loadstone.workloads.ssj.checks import CHECKS, check_companies
from loadstone.workloads.ssj.metrics import HEADLINE, METRICS, metric_values
from loadstone.workloads.ssj.parameters import OPERATIONS, SsjParameters
from loadstone.workloads.wanted import Wanted

_QUEUE_S = 10.0
"""So many seconds' worth of transactions may wait: JVMs make 100,000 a second."""


class SsjSearch(LoadSearch):
    """A rate is raised: its users are its workers, one for each warehouse."""

    objective: ClassVar[tuple[str, ...]] = ("p99 < 100 ms", "errors = 0")

    def increments(self, over: LoadedBy) -> SearchIncrements:
        """A JVM makes thousands of transactions a second."""
        return SearchIncrements(first=1000.0)


class ServerSideJava(Workload[Target]):
    """Six transactions on Java objects. The generator lives in the JVMs that serve it."""

    name = "ssj"
    origin = "derived from SPECpower_ssj2008's workload ssj; not a SPECpower result"
    requires: ClassVar[frozenset[str]] = frozenset({JAVA_TRANSACTIONS})
    usual_engine = "jvm"
    usual_profile: ClassVar[Mapping[str, Any]] = {"warm_up": "10s", "measure": "30s"}
    Parameters = SsjParameters
    metrics = METRICS
    headline = HEADLINE
    checks = CHECKS
    decides: ClassVar[frozenset[str]] = frozenset(
        {"users", "sessions", "processes", "threads", "think_time"}
    )
    rebuilds = True
    generator_within = True
    first_factor = None
    Search = SsjSearch
    parameters: SsjParameters

    # -- data ----------------------------------------------------------------------------------
    def fingerprint(self, target: Target) -> Fingerprint:
        """The program with its checksum, and the company that it makes: by the same seeds.

        Flags of the JVMs are no part of it: they are what is compared.
        """
        program = target.inventory().get("program")
        same = {"program": program, "parameters": self.parameters.program()}
        digest = hashlib.sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()
        return Fingerprint(digest=digest, rows={"warehouses": self.parameters.warehouses})

    # -- load ----------------------------------------------------------------------------------
    def arrival(self, profile: ProfileSpec) -> str:
        """A worker for each warehouse; or batches at a rate."""
        if profile.load == "closed":
            workers = self.parameters.warehouses
            return f"closed, {workers} workers without a wait, {spans(profile)}"
        return f"{super().arrival(profile)}, {self.parameters.batch} at a time"

    def loaded(self, profile: ProfileSpec) -> ProfileSpec:
        """Users, or sessions, are the workers; what waits for one is some seconds' worth."""
        workers = self.parameters.warehouses
        found: dict[str, Any] = {"users": workers, "sessions": workers}
        if "queue" not in profile.model_fields_set and profile.rate_per_s is not None:
            highest = profile.rate_per_s * max(phase.share for phase in profile.measured)
            found["queue"] = min(MOST_QUEUED, max(profile.queue, int(_QUEUE_S * highest)))
        return profile.model_copy(update=found)

    def due_together(self) -> int:
        """A batch."""
        return self.parameters.batch

    def plan(self, context: LoadContext[Target]) -> dict[str, Any]:
        """Batch, mix, and what is planted."""
        return {"name": self.name, "role": "run", "parameters": self.parameters.program()}

    def resources(self, profile: ProfileSpec, connection: Connection) -> Wanted:
        """A process for each JVM.

        Raises:
            WrongInputError: If the warehouses cannot be divided among the JVMs.
        """
        jvms, warehouses = connection.processes or 1, self.parameters.warehouses
        if warehouses % jvms:
            enough = -(-warehouses // jvms) * jvms
            raise WrongInputError(
                f"{warehouses} warehouses cannot be divided among {jvms} JVMs",
                advice=f"give a multiple of {jvms}: --param warehouses={enough}",
            )
        return super().resources(profile, connection)

    def program(self, connection: Connection) -> Program:
        """What hands the load to the JVMs, which make it."""
        return connection.handing_over or connection.program

    def operations(self) -> Sequence[str]:
        """The transactions."""
        return OPERATIONS

    # -- figures -------------------------------------------------------------------------------
    def measure(self, measured: Measured) -> list[MetricValue]:
        """Rate, processor time, and what collectors and compilers did."""
        return metric_values(measured)

    def check(
        self, target: Target, before: Mapping[str, float], measured: Measured
    ) -> list[CheckResult]:
        """Orders, payments, balances and stock, to the cent and the unit."""
        return check_companies(measured)
