"""A workload without a target: the driver waits for a service time of the user's choice.

It shows what Loadstone itself can do and see: the cost of its loop, its schedule lag, whether a
planted slowdown is found. All its data is a number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from pydantic import Field

from loadstone.limits import LONGEST_S, MOST_SERVICE_TIME_US, MOST_SIGMA
from loadstone.protocol.programs import Program
from loadstone.results.record import CheckResult, Fingerprint, MetricValue
from loadstone.spec.base import Spec
from loadstone.targets.base import Target
from loadstone.targets.connection import Connection
from loadstone.workloads.base import LoadContext, Workload
from loadstone.workloads.checked import CheckSpec
from loadstone.workloads.measured import Measured, MetricSpec

NOTHING = Fingerprint(digest=hashlib.sha256().hexdigest())
DONE = CheckSpec(
    "work was done",
    "the load generator counted an operation that ended well, at least one; there are no data",
)


class NoopParameters(Spec):
    """Parameters of `noop`."""

    service_time_us: float = Field(
        default=0.0, ge=0, le=MOST_SERVICE_TIME_US, description="Mean, microseconds."
    )
    distribution: Literal["constant", "exponential", "lognormal"] = "constant"
    sigma: float = Field(
        default=0.5, gt=0, le=MOST_SIGMA, description="Of the logarithm; lognormal only."
    )
    error_rate: float = Field(default=0.0, ge=0, le=1, description="Share of attempts that fail.")
    error_class: str = Field(default="40001", description="Class of those errors.")
    servers: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Operations in service at a time, of all sessions; others wait in line.",
    )
    slower_after_s: float | None = Field(
        default=None,
        ge=0,
        le=LONGEST_S,
        description="From then on service times grow (seconds after the start).",
    )
    slower_per_min: float = Field(
        default=1.0, ge=0.01, le=100, description="The factor by which they grow in a minute."
    )


class Noop(Workload[Target]):
    """Waiting for a service time, with a planted capacity and a planted degradation on demand."""

    name = "noop"
    origin = "Loadstone's own; nothing is measured but the generator"
    usual_engine = "none"
    requires: ClassVar[frozenset[str]] = frozenset()
    Parameters = NoopParameters
    metrics = (
        MetricSpec("operations_per_s", "operations", "operations/s", True, follows_rate=True),
        MetricSpec("driver_cpu_us", "driver CPU per operation", "us", False),
    )
    headline = "operations_per_s"
    checks = (DONE,)
    parameters: NoopParameters

    def plan(self, context: LoadContext[Target]) -> dict[str, Any]:
        """The service time and the rate of errors."""
        own = self.parameters
        service_time: dict[str, Any] = {
            "distribution": own.distribution,
            "mean_us": own.service_time_us,
        }
        if own.distribution == "lognormal":
            service_time["sigma"] = own.sigma
        parameters: dict[str, Any] = {
            "service_time_us": service_time,
            "error_rate": own.error_rate,
            "error_class": own.error_class,
        }
        if own.servers is not None:
            parameters["servers"] = own.servers
        if own.slower_after_s is not None:
            parameters["slower_after_s"] = own.slower_after_s
            parameters["slower_per_min"] = own.slower_per_min
        return {"name": self.name, "role": "run", "parameters": parameters}

    def operations(self) -> Sequence[str]:
        """The one that does nothing."""
        return (self.name,)

    def program(self, connection: Connection) -> Program:
        """The driver; its processes cannot share one line of operations that wait."""
        return replace(connection.program, shares=self.parameters.servers is None)

    def measure(self, measured: Measured) -> list[MetricValue]:
        """Operations a second and what one cost the driver."""
        count = sum(measured.operations.values())
        values = {"operations_per_s": count / measured.duration_s}
        if count:
            values["driver_cpu_us"] = measured.driver_cpu_s / count * 1e6
        return [spec.of(values[spec.name]) for spec in self.metrics if spec.name in values]

    def check(
        self, target: Target, before: Mapping[str, float], measured: Measured
    ) -> list[CheckResult]:
        """Something must have been done."""
        count = sum(measured.total_operations.values())
        return [DONE.of(passed=count > 0, detail=f"{count} operations")]

    def fingerprint(self, target: Target) -> Fingerprint:
        """Nothing is always the same."""
        return NOTHING
