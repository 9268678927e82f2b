"""The memory of the load generator and of Loadstone itself over a trial."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from loadstone.probes.own import OwnProbe
from loadstone.protocol.frames import Tick
from loadstone.report.memory import GENERATOR, OWN, memory_report
from loadstone.report.model.document import ReportDocument
from loadstone.report.model.trials import PhaseSpan
from loadstone.report.probe_series import target_series
from loadstone.report.terminal_trial import _memory

MB = 1 << 20
ORIGIN = 100.0


def ticks(lasting_s: int) -> list[Tick]:
    """A generator that takes 10 MB, and 1 MB more in each minute."""
    return [
        Tick(
            t_s=at_s, seq=0, phase="measure", phase_kind="measure", from_s=at_s - 1, to_s=at_s,
            operations={}, lag=None, late_starts=0, dropped=0, due=0, users=1, in_flight=0,
            queued=0, reconnects=0, cpu_user_s=0.0, cpu_system_s=0.0,
            rss_bytes=round((10 + (at_s - ORIGIN) / 60) * MB),
        )
        for at_s in (ORIGIN + second for second in range(1, lasting_s + 1))
    ]  # fmt: skip


def samples(lasting_s: int) -> pa.Table:
    """Loadstone itself takes 200 MB, always; the engine's probe has a metric of the same name."""
    rows = [
        (ORIGIN + second, probe, "memory_bytes", value)
        for second in range(lasting_s)
        for probe, value in (("loadstone", 200.0 * MB), ("postgresql", 1.0), ("host", 2.0))
    ]
    names = ("t_s", "probe", "metric", "value")
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def phases(lasting_s: float) -> list[PhaseSpan]:
    return [PhaseSpan(name="measure", kind="measure", from_s=0.0, to_s=lasting_s)]


def test_a_long_trial_tells_its_first_and_last_minutes() -> None:
    report = memory_report(ticks(3600), samples(3600), phases(3600), ORIGIN)
    assert report is not None
    generator, own = report.uses
    assert (generator.who, own.who) == (GENERATOR, OWN)
    assert generator.first_bytes == pytest.approx(12.5 * MB, rel=0.01)
    assert generator.last_bytes == pytest.approx(67.5 * MB, rel=0.01)
    assert generator.most_bytes == 70 * MB
    assert (own.first_bytes, own.last_bytes, own.most_bytes) == (200 * MB,) * 3
    assert len(report.series.t_s) <= 601
    assert set(report.series.columns) == {"generator_bytes", "loadstone_bytes"}
    assert _memory(report) == (
        "Memory: load generator 12.5 MB in the first 5 minutes, 67.5 MB in the last, at most "
        "70 MB; Loadstone 200 MB in the first 5 minutes, 200 MB in the last, at most 200 MB."
    )


def test_a_short_trial_has_only_the_most() -> None:
    report = memory_report(ticks(599), None, phases(599), ORIGIN)
    assert report is not None
    (generator,) = report.uses
    assert (generator.first_bytes, generator.last_bytes) == (None, None)
    assert generator.most_bytes > 19 * MB
    assert _memory(report) == ""


def test_a_late_tick_is_of_one_process_and_does_not_count() -> None:
    told = ticks(10)
    late = replace(told[-1], late=True, rss_bytes=1)
    report = memory_report([*told, late], None, phases(10), ORIGIN)
    assert report is not None
    drawn = [value for value in report.series.columns["generator_bytes"] if value is not None]
    assert min(drawn) >= 10 * MB


def test_nothing_told_is_no_report() -> None:
    silent = [replace(tick, rss_bytes=0) for tick in ticks(10)]
    assert memory_report(silent, None, phases(10), ORIGIN) is None


def test_loadstone_is_not_the_target() -> None:
    series = target_series(samples(3), ORIGIN)
    assert series.columns == {"memory_bytes": [1.0, 1.0, 1.0]}


def test_the_probe_reads_this_process() -> None:
    probe = OwnProbe()
    probe.start()
    (sample,) = probe.sample(3.0)
    probe.stop()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    assert sample.t_s == 3.0
    assert sample.value == pytest.approx(pages * os.sysconf("SC_PAGE_SIZE"), rel=0.2)


def test_a_report_has_it(ladder_document: ReportDocument) -> None:
    memory = ladder_document.trials[0].memory
    assert memory is not None
    assert [use.who for use in memory.uses] == [GENERATOR, OWN]
