"""The log of a power meter, joined to a result after its run: as a new result beside it."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadstone.errors import WrongInputError
from loadstone.experiments.graduating import graduated_metrics
from loadstone.experiments.power_metrics import Powered, closed_users, metric_names, power_metrics
from loadstone.load.graduated import through_levels
from loadstone.load.totals import MEASURE, LoadLog
from loadstone.meters.choice import Main, Offer
from loadstone.meters.log_file import PowerLog
from loadstone.meters.records import MeterRun, power_records
from loadstone.results.folder import ExperimentFolder
from loadstone.results.frames import parsed_frames
from loadstone.results.graduated import CALIBRATED, FIGURES, GraduatedRecord, figure_of, joules_of
from loadstone.results.power import PowerRecord, main_of
from loadstone.results.record import (
    MeasuredPhaseRecord,
    MetricValue,
    Notice,
    PhaseTiming,
    TrialResult,
)
from loadstone.results.trial_files import (
    DESIGN_FILE,
    EXPERIMENT_FILE,
    LOCK_FILE,
    PLAN_FILE,
    is_running,
    read_json,
    read_model,
    read_plan,
    read_result,
    write_json,
    write_model,
    write_result,
)
from loadstone.spec.meters import MeterBase
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan
from loadstone.workloads.base import AnyWorkload
from loadstone.workloads.measured import Measured, Observation
from loadstone.workloads.registry import workload_of

KIND = "log"
"""Kind of a meter whose log was joined."""
JOINED = "power-joined"
"""Code of the notice that says so."""
_PAGE = "report.html"


@dataclass(frozen=True)
class JoinedMeter:
    """A log, and what it is called.

    Attributes:
        log: Its readings.
        name: Of the meter.
        source: Name of the file, for the record.
        main: It becomes the experiment's meter even where there is one.
    """

    log: PowerLog
    name: str
    source: str
    main: bool


@dataclass(frozen=True)
class Joined:
    """The new result, and the trials that the log has watts of."""

    folder: ExperimentFolder
    trials: int
    with_watts: int


def join(source: Path, results: Path, name: str, meter: JoinedMeter, command: str) -> Joined:
    """Makes a new result of an old one and a log; the old one stays as it is.

    Args:
        source: Folder of the experiment.
        results: Where the new one is to lie.
        name: Of the new one, made unique with a number.
        meter: That was logged.
        command: What the user typed.

    Raises:
        WrongInputError: If a trial still runs, the name of the meter is taken, or the log has
            nothing of any trial.
    """
    trials = ExperimentFolder(source).trials()
    running = [trial.name for trial in trials if is_running(trial)]
    if running:
        raise WrongInputError(f"trial {running[0]} of {source.name} still runs: wait for its end")
    if any(_has(read_result(trial), meter.name) for trial in trials):
        raise WrongInputError(
            f"{source.name} has a meter {meter.name!r} already",
            advice="call this one otherwise: --meter NAME",
        )
    found = {trial: joined_result(trial, meter) for trial in trials}
    with_watts = [trial for trial, result in found.items() if _has_watts(result, meter.name)]
    if not with_watts:
        raise WrongInputError(_apart(source, meter, trials))
    folder = ExperimentFolder.create(results, name)
    try:
        _copy(source, folder, meter, command)
        for trial, result in found.items():
            _write(trial, folder, result)
    except BaseException:
        shutil.rmtree(folder.path, ignore_errors=True)
        raise
    return Joined(folder, len(trials), len(with_watts))


def joined_result(trial: Path, meter: JoinedMeter) -> TrialResult:
    """The record of a trial with the watts of a log; as it was where nothing was measured.

    Args:
        trial: Its folder.
        meter: That was logged.
    """
    result, log = read_result(trial), LoadLog.of(parsed_frames(trial))
    phases = [each for each in result.phases if _has_load(each)]
    if log.hello is None or not phases:
        return result
    series = meter.log.series(log.hello.unix_time_s - log.hello.t_s)
    is_main = meter.main or main_of(result.power) is None
    run = MeterRun(_offer(meter), series)
    main = _main(meter) if is_main else None
    stretches = {each.name: (each.from_s, each.loaded_to_s) for each in phases}
    whole = power_records([run], main, list(stretches.values()))
    by_phase = {name: power_records([run], main, [each]) for name, each in stretches.items()}
    update: dict[str, Any] = {
        "power": _with(result.power, whole, main=is_main),
        "notices": [*result.notices, _notice(trial, meter)],
    }
    if not is_main:
        measured = [_phase(each, by_phase.get(each.name, [])) for each in result.measured]
        return result.model_copy(update={**update, "measured": measured})
    figures = _Figures(trial, log, whole, by_phase)
    update["measured"] = [figures.phase(each) for each in result.measured]
    update["metrics"] = figures.metrics(result.metrics)
    if result.graduated is not None:
        graduated = _graduated(result.graduated, read_plan(trial), by_phase)
        update["graduated"] = graduated
        update["metrics"] = _replaced(
            update["metrics"], graduated_metrics(graduated), set(FIGURES) - {CALIBRATED}
        )
    return result.model_copy(update=update)


class _Figures:
    """The figures per watt of a trial, anew by another meter.

    Args:
        trial: Its folder.
        log: Its load.
        whole: What the meter says of all measured phases.
        by_phase: What it says of each.
    """

    def __init__(
        self,
        trial: Path,
        log: LoadLog,
        whole: Sequence[PowerRecord],
        by_phase: Mapping[str, Sequence[PowerRecord]],
    ) -> None:
        plan = read_plan(trial)
        self._log = log
        self._workload: AnyWorkload = workload_of(plan.workload)
        self._profile = self._workload.loaded(plan.profile)
        self._whole = main_of(list(whole))
        self._by_phase = {name: main_of(list(own)) for name, own in by_phase.items()}
        self._records = by_phase
        self._names = set(metric_names(type(self._workload)))

    def phase(self, record: MeasuredPhaseRecord) -> MeasuredPhaseRecord:
        """A measured phase with its power and the figures per watt."""
        power = self._by_phase.get(record.name)
        if power is None:
            return record
        powered = Powered(self._measured(record.name), power)
        found = self._found(powered, [powered], record.metrics)
        return _phase(record, self._records[record.name], main=True).model_copy(
            update={"metrics": _replaced(record.metrics, found, self._names)}
        )

    def metrics(self, known: Sequence[MetricValue]) -> list[MetricValue]:
        """Those of the whole trial."""
        if self._whole is None:
            return list(known)
        phases = [
            Powered(self._measured(name), power)
            for name, power in self._by_phase.items()
            if power is not None
        ]
        found = self._found(Powered(self._measured(None), self._whole), phases, known)
        return _replaced(known, found, self._names)

    def _found(
        self, whole: Powered, phases: Sequence[Powered], known: Sequence[MetricValue]
    ) -> list[MetricValue]:
        users = closed_users(self._workload, self._profile, whole.measured.phase)
        found = power_metrics(self._workload, whole, phases, known, users)
        return [each for each in found if math.isfinite(each.value)]

    def _measured(self, phase: str | None) -> Measured:
        """What was done; what the data's own counters said is not known any more."""
        nothing = Observation(0.0, {})
        return self._log.of_workload(nothing, nothing, None, phase)


def _offer(meter: JoinedMeter) -> Offer:
    names = [channel.name for channel in meter.log.channels]
    spec = MeterBase(kind=KIND, name=meter.name, sum=names if len(names) > 1 else [])
    return Offer(spec, meter.log.channels)


def _main(meter: JoinedMeter) -> Main:
    channels = meter.log.channels
    return Main(meter.name, channels[0].scope, tuple(each.name for each in channels))


def _with(
    before: Sequence[PowerRecord], new: Sequence[PowerRecord], *, main: bool
) -> list[PowerRecord]:
    """The records of all meters, the experiment's first."""
    old = [each.model_copy(update={"main": False}) if main else each for each in before]
    return [*new, *old] if main else [*old, *new]


def _phase(
    record: MeasuredPhaseRecord, power: Sequence[PowerRecord], *, main: bool = False
) -> MeasuredPhaseRecord:
    return record.model_copy(update={"power": _with(record.power, power, main=main)})


def _replaced(
    known: Sequence[MetricValue], new: Sequence[MetricValue], names: set[str]
) -> list[MetricValue]:
    """Figures with new ones in the place of those of some names."""
    fresh = [each for each in new if each.name in names]
    return [*(each for each in known if each.name not in names), *fresh]


def _graduated(
    record: GraduatedRecord, plan: TrialPlan, by_phase: Mapping[str, Sequence[PowerRecord]]
) -> GraduatedRecord:
    """The levels with the watts of the log, and the figure of all of them anew."""
    levels, marks = [], []
    for level in record.levels:
        power = main_of(list(by_phase.get(level.name, [])))
        watts = None if power is None else power.watts
        joules = joules_of(watts, level.achieved_per_s)
        update = {"watts": watts, "joules_per_operation": joules}
        levels.append(level.model_copy(update=update))
        marks += [power.mark] if power is not None and power.mark else []
    planned = through_levels(plan.profile, record.calibrated_per_s, plan.seed)
    whole, reason = figure_of(levels, [each.name for each in planned.phases])
    mark = next(iter(marks), "")
    return record.model_copy(
        update={"levels": levels, "reason": reason, "overall": whole, "mark": mark}
    )


def _has_load(phase: PhaseTiming) -> bool:
    """Whether load was measured in it."""
    return phase.kind == MEASURE and phase.loaded_to_s > phase.from_s


def _has(result: TrialResult, meter: str) -> bool:
    return any(each.meter == meter for each in result.power)


def _has_watts(result: TrialResult, meter: str) -> bool:
    return any(each.meter == meter and each.watts is not None for each in result.power)


def _apart(source: Path, meter: JoinedMeter, trials: Sequence[Path]) -> str:
    """That log and trials are of other times, or what else is wrong."""
    reasons = [
        each.reason
        for trial in trials
        for each in joined_result(trial, meter).power
        if each.meter == meter.name and each.reason
    ]
    why = f": {reasons[0]}" if reasons else ""
    return f"{meter.source} has no watts of any trial of {source.name}{why}"


def _notice(trial: Path, meter: JoinedMeter) -> Notice:
    return Notice(
        code=JOINED,
        severity="info",
        message=f"the watts of meter {meter.name} are of its log {meter.source}, joined to the "
        f"result {trial.parent.name} after the run: they are as good as its clock",
    )


def _copy(source: Path, folder: ExperimentFolder, meter: JoinedMeter, command: str) -> None:
    """All but the records of trials and what was made of them."""
    experiment = read_model(source / EXPERIMENT_FILE, Experiment)
    title = experiment.title or source.name
    update = {"name": folder.name, "title": f"{title}, with the log of {meter.name}"}
    folder.write_experiment(experiment.model_copy(update=update))
    if (source / DESIGN_FILE).is_file():
        design = {**read_json(source / DESIGN_FILE), "command": command}
        write_json(folder.path / DESIGN_FILE, design)


def _write(trial: Path, folder: ExperimentFolder, result: TrialResult) -> None:
    new = folder.path / trial.name
    shutil.copytree(trial, new, ignore=shutil.ignore_patterns(LOCK_FILE, _PAGE))
    plan = read_plan(trial).model_copy(update={"experiment": folder.name})
    write_model(new / PLAN_FILE, plan)
    write_result(new, result.model_copy(update={"experiment": folder.name}))
