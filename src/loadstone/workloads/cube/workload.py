"""The planning cube: load, aggregate, allocate, convert, restructure, retrieve."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, ClassVar

from loadstone.protocol.frames import Event
from loadstone.protocol.steps import steps_of
from loadstone.results.record import CheckResult, MetricValue
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.database import Database
from loadstone.targets.dialect import Dialect
from loadstone.workloads.base import LoadContext, LoadRequest, RunDriver, StepInfo
from loadstone.workloads.charts import Charts
from loadstone.workloads.cube import grids
from loadstone.workloads.cube.checks import (
    CHECKS,
    check_cycles,
    check_files,
    check_held,
    check_made,
    check_steps,
    refuse_failed,
)
from loadstone.workloads.cube.contents import contents, store, table_of
from loadstone.workloads.cube.cycle import CYCLES, RETRIEVE, Cube
from loadstone.workloads.cube.data.provide import (
    CubeData,
    altered_files,
    provide,
    refuse_altered_files,
    split_into,
)
from loadstone.workloads.cube.data.volume import Volume, volume_of
from loadstone.workloads.cube.equal import (
    LARGEST_SCALE,
    answered_by,
    below_grid,
    check_answers,
    check_cells,
    check_ways,
    kept,
)
from loadstone.workloads.cube.expected import expected
from loadstone.workloads.cube.metrics import (
    GRIDS,
    HEADLINE,
    METRICS,
    STEP_INFOS,
    cycles_of,
    metric_values,
)
from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.outline import outline_of
from loadstone.workloads.cube.outline.restructure import restructure
from loadstone.workloads.cube.parameters import THREADS, CubeParameters
from loadstone.workloads.cube.rates import rates_of
from loadstone.workloads.cube.rollup import Cells
from loadstone.workloads.cube.sql.flavours import FLAVOURS, flavour_of
from loadstone.workloads.cube.sql.load import emptied, types
from loadstone.workloads.cube.sql.tables import BASE, OUTLINE_TABLES, UPPER
from loadstone.workloads.cube.step_checks import Trial
from loadstone.workloads.measured import Measured
from loadstone.workloads.search import LoadSearch
from loadstone.workloads.stepped import LONGEST_S, SteppedWorkload

_BYTES_AT_1 = 2.0e9


class CubeSearch(LoadSearch):
    """Users who retrieve: EssBench's own limits."""

    objective = ("p95 < 1000 ms", "errors < 0.1 %")


class PlanningCube(SteppedWorkload):
    """The planning-cube workload."""

    name = "cube"
    origin = "EssBench: Essbase planning on engineered systems"
    usual_engine = "duckdb"
    requires: ClassVar[frozenset[str]] = frozenset({"sql", "files", "cells"})
    Parameters = CubeParameters
    metrics = METRICS
    checks = CHECKS
    headline = HEADLINE
    energy_units = ("cycle",)
    Search = CubeSearch
    decides = frozenset(
        {
            "load",
            "rate_per_s",
            "arrival",
            "sessions",
            "queue",
            "backlog",
            "drain",
            "warm_up",
            "ramp",
            "phases",
            "threads",
        }
    )
    parameters: CubeParameters

    def arrival(self, profile: ProfileSpec) -> str:
        """The cycles, then the retrieval."""
        cycles = self.parameters.cycles
        before = f"{cycles} cycle{'s' if cycles > 1 else ''}, then retrieval" if cycles else ""
        return ": ".join(filter(None, [before, super().arrival(self._measured(profile))]))

    def _measured(self, profile: ProfileSpec) -> ProfileSpec:
        return profile.model_copy(update={"warm_up": 0.0})

    def loaded(self, profile: ProfileSpec) -> ProfileSpec:
        """Before the retrieval there are the cycles, or a warm-up."""
        warm_up = LONGEST_S if self.parameters.cycles else self.parameters.warm_up
        return profile.model_copy(update={"warm_up": warm_up})

    def sessions(self, profile: ProfileSpec) -> int:
        """Those of the users, and those that do a step together with the first."""
        own = self.parameters
        together = (own.load_threads, own.calc_threads, own.alloc_tasks, own.restructure_threads)
        return super().sessions(profile) + max(together) - 1

    def warms(self) -> str | None:
        """The retrieval follows the cycles, or a warm-up of its own."""
        if self.parameters.cycles:
            return "its cycles come before the retrieval"
        return "its parameter warm_up retrieves grids before"

    def data_key(self) -> dict[str, Any]:
        """Scale, the parts of the file of cells and, where the cube is made with the data, how."""
        own = self.parameters
        made = {"hybrid": own.hybrid} if not own.cycles else {}
        return {
            "scale": own.scale,
            "csv_parts": own.csv_parts,
            "cycled": bool(own.cycles),
            **made,
        }

    def sets(self) -> Mapping[str, str]:
        """The threads of each step; where there are no cycles the target's own hold."""
        if not self.parameters.cycles:
            return {}
        settings = {name for own in FLAVOURS.values() for name in own.thread_settings}
        return dict.fromkeys(settings, THREADS)

    def expected_size_bytes(self) -> int:
        """About the cells with their parents."""
        return int(self.parameters.scale * _BYTES_AT_1)

    def build(self, target: Database, run_driver: RunDriver, seed: int) -> dict[str, float]:
        """Generates the files if they are not there yet, and stores the outline.

        Where there are no cycles it also makes the cube by one, which is checked here.

        Returns:
            `load_time_s`; `generate_s`, which is not part of it; `rows` of the outline; `raw_bytes`
            of the files, `size_bytes`.
        """
        own = self.parameters
        outline, data = _outline(seed), self._data(seed)
        split_into(data, own.csv_parts)
        refuse_altered_files(data, own.csv_parts)
        begin = monotonic()
        rows = contents(outline, rates_of(outline, seed))
        target.create_tables(OUTLINE_TABLES)
        for table, of_table in rows.items():
            store(target, table, table_of(table, of_table))
        target.finish_tables(OUTLINE_TABLES)
        flavour = flavour_of(target.dialect.name)
        if flavour.reads_lines:
            target.execute(";\n".join(types(outline)) + ";\n")
        for stage in emptied(flavour).stages:
            for job in stage:
                target.execute(";\n".join(map(str, job)) + ";\n")
        with TemporaryDirectory(prefix="loadstone-cube-") as name:
            cube = Cube(outline, data, own, target.dialect, Path(name))
            if not own.cycles:
                self._make_once(target, run_driver, cube, seed)
            target.analyse()
            facts = {
                "load_time_s": monotonic() - begin,
                "generate_s": data.generated_s,
                "rows": float(sum(len(of_table) for of_table in rows.values())),
                "raw_bytes": float(data.bytes),
                "size_bytes": float(target.size_bytes()),
            }
            if not own.cycles:
                refuse_failed(self._check_once(target, cube, seed))
        return facts

    def _make_once(self, target: Database, run_driver: RunDriver, cube: Cube, seed: int) -> None:
        parameters = {
            "rounds": [[cube.once()]],
            "time_limit_s": self.parameters.time_limit,
            "folder": str(cube.folder),
        }
        target.make_way()
        run_driver(LoadRequest("load", 1, seed, parameters))

    def _check_once(self, target: Database, cube: Cube, seed: int) -> list[CheckResult]:
        own, outline = self.parameters, cube.outline
        of_one = own.model_copy(update={"cycles": 1})
        rates = rates_of(outline, seed)
        trial = Trial(cube.folder, outline, cube.data, rates, of_one, contents(outline, rates))
        found = check_made(trial, cube.unmade())
        if own.scale <= LARGEST_SCALE and all(check.passed for check in found):
            after, base = restructure(outline).outline, _expected(own.scale, seed)
            found.append(check_cells(target, after, base, hybrid=own.hybrid))
        return found

    def planned(self, context: LoadContext[Database]) -> dict[str, Any]:
        """The cycles, the retrieval, and what is asked in it."""
        own, outline = self.parameters, _outline(context.data_seed)
        data = self._data(context.data_seed)
        refuse_altered_files(data, own.csv_parts)
        cube = Cube(outline, data, own, context.target.dialect, context.folder)
        retrieval = {"name": RETRIEVE, "steps": [], "asks": RETRIEVE}
        first = cube.stream(self._check_grids(context.data_seed)) if own.cycles else retrieval
        asked = grids.drawn(outline, _volume(own.scale, context.data_seed), context.seed, own.grids)
        return {
            "rounds": [[first], [retrieval]],
            "requests": cube.requests(asked),
            "time_limit_s": own.time_limit,
        }

    def observe(self, target: Database) -> dict[str, float]:
        """Nothing: what is asked about the data is asked between the steps."""
        return {}

    def measure(self, measured: Measured) -> list[MetricValue]:
        """The figures of `METRICS`."""
        return metric_values(measured, self.parameters)

    def energy_spans(self, events: Sequence[Event]) -> Mapping[str, Sequence[tuple[float, float]]]:
        """Each whole cycle; what is asked between its steps is part of it."""
        found = [own for own in cycles_of(steps_of(events)) if own.is_whole(self.parameters)]
        return {"cycle": [own.span for own in found]}

    def check(
        self, target: Database, before: Mapping[str, float], measured: Measured
    ) -> list[CheckResult]:
        """Each step by what was asked after it, and grids; at small scales every cell.

        A cube that was made with the data is asked for its grids now. One that a step has left
        unfinished is asked for nothing.
        """
        if measured.folder is None:
            return []
        own, folder = self.parameters, measured.folder
        seed = int(json.loads((folder / "plan.json").read_text())["data_seed"])
        outline, data = _outline(seed), self._data(seed)
        found = [check_files(altered_files(data, own.csv_parts), len(data.native_files) + 1)]
        if own.cycles:
            rates = rates_of(outline, seed)
            steps = [step for step in steps_of(measured.events) if step.stream == CYCLES]
            ended = check_steps(steps)
            trial = Trial(folder, outline, data, rates, own, contents(outline, rates))
            found += [ended, *check_cycles(trial)]
            if not ended.passed:
                return found
        else:
            found.append(check_held(target, outline, data))
        return [*found, *self._compared(target, folder, seed)]

    def _compared(self, target: Database, folder: Path, seed: int) -> list[CheckResult]:
        """Grids by other ways, and at small scales every cell."""
        own, found = self.parameters, []
        after, asked = restructure(_outline(seed)).outline, self._check_grids(seed)
        base = _expected(own.scale, seed) if own.scale <= LARGEST_SCALE else None
        answers = kept(folder) if own.cycles else answered_by(target, after, asked)
        if asked and not own.hybrid:
            found.append(check_ways(answers, asked))
        if base is not None and own.cycles:
            found.append(check_cells(target, after, base, hybrid=own.hybrid))
        if asked:

            def base_of(grid: grids.Grid) -> Cells:
                return below_grid(target, after, grid) if base is None else base

            found.append(check_answers(answers, after, base_of, asked))
        return found

    def judged_metric(self) -> str:
        """The cycle, or the retrieval where there is none."""
        return HEADLINE if self.parameters.cycles else GRIDS

    def charts(self) -> Charts:
        """The retrieval is judged: steps are measured by themselves."""
        return Charts(judged=(RETRIEVE,))

    def steps(self) -> Sequence[StepInfo]:
        """The steps of a cycle."""
        return STEP_INFOS if self.parameters.cycles else ()

    def fingerprint_tables(self, dialect: Dialect) -> dict[str, str]:
        """The keys of the outline's tables and of the cells."""
        keys = "CAST(entity AS BIGINT) + 3 * product + 5 * year + 7 * currency + 11 * account"
        return {BASE: keys, UPPER: keys}

    def _data(self, seed: int) -> CubeData:
        return _data(self.parameters.scale, seed)

    def _check_grids(self, seed: int) -> list[grids.Grid]:
        own = self.parameters
        return grids.drawn(_outline(seed), _volume(own.scale, seed), seed, own.check_grids)


@lru_cache(maxsize=2)
def _outline(seed: int) -> Outline:
    return outline_of(seed)


@lru_cache(maxsize=1)
def _volume(scale: float, seed: int) -> Volume:
    """What is filled, once for all trials of an experiment."""
    return volume_of(_outline(seed), scale, seed)


def _data(scale: float, seed: int) -> CubeData:
    return provide(_outline(seed), scale, seed)


@lru_cache(maxsize=1)
def _expected(scale: float, seed: int) -> Cells:
    """The cells of level 0, once for all trials of an experiment."""
    outline, data = _outline(seed), _data(scale, seed)
    return expected(outline, rates_of(outline, seed), list(data.native_files), data.cells)
