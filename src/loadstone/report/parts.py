"""What the parts of a system took: over the valid trials of each variant, and over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

import pyarrow as pa

from loadstone.probes.parts import PARTS_PROBE
from loadstone.report.model.parts import PartFigures, PartRow
from loadstone.report.model.trials import Series
from loadstone.report.probe_series import binned, rows_of
from loadstone.report.reading import RecordedExperiment
from loadstone.results.usage import PartUsage


def part_rows(folder: RecordedExperiment) -> list[PartRow]:
    """A row for each part of any variant, in the order in which trials have them."""
    made: dict[str, dict[str, list[PartUsage]]] = {}
    for variant in folder.design.variants:
        of_variant = made.setdefault(variant.name, {})
        for trial in folder.valid_trials_of(variant.name):
            for usage in trial.result.parts:
                of_variant.setdefault(usage.name, []).append(usage)
    names = dict.fromkeys(name for of_variant in made.values() for name in of_variant)
    return [
        PartRow(
            part=name,
            figures=[
                _figures(variant, of_variant[name])
                for variant, of_variant in made.items()
                if name in of_variant
            ],
        )
        for name in names
    ]


def parts_series(samples: pa.Table | None, origin: float) -> Series:
    """What each part took, second by second.

    Args:
        samples: Of the probes.
        origin: Zero of the charts, seconds since the driver's start.
    """
    return binned(rows_of(samples, lambda probe: probe == PARTS_PROBE), origin)


def _figures(variant: str, usages: Sequence[PartUsage]) -> PartFigures:
    return PartFigures(
        variant=variant,
        trials=len(usages),
        cpu_percent=median(each.cpu_percent for each in usages),
        memory_bytes=_median(usages, lambda each: each.memory_bytes),
        quota=_median(usages, lambda each: each.quota),
        throttled_percent=_median(usages, lambda each: each.throttled_percent),
    )


def _median(
    usages: Sequence[PartUsage], figure: Callable[[PartUsage], float | None]
) -> float | None:
    """Of the trials that have it; None if none has."""
    found = [value for value in map(figure, usages) if value is not None]
    return median(found) if found else None
