"""The meters of an experiment: what each read in each configuration, and over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

import pyarrow as pa

from loadstone.meters.probe import WATTS
from loadstone.report.model.power import PowerFigures, PowerRow
from loadstone.report.model.trials import Series
from loadstone.report.probe_series import binned, is_meter, rows_of
from loadstone.report.reading import RecordedExperiment
from loadstone.results.metrics import mark_of
from loadstone.results.power import PowerRecord
from loadstone.results.statistics import summarize


def power_rows(folder: RecordedExperiment) -> list[PowerRow]:
    """A row for each channel of any meter, the experiment's meter first.

    Args:
        folder: Of the experiment; its valid trials count.
    """
    made: dict[tuple[str, str], dict[str, list[PowerRecord]]] = {}
    for variant in folder.design.variants:
        for trial in folder.valid_trials_of(variant.name):
            for record in trial.result.power:
                of_channel = made.setdefault((record.meter, record.channel), {})
                of_channel.setdefault(variant.name, []).append(record)
    rows = [_row(by_variant, folder.experiment.confidence) for by_variant in made.values()]
    return sorted(rows, key=lambda row: not row.main)


def name_of(record: PowerRecord) -> str:
    """A meter with its scope: `pdu, wall`."""
    return f"{record.meter}, {record.scope}"


def power_series(samples: pa.Table | None, records: Sequence[PowerRecord], origin: float) -> Series:
    """The watts of each channel over time; a counter that is seen twice is drawn once.

    Args:
        samples: Of the probes.
        records: Of the trial; where it has none, as of one that failed, all channels are drawn.
        origin: Zero of the charts, seconds since the driver's start.
    """
    counted = {
        f"{WATTS}{record.meter} {channel}"
        for record in records
        for channel in record.parts or [record.channel]
    }
    rows = rows_of(samples, is_meter)
    return binned([row for row in rows if not counted or row["metric"] in counted], origin)


# -- inside ------------------------------------------------------------------------------------
def _row(by_variant: dict[str, list[PowerRecord]], confidence: float) -> PowerRow:
    records = [record for own in by_variant.values() for record in own]
    first = records[0]
    return PowerRow(
        meter=first.meter,
        kind=first.kind,
        channel=first.channel,
        scope=first.scope,
        main=any(record.main for record in records),
        mark=mark_of(records),
        accuracy_percent=first.accuracy_percent,
        parts=list(first.parts),
        figures=[_figures(name, own, confidence) for name, own in by_variant.items()],
    )


def _figures(variant: str, records: Sequence[PowerRecord], confidence: float) -> PowerFigures:
    watts = [record.watts for record in records if record.watts is not None]
    summary = summarize(watts, confidence=confidence) if watts else None
    joules = [record.joules for record in records if record.joules is not None]
    return PowerFigures(
        variant=variant,
        trials=len(watts),
        watts=summary.median if summary else None,
        low=summary.low if summary else None,
        high=summary.high if summary else None,
        joules=median(joules) if joules else None,
        covered=min((record.covered for record in records), default=None),
        invalid=sum(record.invalid for record in records),
        lag_s=_most(records, lambda record: record.lag_s),
        resolution_w=_most(records, lambda record: record.resolution_w),
        reason=next((record.reason for record in records if record.reason), ""),
    )


def _most(
    records: Sequence[PowerRecord], figure: Callable[[PowerRecord], float | None]
) -> float | None:
    return max((value for value in map(figure, records) if value is not None), default=None)
