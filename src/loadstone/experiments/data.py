"""The data of an experiment: loaded once for each kind of it, then restored before every trial."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

from loadstone.experiments.model import Level
from loadstone.experiments.observer import Observer
from loadstone.load.driver import Driver
from loadstone.load.profiles import load_plan
from loadstone.results.record import FactorReading
from loadstone.targets.base import Target
from loadstone.workloads.base import LoadRequest, Workload

EMPTY = "empty"
"""Snapshot of the target before any data was loaded."""


class DataStates:
    """Knows which data the target keeps, and makes what is missing."""

    def __init__(self, target: Target, observer: Observer) -> None:
        self._target = target
        self._observer = observer
        self._facts: dict[str, dict[str, float]] = {}

    def keep_empty(self) -> None:
        """Keeps the empty target: every load begins there, also after one that failed."""
        self._target.snapshot(EMPTY)

    def restored(
        self, workload: Workload, seed: int, settings: Mapping[str, Level]
    ) -> tuple[list[FactorReading], dict[str, float]]:
        """Puts the workload's data back as it was loaded, with the settings of a trial.

        The first time data of this kind is asked for it is loaded, under the engine's defaults.

        Returns:
            The settings as read back, and the facts of the load.
        """
        key = data_key(workload, seed)
        if key not in self._facts:
            self._target.restore(EMPTY, {})
            self._facts[key] = self._load(workload, seed)
            self._observer.step("keeping a snapshot of the data")
            self._target.snapshot(key)
        self._observer.step("restoring the data")
        return self._target.restore(key, settings), self._facts[key]

    def reloaded(
        self, workload: Workload, seed: int, settings: Mapping[str, Level]
    ) -> tuple[list[FactorReading], dict[str, float]]:
        """Loads the workload's data anew into the empty target, under the settings of a trial.

        Returns:
            As `restored`.
        """
        readings = self._target.restore(EMPTY, settings)
        return readings, self._load(workload, seed)

    def _load(self, workload: Workload, seed: int) -> dict[str, float]:
        self._observer.step("loading the data")

        def run_driver(request: LoadRequest) -> Mapping[str, float]:
            connection = self._target.connection()
            threads = min(request.sessions, os.cpu_count() or 1)
            plan = load_plan(workload.name, request, connection, threads=threads)
            with Driver(plan, self._observer.frame, password=connection.password) as driver:
                return driver.wait().facts

        return workload.build(self._target, run_driver, seed)


def data_key(workload: Workload, seed: int) -> str:
    """Names the data: equal keys mean equal bytes."""
    what: dict[str, Any] = {"workload": workload.name, "data": workload.data_key(), "seed": seed}
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:12]
