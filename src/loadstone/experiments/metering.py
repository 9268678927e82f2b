"""The power meters of an experiment: found before its first trial, read in each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from loadstone.errors import LoadstoneError, TargetError
from loadstone.experiments.interrupts import Interrupts
from loadstone.experiments.observer import Observer
from loadstone.experiments.outcome import PowerFindings
from loadstone.host.machine import Machine
from loadstone.journal import Journal
from loadstone.meters.base import AnyMeter, MeterError
from loadstone.meters.choice import Main, Offer, main_meter, offer_of
from loadstone.meters.probe import MeterProbe
from loadstone.meters.records import MeterRun, power_records
from loadstone.meters.registry import meter_for
from loadstone.probes.base import Probe
from loadstone.probes.own import OwnProbe
from loadstone.probes.processor_states import ProcessorStatesProbe
from loadstone.probes.temperature import TemperatureProbe
from loadstone.results.power import PowerRecord, main_of
from loadstone.results.record import Notice, PhaseTiming
from loadstone.spec.meters import MACHINE_ROOT, MeterBase
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan

_ADVICE = "loadstone list meters says what this machine has; or leave that meter out"


@dataclass(frozen=True)
class Metering:
    """The meters of an experiment, as they were before its first trial."""

    root: Path = Path(MACHINE_ROOT)
    offers: Mapping[str, Offer] = field(default_factory=dict)
    """By name of the meter: what it has."""
    main: Main | None = None
    """The experiment's meter: all trials have the same, whatever becomes of the others."""


@dataclass(frozen=True)
class OpenMeters:
    """The meters of a trial."""

    meters: Sequence[AnyMeter] = ()
    problems: Mapping[str, str] = field(default_factory=dict)
    """By name: why a meter, that was there before the first trial, could not be opened."""


def find_meters(experiment: Experiment, journal: Journal, observer: Observer) -> Metering:
    """Opens each meter once, reads it, closes it, and chooses the one that is the experiment's.

    Raises:
        TargetError: If one is missing, cannot be read, or gives no power; with the reason.
        WrongInputError: If channels are not there, or it cannot be told which meter is the main.
    """
    root = Path(experiment.meters_root)
    offers = {}
    for spec in experiment.meters:
        observer.activity(f"looking for the meter {spec.name}")
        offers[spec.name] = _examined(spec, root, journal)
    return Metering(root, offers, main_meter(list(offers.values())))


def _examined(spec: MeterBase, root: Path, journal: Journal) -> Offer:
    meter = meter_for(spec, root)
    try:
        meter.open(journal)
        offer, readings = offer_of(meter), meter.read()
    except MeterError as error:
        named = f"meter {spec.name}" in error.message
        said = error.message if named else f"meter {spec.title}: {error.message}"
        raise TargetError(said, advice=error.advice or _ADVICE) from error
    finally:
        meter.close()
    if readings and all(each.invalid for each in readings):
        raise TargetError(
            f"meter {spec.title} gives no power: {readings[0].invalid}", advice=_ADVICE
        )
    return offer


@contextmanager
def open_meters(
    plan: TrialPlan, root: Path, journal: Journal, interrupts: Interrupts, observer: Observer
) -> Iterator[OpenMeters]:
    """The meters of a trial, open for as long as the block lasts.

    One that was there before the first trial and is not any more fails no trial: it has no watts.

    Args:
        plan: Of the trial.
        root: Below which meters are looked for.
        journal: What is changed of a meter stands there.
        interrupts: Wait while something is put back.
        observer: Is told what could not be put back now; the end of the run tries again.
    """
    opened: list[AnyMeter] = []
    problems: dict[str, str] = {}
    try:
        for spec in plan.meters:
            meter = meter_for(spec, root)
            opened.append(meter)
            try:
                meter.open(journal)
            except LoadstoneError as error:
                problems[meter.name] = f"it could not be opened: {error.message}"
        yield OpenMeters([each for each in opened if each.name not in problems], problems)
    finally:
        with interrupts.shielded():
            for meter in opened:
                _close(meter, observer)


def _close(meter: AnyMeter, observer: Observer) -> None:
    try:
        meter.close()
    except (LoadstoneError, OSError) as error:
        observer.notice(
            Notice(
                code="meter-not-closed",
                severity="warning",
                message=f"meter {meter.name} could not be put back yet: {error}",
                advice="it is tried again at the end of the run",
            )
        )


class PowerWatch:
    """All that tells of the power of a trial: meters, and what their watts come from.

    Temperatures, clocks and idle states are looked at where there are meters; what the lab itself
    takes always is.

    Args:
        plan: Of the trial.
        metering: Of the experiment.
        opened: The trial's meters.
        clock_s: The trial's clock.
    """

    def __init__(
        self,
        plan: TrialPlan,
        metering: Metering,
        opened: OpenMeters,
        clock_s: Callable[[], float],
    ) -> None:
        machine = Machine(metering.root)
        self._metering = metering
        self._problems = opened.problems
        self._meters = {each.name: MeterProbe(each, clock_s) for each in opened.meters}
        self._own = OwnProbe(self._helpers, starts_others=plan.outage is not None)
        self._processors = ProcessorStatesProbe(machine) if plan.meters else None
        self._temperature = TemperatureProbe(machine) if plan.meters else None

    @property
    def probes(self) -> list[Probe]:
        """Those that a sampler runs."""
        beside = [each for each in (self._processors, self._temperature) if each is not None]
        return [self._own, *self._meters.values(), *beside]

    def over(self, phases: Sequence[PhaseTiming]) -> PowerFindings:
        """What was seen over measured phases, without their drains; the probes have ended.

        Args:
            phases: In order. Power is that of the phases alone; all else is of the time from the
                begin of the first to the end of the last.
        """
        loaded = [each for each in phases if each.loaded_to_s > each.from_s]
        if not loaded:
            return PowerFindings()
        from_s, to_s = loaded[0].from_s, loaded[-1].loaded_to_s
        return PowerFindings(
            power=self._power(loaded),
            lab=self._own.cost(from_s, to_s),
            processors=self._processors.states(from_s, to_s) if self._processors else None,
            temperatures=self._temperature.over(from_s, to_s) if self._temperature else [],
        )

    def main_over(self, spans: Sequence[tuple[float, float]]) -> PowerRecord | None:
        """What the experiment's meter said of stretches of the load together.

        Args:
            spans: Begin and end of each on the trial's clock, in order.
        """
        return main_of(self._records(spans)) if spans else None

    def _power(self, phases: Sequence[PhaseTiming]) -> list[PowerRecord]:
        return self._records([(each.from_s, each.loaded_to_s) for each in phases])

    def _records(self, spans: Sequence[tuple[float, float]]) -> list[PowerRecord]:
        origin_s = next((each.origin_s for each in self._meters.values()), 0.0)
        stretches = [(origin_s + from_s, origin_s + to_s) for from_s, to_s in spans]
        runs = [self._run(name, offer) for name, offer in self._metering.offers.items()]
        return power_records(runs, self._metering.main, stretches)

    def _run(self, name: str, offer: Offer) -> MeterRun:
        probe = self._meters.get(name)
        if probe is None:
            return MeterRun(offer, {}, self._problems.get(name, "it was not read"))
        return MeterRun(offer, probe.series, probe.died)

    def _helpers(self) -> list[int]:
        return [pid for probe in self._meters.values() for pid in probe.meter.helpers()]


def power_notices(found: PowerFindings) -> list[Notice]:
    """Which channels have no watts, and that figures of power are no measurement.

    Args:
        found: Over all measured phases.
    """
    notices = [
        Notice(
            code="no-watts",
            severity="warning",
            message=f"meter {each.meter} has no watts of {each.channel}: {each.reason}",
            advice="no figure for each watt is made of it",
        )
        for each in found.power
        if each.watts is None
    ]
    marks = {each.mark: each.meter for each in found.power if each.mark}
    notices += [
        Notice(
            code=f"{mark}-power",
            severity="info",
            message=f"the power of meter {meter} is {mark}: it was not measured on this machine",
        )
        for mark, meter in marks.items()
    ]
    return notices
