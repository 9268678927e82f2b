"""The data of an experiment: loaded once for each kind of it, then restored before every trial."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

from loadstone.experiments.observer import Observer
from loadstone.load.driver import Driver
from loadstone.load.profiles import load_plan
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import Target
from loadstone.workloads.base import AnyWorkload, LoadRequest


class DataStates:
    """Knows which data the target keeps, and makes what is missing."""

    def __init__(self, target: Target, observer: Observer) -> None:
        self._target = target
        self._observer = observer
        self._facts: dict[str, dict[str, float]] = {}

    def restored(self, key: str, spec: TargetSpec) -> tuple[list[FactorReading], dict[str, float]]:
        """Puts data back as they were loaded, with the target as a trial wants it.

        Args:
            key: Under which `keep` has them.
            spec: Of the trial.

        Returns:
            What was read back of the target, and the facts of the load.
        """
        self._observer.activity("restoring the data")
        return self._target.restore(key, spec), self._facts[key]

    def keep(self, workload: AnyWorkload, seed: int, spec: TargetSpec) -> str:
        """Loads data of this kind and layout and keeps them, unless this run or one before did.

        They are loaded in a plain folder and under the settings that all trials share.

        Returns:
            The name under which they are.
        """
        layout = self._target.layout(spec)
        key = data_key(workload, seed, layout)
        if key not in self._facts:
            facts = self._target.recall(key)
            self._facts[key] = self._made(key, workload, seed, layout) if facts is None else facts
        return key

    def reloaded(
        self, workload: AnyWorkload, seed: int, spec: TargetSpec
    ) -> tuple[list[FactorReading], dict[str, float]]:
        """Loads the workload's data anew into a target that is empty and as a trial wants it.

        Returns:
            As `restored`.
        """
        readings = self._target.empty(spec)
        return readings, self._load(workload, seed)

    def _made(
        self, key: str, workload: AnyWorkload, seed: int, layout: Mapping[str, Level]
    ) -> dict[str, float]:
        self._target.empty(self._plain(layout))
        facts = self._load(workload, seed)
        self._observer.activity("keeping a snapshot of the data")
        self._target.snapshot(key)
        self._target.retain(key, facts)
        return facts

    def _plain(self, layout: Mapping[str, Level]) -> TargetSpec:
        base = self._target.spec
        other = self._target.layout(base)
        settings = {name: level for name, level in base.named_settings.items() if name not in other}
        return base.bare.with_only({**settings, **layout})

    def _load(self, workload: AnyWorkload, seed: int) -> dict[str, float]:
        self._observer.activity("loading the data")

        def run_driver(request: LoadRequest) -> Mapping[str, float]:
            connection = self._target.connection()
            threads = min(request.sessions, os.cpu_count() or 1)
            plan = load_plan(workload.name, request, connection, threads=threads)
            driver = Driver(
                plan,
                self._observer.frame,
                secrets=connection.secrets,
                program=workload.program(connection),
            )
            with driver:
                return driver.wait().facts

        return workload.build(self._target, run_driver, seed)


def data_key(workload: AnyWorkload, seed: int, layout: Mapping[str, Level]) -> str:
    """Names the data: equal keys mean equal bytes."""
    what: dict[str, Any] = {
        "workload": workload.name,
        "data": workload.data_key(),
        "seed": seed,
        "layout": dict(layout),
    }
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:12]
