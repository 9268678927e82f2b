"""Jobs on a cluster: each configuration over its trials, and throughput per job by load."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from loadstone.experiments.designs.base import level_name
from loadstone.report.model.comparisons import ComparisonReport
from loadstone.report.model.jobs import (
    JobsColumn,
    JobsReport,
    JobsRow,
    JobsTable,
    JobsVariant,
    JobTimes,
    RelativeFigure,
)
from loadstone.report.reading import RecordedExperiment, RecordedTrial
from loadstone.results.jobs import JobEntry, JobsRecord
from loadstone.spec.plans import Variant

PER_JOB = "throughput_per_job"
"""The figure that is relative; of one application `throughput_per_job_flow`."""
_LOAD = frozenset({"workload.jobs", "workload.mix", "workload.application", "workload.placement"})
"""Factors that rows and columns tell of without their levels."""
_STORAGE = "target.scratch"


def jobs_report(
    folder: RecordedExperiment, judged: Sequence[str], compared: Sequence[ComparisonReport]
) -> JobsReport | None:
    """Every configuration whose load were jobs.

    Args:
        folder: Of the experiment.
        judged: Metrics that verdicts are about.
        compared: All comparisons; those of throughput per job are shown here.

    Returns:
        None where no trial had such a load.
    """
    known = [_Known(folder, variant) for variant in folder.design.variants]
    known = [each for each in known if each.records]
    if not known:
        return None
    relative = Relative(folder, judged, compared)
    return JobsReport(
        variants=[_variant(each) for each in known],
        table=_table(known, relative),
        physics=list(_physics(known)),
        relative_to=list(relative.said()),
        said=list(dict.fromkeys(_said(known))),
    )


class _Known:
    """A configuration and what its trials recorded: of the valid ones, or of all if none is."""

    def __init__(self, folder: RecordedExperiment, variant: Variant) -> None:
        self.variant = variant
        valid = _with_jobs(folder.valid_trials_of(variant.name))
        self.counts = bool(valid)
        trials = valid or _with_jobs(folder.trials_of(variant.name))
        self.records = [each.result.jobs for each in trials if each.result.jobs is not None]

    @property
    def first(self) -> JobsRecord:
        """Of its first trial: what was asked for is the same in all."""
        return self.records[0]

    @property
    def told(self) -> JobsRecord:
        """One of which a ratio may be made, if there is any."""
        return next((each for each in self.records if not each.no_ratio), self.first)

    @property
    def jobs(self) -> list[JobEntry]:
        """Of all its trials."""
        return [job for record in self.records for job in record.jobs]

    @property
    def other(self) -> str:
        """Levels that neither rows nor columns tell of otherwise."""
        hidden = _LOAD | {_STORAGE}
        return level_name([each for each in self.variant.changes if each.factor not in hidden])

    def of_each(self) -> dict[str, int]:
        """Application: its jobs at once; those that replaced others are not counted again."""
        counted = Counter(job.application for job in self.first.jobs)
        return self.first.asked_of or dict(counted)


def _with_jobs(trials: Sequence[RecordedTrial]) -> list[RecordedTrial]:
    return [trial for trial in trials if trial.result.jobs is not None]


# -- relative throughput -----------------------------------------------------------------------
class Relative:
    """Throughput per job of each configuration and application, against its reference."""

    def __init__(
        self,
        folder: RecordedExperiment,
        judged: Sequence[str],
        compared: Sequence[ComparisonReport],
    ) -> None:
        self._judged = [name for name in judged if name.startswith(PER_JOB)]
        self._compared = {(each.metric, each.candidate): each for each in compared}
        self._pairs = {
            (metric, pair.candidate): pair.baseline
            for metric in self._judged
            for pair in folder.pairs_by(metric)
        }

    def metric_of(self, application: str, record: JobsRecord) -> str:
        """Which figure tells of an application: its own, or that of all jobs where it is alone."""
        own = f"{PER_JOB}_{application}"
        alone = record.applications == [application]
        return PER_JOB if alone and own not in self._judged else own

    def figure(self, variant: str, application: str, record: JobsRecord) -> RelativeFigure:
        """Its ratio with the interval; 1 of the reference itself.

        Args:
            variant: Name of the configuration.
            application: One of its jobs'.
            record: Of a trial of it.
        """
        metric = self.metric_of(application, record)
        found = self._compared.get((metric, variant))
        if found is not None:
            return RelativeFigure(
                variant=variant, application=application, value=found.ratio, low=found.low,
                high=found.high, reference=found.baseline,
            )  # fmt: skip
        reference = self._pairs.get((metric, variant), "")
        if reference:
            reason = record.no_ratio or f'no ratio to "{reference}" can be made'
            return RelativeFigure(
                variant=variant, application=application, value=None, reference=reference,
                reason=reason,
            )  # fmt: skip
        is_reference = any(
            baseline == variant and of == metric for (of, _), baseline in self._pairs.items()
        )
        held = is_reference and not record.no_ratio
        return RelativeFigure(
            variant=variant,
            application=application,
            value=1.0 if held else None,
            reference=variant if held else "",
            reason=record.no_ratio or ("" if held else "it is held against nothing"),
        )

    def said(self) -> Iterator[str]:
        """What 1.00 is, for each figure that is relative."""
        by_metric: dict[str, dict[str, None]] = {}
        for (metric, _), baseline in self._pairs.items():
            by_metric.setdefault(metric, {})[baseline] = None
        for metric, references in by_metric.items():
            of = metric.removeprefix(PER_JOB).removeprefix("_")
            names = " or ".join(f'"{name}"' for name in references)
            yield f"{f'{of}: ' if of else ''}1.00 is the throughput per job of {names}."


# -- the table ---------------------------------------------------------------------------------
def _table(known: Sequence[_Known], relative: Relative) -> JobsTable | None:
    """Loads down, applications with placement and storage across; None without any ratio."""
    applications = list(dict.fromkeys(name for each in known for name in each.first.applications))
    columns: dict[JobsColumn, None] = {}
    rows: dict[Load, dict[JobsColumn, RelativeFigure]] = {}
    for each in known:
        counts = each.of_each()
        load = (
            tuple(counts.get(name, 0) for name in applications),
            round(each.first.load_share, 6),
        )
        for name in each.first.applications:
            column = JobsColumn(
                application=name,
                placement=_placement(each, name),
                storage=each.first.storage,
                other=each.other,
            )
            columns[column] = None
            figure = relative.figure(each.variant.name, name, each.told)
            rows.setdefault(load, {})[column] = figure
    found = [figure for own in rows.values() for figure in own.values()]
    if len(known) < 2 or all(figure.value is None for figure in found):
        return None
    return JobsTable(
        applications=applications,
        columns=_labelled(list(columns)),
        rows=[
            JobsRow(
                counts=dict(zip(applications, load[0], strict=True)),
                load_share=load[1],
                cells=[rows[load].get(column) for column in columns],
            )
            for load in sorted(rows, key=_order)
        ],
    )


Load = tuple[tuple[int, ...], float]
"""Jobs of each application at once, and their share of the slots."""


def _order(load: Load) -> tuple[int, int, tuple[int, ...]]:
    """One application after the other, then those that are mixed, each by its load."""
    present = [place for place, count in enumerate(load[0]) if count]
    return len(present), present[0] if present else 0, load[0]


def _placement(known: _Known, application: str) -> str:
    """`compact (1x8)`: nodes x ranks on each, as its jobs had them."""
    own = [job for job in known.jobs if job.application == application]
    shapes = {(len(job.nodes), job.ranks) for job in own if job.nodes}
    word = own[0].placement if own else ""
    if len(shapes) != 1:
        return word
    ((nodes, ranks),) = shapes
    return f"{word} ({nodes}x{ranks // nodes})" if ranks % nodes == 0 else word


def _labelled(columns: list[JobsColumn]) -> list[JobsColumn]:
    """Each with what of it differs between the columns; of one, its placement."""
    parts = ("application", "placement", "storage", "other")
    differ = [part for part in parts if len({getattr(each, part) for each in columns}) > 1]
    wanted = differ or ["placement"]
    return [
        each.model_copy(
            update={"label": ", ".join(filter(None, (getattr(each, part) for part in wanted)))}
        )
        for each in columns
    ]


# -- configurations ----------------------------------------------------------------------------
def _variant(known: _Known) -> JobsVariant:
    records, first = known.records, known.first
    return JobsVariant(
        variant=known.variant.name,
        trials=len(records),
        counts=known.counts,
        load=first.jobs_label,
        load_share=first.load_share,
        asked=first.asked,
        at_once=min(each.at_once for each in records),
        unreached=next((each.unreached for each in records if not each.reached), ""),
        functional_only=first.functional_only,
        placement_proved=all(each.placement_proved for each in records),
        storage=first.storage,
        makespan_s=_median(map(makespan_s, records)),
        times=[_times(known, name) for name in first.applications],
    )


def _times(known: _Known, application: str) -> JobTimes:
    own = [job for job in known.jobs if job.application == application]
    return JobTimes(
        application=application,
        placement=_placement(known, application),
        jobs=len(own),
        waiting_s=_median(job.waiting_s for job in own),
        launch_s=_median(job.launch_s for job in own),
        stage_s=_median(job.stage_s for job in own),
        run_s=_median(job.run_s for job in own),
        late_s=_median(job.late_s for job in own),
        cpu_s=_median(job.cpu_s for job in own),
        read_mib=_median(job.read_mib for job in own),
        written_mib=_median(job.written_mib for job in own),
    )


def makespan_s(record: JobsRecord) -> float | None:
    """From the first begin of an application to the last end; None where none ran."""
    spans = [span for job in record.jobs if (span := job.span) is not None]
    return max(end for _, end in spans) - min(begin for begin, _ in spans) if spans else None


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _physics(known: Sequence[_Known]) -> Iterator[str]:
    """What each application computes; with the configuration where it is not the same in all."""
    found: dict[str, dict[str, list[str]]] = {}
    for each in known:
        for application, physics in each.first.physics.items():
            found.setdefault(application, {}).setdefault(physics, []).append(each.variant.name)
    for application, by_physics in found.items():
        for physics, variants in by_physics.items():
            names = ", ".join(f'"{name}"' for name in variants)
            of = f" in {names}" if len(by_physics) > 1 else ""
            yield f"{application}{of}: {physics}."


def _said(known: Sequence[_Known]) -> Iterator[str]:
    """Loads that were not reached, and times that are no measure."""
    for each in known:
        unreached = [record.unreached for record in each.records if not record.reached]
        if unreached:
            part = f" in {len(unreached)} of {len(each.records)} trials"
            of = "" if len(unreached) == len(each.records) else part
            yield (
                f'"{each.variant.name}"{of}: {unreached[0]}. No relative figure is made of a load '
                "that was not reached."
            )
        if each.first.functional_only:
            yield f"Functional only, so no ratio is made: {each.first.functional_only}."
        if not all(record.placement_proved for record in each.records):
            yield f'"{each.variant.name}": the placement of its ranks is not proved.'
