"""The sampler: order of calls, and probes that misbehave."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from loadstone.errors import DiskFullError
from loadstone.probes.base import Probe
from loadstone.probes.sampler import GIVE_UP_AFTER, Sampler
from loadstone.results.record import Notice, Wait
from loadstone.results.sample import Sample


class Recorded(Probe):
    """Notes its calls, and lets a test wait for the n-th sample."""

    name = "recorded"
    interval_s = 0.001

    def __init__(self, enough: int = 3, on_sample: Callable[[int], None] | None = None) -> None:
        self.calls: list[str] = []
        self.threads: set[int] = set()
        self.enough = threading.Event()
        self._enough = enough
        self._on_sample = on_sample

    def start(self) -> None:
        self._note("start")

    def sample(self, t_s: float) -> list[Sample]:
        self._note("sample")
        count = self.calls.count("sample")
        if count >= self._enough:
            self.enough.set()
        if self._on_sample is not None:
            self._on_sample(count)
        return [Sample(t_s, self.name, "count", float(count))]

    def stop(self) -> None:
        self._note("stop")
        self.enough.set()

    def waits(self, from_s: float, to_s: float) -> list[Wait]:
        return [Wait(kind="CPU", event="CPU", samples=len(self.calls), share=1.0)]

    def notices(self) -> list[Notice]:
        return [Notice(code="seen", severity="info", message="it")]

    def _note(self, call: str) -> None:
        self.calls.append(call)
        self.threads.add(threading.get_ident())


def run(*probes: Recorded) -> tuple[Sampler, list[Sample]]:
    samples: list[Sample] = []
    with Sampler(probes, lambda: 4.5, samples.extend) as sampler:
        for probe in probes:
            assert probe.enough.wait(60)
    return sampler, samples


def problems(sampler: Sampler) -> list[str]:
    return [notice.code for notice in sampler.notices() if notice.code == "probe-failed"]


def test_a_probe_starts_samples_and_stops_in_one_thread() -> None:
    probe = Recorded()
    sampler, samples = run(probe)
    assert probe.calls[0] == "start"
    assert probe.calls[-1] == "stop"
    assert set(probe.calls[1:-1]) == {"sample"}
    assert len(probe.threads) == 1
    assert probe.threads != {threading.get_ident()}
    assert [sample.value for sample in samples] == [float(n + 1) for n in range(len(samples))]
    assert {sample.t_s for sample in samples} == {4.5}
    assert problems(sampler) == []


def test_waits_and_notices_of_all_probes_are_gathered() -> None:
    few, many = Recorded(2), Recorded(20)
    sampler, _ = run(few, many)
    waits = sampler.waits(0.0, 99.0)
    assert len(waits) == 2
    assert waits[0].samples >= waits[1].samples
    assert [notice.code for notice in sampler.notices()].count("seen") == 2


def test_one_failure_is_noticed_and_sampling_goes_on() -> None:
    def fail_once(count: int) -> None:
        if count == 2:
            raise ConnectionError("gone")

    probe = Recorded(5, fail_once)
    sampler, samples = run(probe)
    assert problems(sampler) == ["probe-failed"]
    assert 2.0 not in {sample.value for sample in samples}
    assert 3.0 in {sample.value for sample in samples}


def test_a_probe_that_fails_again_and_again_is_left_alone() -> None:
    def fail(_count: int) -> None:
        raise ConnectionError("gone")

    probe = Recorded(1000, fail)
    sampler, samples = run(probe)
    assert samples == []
    assert probe.calls == ["start", *["sample"] * GIVE_UP_AFTER, "stop"]
    assert any("gone" in notice.message for notice in sampler.notices())


def test_a_probe_that_cannot_start_is_still_stopped() -> None:
    class Broken(Recorded):
        def start(self) -> None:
            super().start()
            raise PermissionError("not allowed")

    probe = Broken()
    sampler, _ = run(probe)
    assert probe.calls == ["start", "stop"]
    assert problems(sampler) == ["probe-failed"]


def test_a_full_disk_ends_sampling_and_is_noticed() -> None:
    probe = Recorded(1000)

    def full(_: Iterable[Sample]) -> None:
        raise DiskFullError("no space left")

    with Sampler([probe], lambda: 0.0, full) as sampler:
        assert probe.enough.wait(60)
    assert probe.calls == ["start", "sample", "stop"]
    assert "no space left" in sampler.notices()[-1].message


def test_missed_samples_are_counted() -> None:
    hold = threading.Event()
    probe = Recorded(4, lambda count: None if count > 1 else _pause(hold))
    sampler, _ = run(probe)
    assert "samples-missed" in [notice.code for notice in sampler.notices()]


def _pause(event: threading.Event) -> None:
    """Longer than many intervals."""
    event.wait(0.2)
