"""What the meters of a trial are recorded as: each channel, each sum, the experiment's meter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from meter_series import DRAM, PACKAGE, WALL, each_second

from loadstone.meters.base import Channel, MeterError, Reading
from loadstone.meters.choice import Main, Offer, main_meter
from loadstone.meters.probe import MeterProbe
from loadstone.meters.records import MeterRun, power_records
from loadstone.meters.series import Series
from loadstone.results.power import PowerRecord
from loadstone.spec.meters import MeterBase

PSYS = Channel("psys", "platform", "counter", range_j=262_143.0)
WIDE = frozenset({"package", "dram"})


def rising(channel: Channel, watts: float, seconds: int = 31) -> Series:
    return each_second(channel, [watts * t for t in range(seconds)])


def run_of(*series: Series, problem: str = "", **spec: Any) -> MeterRun:
    meter = MeterBase(kind="powercap", **spec)
    offer = Offer(meter, tuple(each.channel for each in series), WIDE)
    return MeterRun(offer, {each.channel.name: each for each in series}, problem)


def recorded(*runs: MeterRun, **given: Any) -> dict[str, PowerRecord]:
    main = given.pop("main", None) or main_meter([run.offer for run in runs])
    stretches = given.pop("stretches", [(5.0, 25.0)])
    found = power_records(runs, main, stretches)
    assert [each.main for each in found] == sorted((each.main for each in found), reverse=True)
    return {each.channel: each for each in found}


def test_memory_is_added_to_its_package_and_each_has_a_record_of_its_own() -> None:
    found = recorded(run_of(rising(PACKAGE, 40.0), rising(DRAM, 5.0)))
    assert found["package-0"].watts == pytest.approx(40)
    assert found["dram"].watts == pytest.approx(5)
    both = found["package-0+dram"]
    assert (both.watts, both.joules) == (pytest.approx(45), pytest.approx(900))
    assert (both.main, both.scope, both.parts) == (True, "package", ["package-0", "dram"])
    assert [each.main for each in found.values()].count(True) == 1


def test_a_platform_counter_that_stands_still_gives_way_to_the_package() -> None:
    still = each_second(PSYS, [7.0] * 31)
    found = recorded(run_of(still, rising(PACKAGE, 40.0)))
    assert found["psys"].watts is None
    assert found["psys"].reason == "psys does not move: no meter"
    assert found["package-0"].main


def test_a_sum_without_one_of_its_parts_has_no_watts() -> None:
    other = replace(PACKAGE, name="package-1")
    still = each_second(other, [3.0] * 31)
    found = recorded(run_of(rising(PACKAGE, 40.0), still, sum=["package-0", "package-1"]))
    both = found["package-0+package-1"]
    assert both.watts is None
    assert "package-1 does not move" in both.reason
    assert both.main


def test_dies_that_show_one_counter_count_once() -> None:
    one, other = (replace(PACKAGE, name=f"package-0-die-{n}", die_of="package-0") for n in (0, 1))
    found = recorded(run_of(rising(one, 40.0), rising(other, 40.0)))
    assert set(found) == {"package-0-die-0"}
    assert found["package-0-die-0"].main
    assert found["package-0-die-0"].watts == pytest.approx(40)


def test_what_lies_between_phases_is_none_of_them() -> None:
    values = [100.0 * t for t in range(11)]
    values += [values[-1] + 900.0 * t for t in range(1, 11)]
    values += [values[-1] + 50.0 * t for t in range(1, 11)]
    stretches = [(0.0, 10.0), (20.0, 30.0)]
    series = each_second(PACKAGE, values)
    found = recorded(run_of(series), stretches=stretches)["package-0"]
    assert found.watts == pytest.approx(75)
    assert found.joules == pytest.approx(1500)
    assert found.covered == pytest.approx(1)
    each = [recorded(run_of(series), stretches=[one])["package-0"].watts for one in stretches]
    assert each == [pytest.approx(100), pytest.approx(50)]


def test_a_meter_that_died_or_was_not_there_says_why_and_stays_the_main_one() -> None:
    died = run_of(rising(PACKAGE, 40.0, 11), problem="the cable was pulled")
    found = recorded(died)["package-0"]
    assert found.watts is None
    assert found.main
    assert found.reason.endswith("the cable was pulled")
    gone = MeterRun(died.offer, {}, "it could not be opened: no such zone")
    series = each_second(WALL, [80.0] * 31)
    wall = MeterRun(Offer(MeterBase(kind="network"), (WALL,)), {"wall": series})
    found = recorded(gone, wall, main=Main("powercap", "package", ("package-0",)))
    assert (found["package-0"].main, found["wall"].main) == (True, False)
    assert found["package-0"].reason == "it could not be opened: no such zone"
    assert found["wall"].watts == pytest.approx(80)


class _Planted:
    """A meter whose answers are given."""

    name, interval_s = "planted", 0.5

    def __init__(self, channel: Channel, answers: list[list[Reading] | MeterError]) -> None:
        self.spec = MeterBase(kind="planted", every="500ms")
        self._channel, self._answers = channel, answers

    def channels(self) -> list[Channel]:
        return [self._channel]

    def read(self) -> list[Reading]:
        answer = self._answers.pop(0)
        if isinstance(answer, MeterError):
            raise answer
        return answer

    def notices(self) -> list[Any]:
        return []


def probe_of(channel: Channel, *answers: list[Reading] | MeterError) -> MeterProbe:
    probe = MeterProbe(_Planted(channel, list(answers)), lambda: 0.0)  # type: ignore[arg-type]
    probe.start()
    return probe


def test_samples_are_watts_on_the_clock_of_the_trial_through_a_wrap() -> None:
    at = 1e6
    values = [262_000.0, 262_100.0, 56.671150, 5_000_000.0]
    probe = probe_of(
        PACKAGE, *([Reading("package-0", at + n, value)] for n, value in enumerate(values))
    )
    found = [probe.sample(0.0) for _ in values[1:]]
    watts = [each.value for samples in found for each in samples]
    assert watts == pytest.approx([100.0])  # the first of two: a jump is no power
    assert len(probe.series["package-0"].readings) == 4
    first = found[1][0]
    assert first.t_s == pytest.approx(at + 2 - probe.origin_s)
    assert (first.probe, first.metric) == ("meter.planted", "watts:planted package-0")


def test_an_invalid_reading_is_kept_and_not_drawn() -> None:
    bad = Reading("wall", 1e6, 0.0, "not a number")
    probe = probe_of(WALL, [], [bad], [Reading("wall", 1e6 + 1, 80.0)])
    assert probe.sample(0.0) == []
    assert [each.value for each in probe.sample(0.0)] == [80.0]
    assert [each.invalid for each in probe.series["wall"].readings] == ["not a number", ""]


def test_a_meter_that_dies_is_told_once_and_is_asked_no_more() -> None:
    probe = probe_of(WALL, [], MeterError("the meter planted has died: it hung up"))
    assert probe.sample(0.0) == []
    assert probe.sample(1.0) == []
    (notice,) = probe.notices()
    assert notice.code == "meter-died"
    assert "has died: it hung up" in notice.message
