"""`loadstone plan`."""

from __future__ import annotations

import json as json_module
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from rich.table import Table

from loadstone.cli.changes import (
    put_compare,
    put_crash,
    put_ladder,
    put_looks,
    put_scale,
    put_search,
    put_sweep,
)
from loadstone.cli.console import out, plain_table, say_document
from loadstone.cli.detection import detection_document, detection_lines
from loadstone.cli.draft import Draft, begin
from loadstone.cli.durations import about, whole_s
from loadstone.cli.earlier import Around
from loadstone.cli.execute import check
from loadstone.cli.needs import needs_said
from loadstone.cli.options import (
    DEFAULT_RESULTS,
    EXPERIMENT,
    Flag,
    Looks,
    SearchForm,
    ShortForm,
    Words,
    refuse_idle,
)
from loadstone.cli.outlook import (
    BaselineLine,
    FactorLine,
    LookLine,
    MatrixLine,
    Outlook,
    look_ahead,
)
from loadstone.experiments.designs import design_of
from loadstone.experiments.file import write_experiment
from loadstone.factors.registry import apply_changes
from loadstone.factors.target import level_text
from loadstone.report.text import steps_said
from loadstone.spec.model import Experiment
from loadstone.targets.walk import system
from loadstone.units import format_duration, format_size
from loadstone.workloads.registry import workload_of

DEFAULT_DATA = Path("/var/tmp")  # noqa: S108


def command(
    what: str,
    /,
    *,
    factor: Annotated[str | None, Parameter(group=EXPERIMENT)] = None,
    levels: Annotated[tuple[str, ...], Parameter(group=EXPERIMENT, metavar="A,B"), Words] = (),
    rung: Annotated[
        tuple[str, ...], Parameter(group=EXPERIMENT, metavar="[NAME:]FACTOR=LEVEL"), Words
    ] = (),
    several: Annotated[bool, Parameter(group=EXPERIMENT), Flag] = False,
    keep: Annotated[Literal["all", "better"] | None, Parameter(group=EXPERIMENT)] = None,
    looks: Looks = None,
    vary: Annotated[tuple[str, ...], Parameter(group=EXPERIMENT, metavar="FACTOR=A,B"), Words] = (),
    matrix: Annotated[Literal["full", "one-at-a-time"] | None, Parameter(group=EXPERIMENT)] = None,
    failure: Annotated[Literal["kill", "power-loss"] | None, Parameter(group=EXPERIMENT)] = None,
    users_each: Annotated[float | None, Parameter(group=EXPERIMENT)] = None,
    detect: Annotated[str | None, Parameter(group=EXPERIMENT)] = None,
    search: SearchForm = SearchForm(),  # noqa: B008
    as_file: Annotated[bool, Parameter(), Flag] = False,
    json: Annotated[bool, Parameter(), Flag] = False,
    short: ShortForm = ShortForm(),  # noqa: B008
) -> None:
    """Show what an experiment would do: its trials in order, its factors, time and space.

    Nothing is started and nothing is written.

    * `loadstone plan examples/oltp-ladder.yaml`
    * `loadstone plan examples/oltp-ladder.yaml --detect 5%`
    * `loadstone plan oltp --rung shared_buffers=1GB --as-file > ladder.yaml`

    Args:
        what: A workload or an experiment file.
        factor: As in `compare`.
        levels: As in `compare`.
        rung: As in `ladder`.
        several: As in `ladder`.
        keep: As in `ladder`.
        looks: As in `compare` and `ladder`.
        vary: As in `sweep`.
        matrix: As in `sweep`.
        failure: As in `crash`.
        users_each: As in `scale`.
        detect: A change, as `5%`: say what finds it in 80 of 100 experiments at the least cost.
        search: As in `search`; `--over` with `--levels` as in `scale`.
        as_file: Print the experiment as a file that means the same.
        json: Print one JSON document on standard output and nothing else there.
        short: Options of the experiment.
    """
    refuse_idle(["--json"] if as_file and json else [], "--as-file prints a file")
    draft = begin(what, "plan", short)
    is_scale = users_each is not None or (search.over is not None and bool(levels))
    if is_scale:
        put_scale(draft, search.over, levels, users_each)
    elif search != SearchForm():
        put_search(draft, search)
    elif factor is not None or levels:
        put_compare(draft, factor, levels)
    if rung or several or keep is not None:
        put_ladder(draft, rung, several=several, keep=keep, reference=None)
    put_looks(draft, looks)
    if vary or matrix is not None:
        put_sweep(draft, vary, matrix)
    if failure is not None:
        put_crash(draft, failure)
    if detect is not None:
        draft.put(("detect",), detect, "--detect")
    _rename(draft, short)
    written = draft.finish()
    examined = check(written)
    if as_file:
        say_document(write_experiment(written.experiment))
        return
    experiment = written.experiment
    data_folder = Path(experiment.target.data or DEFAULT_DATA)
    outlook = look_ahead(experiment, data_folder, DEFAULT_RESULTS, examined.resources)
    if json:
        say_document(json_module.dumps(_document(outlook), indent=2))
    else:
        _print(outlook)


def _rename(draft: Draft, short: ShortForm) -> None:
    """An experiment that is only planned has the name that it would have when run."""
    design = draft.data.get("design")
    if draft.file is None and short.name is None and isinstance(design, dict):
        draft.data["name"] = f"{draft.workload}-{design['kind']}"


def _document(outlook: Outlook) -> dict[str, object]:
    return {
        "version": 1,
        "experiment": outlook.experiment.model_dump(mode="json"),
        "variants": [variant.model_dump(mode="json") for variant in outlook.variants],
        "trials": [asdict(trial) for trial in outlook.trials],
        "trials_at_most": outlook.trials_at_most,
        "trials_at_least": outlook.trials_at_least,
        "looks": [asdict(line) for line in outlook.looks],
        "matrix": asdict(outlook.matrix) if outlook.matrix else None,
        "baseline": asdict(outlook.baseline) if outlook.baseline else None,
        "factors": [asdict(line) for line in outlook.factors],
        "settings": [asdict(line) for line in outlook.settings],
        "skipped": [rung.model_dump(mode="json") for rung in outlook.skipped],
        "parts": [
            {"name": part.name, "engine": part.spec.engine, "server": part.spec.server}
            for part in system(outlook.experiment.target).parts()
        ],
        "impossible": outlook.impossible,
        "duration_s": outlook.duration_s,
        "around": _around_document(outlook.around),
        "data_bytes": outlook.data_bytes,
        "resources": asdict(outlook.resources) if outlook.resources else None,
        "growth_bytes": outlook.growth_bytes,
        "free_bytes": outlook.free_bytes,
        "soak_s": outlook.soak_s,
        "too_few_repeats": outlook.too_few_repeats,
        "offered": outlook.offered,
        "bounded": outlook.bounded,
        "detection": detection_document(outlook.detection),
    }


def _print(outlook: Outlook) -> None:
    console = out()
    experiment = outlook.experiment
    console.print(f"[bold]{experiment.title or experiment.name}[/]  ({experiment.design.kind})")
    console.print(
        f"  {experiment.workload.name} on {experiment.target.engine} "
        f"({experiment.target.server}), {_load(outlook)}"
    )
    for part in system(experiment.target).undivided():
        if part.name:
            console.print(f"  {part.name}: {part.spec.engine} ({part.spec.server})", markup=False)
    if meters := ", ".join(each.title for each in experiment.meters):
        console.print(f"  power by {meters}: looked for before the first trial", markup=False)
    for title, lines in (("Factors", outlook.factors), ("Settings", outlook.settings)):
        if lines:
            console.print(_factor_table(title, lines))
    for rung in outlook.skipped:
        console.print(f"Skipped: {rung.name}: {rung.reason}")
    console.print(_trial_table(outlook))
    if outlook.looks:
        console.print(_look_table(outlook.looks))
    _print_cost(outlook)


def _load(outlook: Outlook) -> str:
    """Of a design that goes up from a first level, that of the first."""
    experiment = outlook.experiment
    if design_of(experiment).upwards(experiment) is None:
        return workload_of(experiment.workload).arrival(experiment.profile)
    first = apply_changes(experiment, outlook.variants[0].changes)
    return f"at first {workload_of(first.workload).arrival(first.profile)}"


def _factor_table(title: str, lines: list[FactorLine]) -> Table:
    """Settings of the host come with what they are now."""
    of_host = any(line.present is not None for line in lines)
    now = ["now"] if of_host else []
    table = plain_table("factor", "level", *now, "needs", "", title=title, whole=("factor",))
    for line in lines:
        cells = [line.factor, level_text(line.level), *([line.present or ""] if of_host else [])]
        table.add_row(*cells, line.needs, _mark(line))
    return table


def _mark(line: FactorLine) -> str:
    if line.refused:
        return f"refused: {line.refused}"
    # `absent` or `denied`; the whole reason stands below the table, with the rung that is skipped.
    unavailable = (line.unavailable or "").partition(":")[0]
    marks = ["unsafe" if line.unsafe else "", unavailable]
    return "; ".join(filter(None, marks))


def _trial_table(outlook: Outlook) -> Table:
    shown, most = len(outlook.trials), outlook.trials_at_most
    title = (
        f"Trials ({shown})" if shown == most else f"Trials of the first stage (of {most} at most)"
    )
    table = plain_table("", "block", "trial", "variant", "", title=title)
    for trial in outlook.trials:
        marks = [trial.crash, f"unsafe: {', '.join(trial.unsafe)}" if trial.unsafe else ""]
        mark = "; ".join(filter(None, marks))
        table.add_row(str(trial.order), str(trial.block), trial.trial, trial.variant, mark)
    return table


def _look_table(lines: Sequence[LookLine]) -> Table:
    """What stops at each look; a column for each number of pairs that are judged together."""
    columns = [f"stops at |t|, {line.among} judged together" for line in lines]
    table = plain_table("look after block", *columns, title="Looks")
    for at, blocks in enumerate(lines[0].blocks):
        table.add_row(str(blocks), *(f"{line.limits[at]:.2f}" for line in lines))
    return table


def _print_cost(outlook: Outlook) -> None:
    console, experiment = out(), outlook.experiment
    expected_s = outlook.duration_s
    count = outlook.trials_at_most
    trials = f"{count} trial{'s' if count != 1 else ''}"
    loading = ", and the time to load the data once" if outlook.data_bytes else ""
    if outlook.trials_at_least < count:
        trials += f" at most, {outlook.trials_at_least} at least"
    if expected_s is None:
        console.print(
            f"The time for {trials} is not known: each runs until its work is done. Run one trial "
            "first: a plan after it tells."
        )
    else:
        minutes = max(round(expected_s / 60), 1)
        console.print(f"About {format_duration(minutes * 60)} for {trials}{loading}.")
    for line in _lines(outlook):
        console.print(line)
    if outlook.data_bytes:
        console.print(
            f"About {format_size(2 * outlook.data_bytes)} of disk for the data and its snapshot, "
            f"beside the server's log; {format_size(outlook.free_bytes)} are free."
        )
    if outlook.growth_bytes:
        where = _beside(experiment)
        console.print(
            f"A trial writes about {format_size(outlook.growth_bytes)}{where}; "
            f"{format_size(outlook.free_bytes)} are free."
        )
    if outlook.too_few_repeats:
        console.print(f"Too few: {outlook.too_few_repeats}.")
    for message in [*outlook.offered, *outlook.bounded]:
        console.print(f"Note: {message}.", markup=False)
    if outlook.impossible:
        console.print(f"It will be refused: {outlook.impossible}.")
    if outlook.detection is not None:
        for line in detection_lines(outlook.detection):
            console.print(line, markup=False)
    if any(line.unsafe for line in [*outlook.factors, *outlook.settings]):
        console.print("Running it needs --allow-unsafe: acknowledged commits can be lost.")


def _lines(outlook: Outlook) -> Iterator[str]:
    """What the experiment takes besides its time and its space."""
    if outlook.matrix is not None:
        yield _matrix(outlook.matrix, outlook.experiment.repeats)
    if outlook.baseline is not None:
        yield _baseline(outlook.baseline)
    yield _around(outlook.around)
    if outlook.soak_s is not None:
        yield _soak(outlook.soak_s)
    if outlook.resources is not None:
        yield needs_said(outlook.resources)


def _beside(experiment: Experiment) -> str:
    from loadstone.targets.registry import target_for

    is_database = "sql" in target_for(experiment.target).capabilities
    return " to the database, beside the server's log" if is_database else ""


def _matrix(matrix: MatrixLine, blocks: int) -> str:
    """The blocks that are needed, and the hours that they take."""

    def taking(count: int) -> str:
        return about(matrix.block_s * count)

    return (
        f"A block of {matrix.configurations} configurations with {matrix.tests} tests takes about "
        f"{taking(1)}. {blocks} blocks are planned ({taking(blocks)}); "
        f"{matrix.fewest_blocks} at least are needed for any verdict "
        f"({taking(matrix.fewest_blocks)}), and more for a small change: --detect 5% says how "
        f"many. The best of a test is judged among {matrix.pairs} pairs."
    )


def _baseline(line: BaselineLine) -> str:
    """What is measured of the placements, and how many of them could show something."""
    files = f" It writes about {format_size(line.files_bytes)}." if line.files_bytes else ""
    tests = f"{line.tests} test{'s' if line.tests != 1 else ''}"
    said = (
        f"{line.trials} of the trials measure a placement itself, before the database on it: "
        f"{line.workload}, about {whole_s(line.load_s)} each.{files} "
        f"A test that ranks all {line.placements} placements as the database does has "
        f"p = {line.least_p:.2g} with {tests} judged together"
    )
    if line.least_p <= line.alpha:
        return f"{said}, which is enough to say that it predicts."
    return f"{said}: no test can be said to predict; {line.fewest_placements} placements could."


def _around(around: Around | None) -> str:
    if around is None:
        return (
            "What a trial takes beside its load (restore, fingerprint, settle, checks) is not "
            "known before the first trial on this data, and grows with it."
        )
    return (
        f"Beside its load a trial takes about {whole_s(around.seconds)}, as in "
        f"{around.experiment}: {steps_said(around.steps)}."
    )


def _around_document(around: Around | None) -> dict[str, object] | None:
    if around is None:
        return None
    steps = {step.name: step.seconds for step in around.steps}
    return {"experiment": around.experiment, "seconds": around.seconds, "steps_s": steps}


def _soak(soak_s: float) -> str:
    if not soak_s:
        return "No soak: the level that is found will have held in short trials only."
    return f"Soak: the level that is found must hold for {format_duration(soak_s)} at a stretch."
