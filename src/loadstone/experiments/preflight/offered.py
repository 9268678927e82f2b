"""That a verdict is asked for on what no level can change: the rate at which load arrives."""

from __future__ import annotations

from loadstone.results.metrics import RESPONSE_P95
from loadstone.results.record import Notice
from loadstone.spec.model import Experiment
from loadstone.workloads.judging import offered_rates


def offered_notices(experiment: Experiment) -> list[Notice]:
    """A warning for each such metric; nothing forbids it, as the system may not keep up."""
    return [
        Notice(
            code="offered-rate",
            severity="warning",
            message=f"{name} is the rate at which load arrives, as long as the system keeps up: "
            "no level can change it",
            advice=f"judge by a response time (--metric {RESPONSE_P95}, the default under such a "
            "load), or load the system with closed users",
        )
        for name in offered_rates(experiment)
    ]
