"""Published tables of the same kind of work, and what of ours stands in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from loadstone.report.headline import figure_of
from loadstone.report.model.graduated import GraduatedReport, GraduatedVariant
from loadstone.report.model.jobs import JobsReport
from loadstone.report.model.published import PublishedReport, PublishedRow, PublishedTable
from loadstone.report.model.variants import Figure, VariantReport
from loadstone.report.published_jobs import job_rows
from loadstone.report.reading import RecordedExperiment
from loadstone.report.text import number
from loadstone.report.thinking import think_time_s
from loadstone.results.metrics import marked
from loadstone.results.references import Reference, list_references, load_reference
from loadstone.results.references.model import Cell, ReferenceColumn, ReferenceTable

USERS = "users"
"""What a column may ask for beside our metrics."""
LEVELS: Mapping[str, Callable[[GraduatedVariant], float | None]] = {
    "graduated overall": lambda variant: variant.overall.median if variant.overall else None,
    "graduated peak watts": lambda variant: variant.peak_watts,
    "graduated idle watts": lambda variant: variant.idle_watts,
}
"""Likewise, of a load that went through levels: all of power."""
PEAK = "graduated peak rate"
"""Likewise, whatever the scope of the meter."""
_AS_LONG = 0.1
"""Share by which the think time of our users may differ from that of the published ones."""
_SCALES = {("ms", "s"): 1e-3}
"""Our unit and that of a column: what our figure is multiplied by."""
_ALONE = "this result"
_MOST_OWN = 3
"""Rows of ours in a table: those of the most users. A search tries many levels."""


def published_reports(
    folder: RecordedExperiment,
    variants: Sequence[VariantReport],
    units: Mapping[str, str],
    graduated: GraduatedReport | None = None,
    jobs: JobsReport | None = None,
) -> list[PublishedReport]:
    """The published tables of that kind of work. Ladders stand beside a ladder that names them.

    Args:
        folder: Of the experiment.
        variants: Its configurations, whose figures are put into columns of the same meaning.
        units: Of our metrics, by name.
        graduated: Its levels, if its load went through levels.
        jobs: Its jobs, if its load were some.
    """
    known = [load_reference(name) for name in list_references()]
    return [
        _report(reference, _alike(reference, folder, variants), units, graduated, jobs)
        for reference in known
        if reference.kind == "table"
        and folder.experiment.workload.name in reference.workloads
        and (reference.think_time_s is None or _alike(reference, folder, variants))
    ]


def scale_to(unit: str, column: ReferenceColumn) -> float:
    """What a figure in a unit of ours is multiplied by in a column.

    Raises:
        KeyError: If the two units are not of the same kind.
    """
    return 1.0 if unit == column.unit else _SCALES[unit, column.unit]


Ours = Mapping[str, tuple[int, VariantReport]]
"""Variant: its users and its figures."""


def _alike(
    reference: Reference, folder: RecordedExperiment, variants: Sequence[VariantReport]
) -> Ours:
    """The configurations of closed users who think about as long as the published ones."""
    wanted_s = reference.think_time_s
    found: dict[str, tuple[int, VariantReport]] = {}
    for variant in variants if wanted_s is not None else ():
        trial = next(iter(folder.trials_of(variant.name)), None)
        think_s = think_time_s(trial) if trial is not None else None
        if trial is None or think_s is None or wanted_s is None:
            continue
        if abs(think_s - wanted_s) <= _AS_LONG * wanted_s:
            found[variant.name] = (trial.plan.profile.users, variant)
    by_users = sorted(found, key=lambda name: found[name][0])
    return {name: found[name] for name in by_users[-_MOST_OWN:]}


def _report(
    reference: Reference,
    ours: Ours,
    units: Mapping[str, str],
    graduated: GraduatedReport | None,
    jobs: JobsReport | None,
) -> PublishedReport:
    levels = graduated.variants if graduated and reference.power_scope else []
    return PublishedReport(
        name=reference.name,
        title=reference.title,
        source=f"{reference.source} ({reference.date})",
        hardware=reference.hardware,
        tables=[
            _table(
                table,
                [
                    *_own_rows(table.columns, ours, units),
                    *_level_rows(table.columns, levels, reference.power_scope),
                    *job_rows(table.columns, jobs),
                ],
            )
            for table in reference.tables
        ],
        power=_power_said(reference, levels),
        remarks=reference.remarks,
    )


def _table(table: ReferenceTable, own: Sequence[PublishedRow]) -> PublishedTable:
    published = [
        PublishedRow(
            label=row.label,
            cells=[_cell(row.values.get(column.name)) for column in table.columns],
        )
        for row in table.rows
    ]
    relative = f"; 1.00: {table.relative_to}" if table.relative_to else ""
    return PublishedTable(
        title=f"{table.title}{relative}",
        columns=[_heading(column) for column in table.columns],
        rows=[*published, *own],
    )


def _heading(column: ReferenceColumn) -> str:
    with_unit = column.unit not in {"", column.label}
    return f"{column.label}, {column.unit}" if with_unit else column.label


def _own_rows(
    columns: Sequence[ReferenceColumn], ours: Ours, units: Mapping[str, str]
) -> Iterator[PublishedRow]:
    """A row for each configuration of ours, where the table has columns that we have figures of."""
    if not any(column.ours for column in columns):
        return
    for name, (users, variant) in ours.items():
        yield PublishedRow(
            label=_ALONE if len(ours) == 1 else f"{_ALONE}: {name}",
            cells=[_own_cell(column, users, variant, units) for column in columns],
            own=True,
        )


def _own_cell(
    column: ReferenceColumn, users: int, variant: VariantReport, units: Mapping[str, str]
) -> str:
    if column.ours == USERS:
        return number(users)
    figure: Figure | None = figure_of(variant, column.ours) if column.ours else None
    if figure is None:
        return ""
    return number(figure.median * scale_to(units[column.ours], column))


# -- graduated load ----------------------------------------------------------------------------
def _level_rows(
    columns: Sequence[ReferenceColumn], variants: Sequence[GraduatedVariant], scope: str | None
) -> Iterator[PublishedRow]:
    """A row for each configuration that went through levels; power only of the published scope."""
    if not any(column.ours in (PEAK, *LEVELS) for column in columns):
        return
    for variant in variants:
        yield PublishedRow(
            label=_ALONE if len(variants) == 1 else f"{_ALONE}: {variant.variant}",
            cells=[_level_cell(column, variant, scope) for column in columns],
            own=True,
        )


def _level_cell(column: ReferenceColumn, variant: GraduatedVariant, scope: str | None) -> str:
    if column.ours == PEAK:
        return number(variant.peak.achieved_per_s.median) if variant.peak else ""
    figure = LEVELS[column.ours](variant) if column.ours in LEVELS else None
    if figure is None or variant.scope != scope:
        return ""
    return marked(number(figure), variant.mark)


def _power_said(reference: Reference, variants: Sequence[GraduatedVariant]) -> str:
    """What a reader of published watts must know of ours; empty where there are none of both."""
    scope = reference.power_scope
    if scope is None or not variants:
        return ""
    others = dict.fromkeys(each.scope for each in variants if each.scope not in ("", scope))
    if others:
        return (
            f"The published watts are of scope {scope}, ours of scope {', '.join(others)}: no "
            "figure of power of this result stands beside them, and no ratio is made of the two."
        )
    if any(not each.scope for each in variants):
        return "This result has no watts of a meter: only its rate stands beside the published."
    return f"Both are watts of scope {scope}; the machines are others, and no ratio is made."


def _cell(value: Cell) -> str:
    """As it was printed."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case str():
            return value
        case _:
            return f"{value:,.10g}"
