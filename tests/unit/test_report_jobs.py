"""Jobs in the report: relative throughput by load, what is held against what, jobs over nodes."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from sample_report_jobs import Counts, document, entry, experiment, levels_of, record, written

from loadstone.report.document import document_of
from loadstone.report.gantt import gantt_report
from loadstone.report.model.document import ReportDocument
from loadstone.report.model.jobs import JobsReport, JobsTable
from loadstone.report.reading import read_experiment
from loadstone.report.terminal import print_report
from loadstone.results.jobs import JobsRecord
from loadstone.spec.plans import TrialPlan

LOADS = {"workload.jobs": [1, 2], "workload.placement": ["compact", "distributed"]}
RUN_S = {("compact", 1): 10.0, ("distributed", 1): 8.0, ("compact", 2): 10.5, ("distributed", 2): 9}
SAME = {"throughput_per_job": {"workload.jobs": 1, "workload.placement": "compact"}}


def made(plan: TrialPlan, **fields: Any) -> JobsRecord:
    """A trial of `LOADS`: times a little apart from block to block."""
    levels = levels_of(plan)
    jobs, placement = levels["jobs"], levels["placement"]
    scatter = 1 + 0.01 * (plan.block % 3) + 0.002 * (plan.order % 5)
    run_s = RUN_S[placement, jobs] * scatter
    return record({"pstm": jobs}, placement, run_s, **fields)


def jobs_of(of: ReportDocument) -> JobsReport:
    assert of.jobs is not None
    return of.jobs


def table_of(of: ReportDocument) -> JobsTable:
    table = jobs_of(of).table
    assert table is not None
    return table


def ratios(table: JobsTable) -> dict[tuple[str, int], float | None]:
    """By column and number of jobs."""
    return {
        (column.label, sum(row.counts.values())): cell.value
        for row in table.rows
        for column, cell in zip(table.columns, row.cells, strict=True)
        if cell is not None
    }


def printed(of: ReportDocument, width: int = 100) -> str:
    stream = io.StringIO()
    print_report(of, Path("results/cluster"), Console(file=stream, width=width))
    return stream.getvalue()


# -- what is computed --------------------------------------------------------------------------
def test_what_an_application_computes_is_said_once_where_it_is_the_same(tmp_path: Path) -> None:
    same = {"pstm": "961 traces"}
    found = document(tmp_path, experiment(LOADS), lambda plan: made(plan, physics=same))
    assert jobs_of(found).physics == ["pstm: 961 traces."]
    assert "pstm: 961 traces." in printed(found)


def test_what_is_computed_is_said_by_configuration_where_it_differs(tmp_path: Path) -> None:
    def other(plan: TrialPlan) -> JobsRecord:
        jobs = levels_of(plan)["jobs"]
        return record({"pstm": jobs}, "compact", 10.0, physics={"pstm": f"{jobs}00 traces"})

    found = jobs_of(document(tmp_path, experiment({"workload.jobs": [1, 2]}), other))
    assert found.physics == ['pstm in "jobs=1": 100 traces.', 'pstm in "jobs=2": 200 traces.']


# -- the table ---------------------------------------------------------------------------------
def test_the_table_has_loads_down_and_placements_across_as_published(tmp_path: Path) -> None:
    found = document(tmp_path, experiment(LOADS, relative_to=SAME), made)
    table = table_of(found)
    assert [column.label for column in table.columns] == ["compact (1x2)", "distributed (2x1)"]
    assert [(row.counts, row.load_share) for row in table.rows] == [
        ({"pstm": 1}, 0.5),
        ({"pstm": 2}, 1.0),
    ]
    values = ratios(table)
    assert values["compact (1x2)", 1] == 1.0, "the reference itself"
    assert values["distributed (2x1)", 1] == pytest.approx(10 / 8, rel=0.01)
    assert values["compact (1x2)", 2] == pytest.approx(10 / 10.5, rel=0.01)
    spread = table.rows[0].cells[1]
    assert spread is not None
    assert spread.low is not None
    assert spread.high is not None
    assert spread.low < 10 / 8 < spread.high
    text = printed(found)
    assert "Throughput per job, relative" in text
    assert any(line.split()[:4] == ["50", "%", "1", "1.00"] for line in text.splitlines())


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_keeps_within_its_width(tmp_path: Path, width: int) -> None:
    text = printed(document(tmp_path, experiment(LOADS, relative_to=SAME), made), width)
    assert max(map(len, text.splitlines())) <= width


def test_a_reference_keeps_the_levels_that_are_not_named(tmp_path: Path) -> None:
    """One compact job on the same storage: each storage has a reference of its own."""
    factors = {**LOADS, "workload.inputs": ["separate", "shared"]}

    def slower(plan: TrialPlan) -> JobsRecord:
        shared = levels_of(plan)["inputs"] == "shared"
        own = made(plan)
        jobs = [
            job.model_copy(update={"run_s": (job.run_s or 0) * (2 if shared else 1)})
            for job in own.jobs
        ]
        return own.model_copy(update={"jobs": jobs})

    found = document(tmp_path, experiment(factors, relative_to=SAME), slower)
    values = ratios(table_of(found))
    assert values["distributed (2x1), inputs=separate", 1] == pytest.approx(1.25, rel=0.02)
    assert values["distributed (2x1), inputs=shared", 1] == pytest.approx(1.25, rel=0.02)
    assert len(jobs_of(found).relative_to) == 1
    assert '" or "' in jobs_of(found).relative_to[0]
    against_first = document(tmp_path / "first", experiment(factors), slower)
    values = ratios(table_of(against_first))
    assert values["distributed (2x1), inputs=shared", 1] == pytest.approx(0.625, rel=0.02)


MIXES = {"workload.mix": ["flow=1", "pstm=1", "flow=1,pstm=1"], "workload.placement": ["compact"]}
EACH_ALONE = {
    "flow": {"workload.mix": "flow=1"},
    "pstm": {"workload.mix": "pstm=1"},
}


def mixed(plan: TrialPlan) -> JobsRecord:
    """Flow is slower by a quarter beside PSTM, PSTM by a tenth beside Flow."""
    counts: Counts = {
        name: int(count)
        for name, _, count in (part.partition("=") for part in levels_of(plan)["mix"].split(","))
    }
    own = record(counts, run_s=10 + 0.1 * (plan.block % 3))
    slower = {"flow": 1.25, "pstm": 1.1} if len(counts) > 1 else {}
    jobs = [
        job.model_copy(update={"run_s": (job.run_s or 0) * slower.get(job.application, 1)})
        for job in own.jobs
    ]
    return own.model_copy(update={"jobs": jobs})


def test_each_application_is_held_against_itself_alone(tmp_path: Path) -> None:
    spec = experiment(MIXES, relative_to=EACH_ALONE)
    found = document(tmp_path, spec, mixed)
    assert found.judged == ["throughput_per_job_flow", "throughput_per_job_pstm"]
    table = table_of(found)
    assert [column.label for column in table.columns] == ["flow", "pstm"]
    values = [[cell.value if cell else None for cell in row.cells] for row in table.rows]
    assert values[0] == [1.0, None]
    assert values[1] == [None, 1.0]
    assert values[2] == pytest.approx([0.8, 1 / 1.1])
    assert [notice.code for notice in found.notices if notice.code == "not-compared"] == []
    assert "flow jobs" in printed(found)
    own = [row for report in found.published for row in report.tables[-1].rows if row.own]
    assert [row.label for row in own] == [
        "this result: 1 flow",
        "this result: 1 pstm",
        "this result: 1 flow, 1 pstm",
    ]
    assert own[-1].cells == ["100", "1", "1", "0.80", "", "", "0.91"]


# -- no ratio ----------------------------------------------------------------------------------
Change = Callable[[JobsRecord], JobsRecord]


def queued(of: JobsRecord) -> JobsRecord:
    jobs = [job.model_copy(update={"reason": "Resources"}) for job in of.jobs]
    fields = {"at_once": 1, "reached": False, "reason": "Resources", "jobs": jobs}
    return of.model_copy(update=fields)


def functional(of: JobsRecord) -> JobsRecord:
    return of.model_copy(update={"functional_only": "8 ranks share 2 processors"})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (queued, "2 asked, 1 ran at a time (reason: Resources)"),
        (functional, "8 ranks share 2 processors"),
    ],
)
def test_no_ratio_is_made_of_such_a_load(tmp_path: Path, change: Change, said: str) -> None:
    def of(plan: TrialPlan) -> JobsRecord:
        own = made(plan)
        return change(own) if levels_of(plan)["jobs"] == 2 else own

    found = document(tmp_path, experiment(LOADS, relative_to=SAME), of)
    table = table_of(found)
    last = [cell for cell in table.rows[-1].cells if cell is not None]
    assert [cell.value for cell in last] == [None, None]
    assert {cell.reason for cell in last} == {said}
    assert [each.candidate for each in found.comparisons] == ["jobs=1, placement=distributed"]
    told = [notice.message for notice in found.notices if notice.code == "not-compared"]
    assert len(told) == 2
    assert said in told[0]
    text = " ".join(printed(found).split())
    assert said in text
    assert "none" in text


def test_a_reference_that_was_not_reached_leaves_no_ratio_at_all(tmp_path: Path) -> None:
    def of(plan: TrialPlan) -> JobsRecord:
        return functional(made(plan))

    found = document(tmp_path, experiment(LOADS, relative_to=SAME), of)
    assert jobs_of(found).table is None
    assert found.comparisons == []
    assert len(jobs_of(found).said) == 1, "said once"


def test_a_trial_in_which_the_load_was_not_reached_is_left_out_of_its_cell(tmp_path: Path) -> None:
    def of(plan: TrialPlan) -> JobsRecord:
        own = made(plan)
        return queued(own) if plan.block == 2 and levels_of(plan)["jobs"] == 2 else own

    found = document(tmp_path, experiment(LOADS, relative_to=SAME), of)
    blocks = {each.candidate: each.n_candidate for each in found.comparisons}
    assert blocks == {
        "jobs=1, placement=distributed": 5,
        "jobs=2, placement=compact": 4,
        "jobs=2, placement=distributed": 4,
    }
    assert any("in 1 of 5 trials: 2 asked" in said for said in jobs_of(found).said)


def test_trials_without_jobs_have_no_part_of_jobs(tmp_path: Path) -> None:
    folder = read_experiment(written(tmp_path, experiment(LOADS), made).path)
    trials = [
        trial.__class__(
            trial.path, trial.plan, trial.result.model_copy(update={"jobs": None}), trial.inventory
        )
        for trial in folder.trials
    ]
    found = document_of(folder.__class__(**{**vars(folder), "trials": trials}))
    assert found.jobs is None
    assert all(trial.gantt is None for trial in found.trials)


# -- jobs over nodes ---------------------------------------------------------------------------
def test_each_job_takes_as_many_slots_of_its_nodes_as_it_has_ranks() -> None:
    found = gantt_report(record({"pstm": 2}), origin=1.0)
    assert found is not None
    assert [(lane.node, lane.slot) for lane in found.lanes] == [
        ("n1", 1),
        ("n1", 2),
        ("n2", 1),
        ("n2", 2),
    ]
    assert [(bar.label, bar.lanes) for bar in found.bars] == [("0", [0, 1]), ("1", [2, 3])]
    first = found.bars[0]
    assert (first.arrived_s, first.began_s, first.ended_s) == pytest.approx((1.0, 1.8, 11.8))
    assert found.gate_open_s == pytest.approx(1.5)


def test_distributed_jobs_share_nodes_and_a_later_one_takes_free_slots() -> None:
    first, second = record({"pstm": 2}, "distributed").jobs
    after = second.model_copy(
        update={"name": "ls-ab-pstm-2", "arrived_s": 20.0, "began_s": 20.0, "ended_s": 30.0}
    )
    of = record({"pstm": 2}, "distributed").model_copy(update={"jobs": [first, second, after]})
    found = gantt_report(of, origin=0.0)
    assert found is not None
    assert [bar.lanes for bar in found.bars] == [[0, 2], [1, 3], [0, 2]]


def test_more_ranks_than_slots_get_rows_of_their_own_and_lost_jobs_are_told() -> None:
    lost = entry("b", nodes=[], arrived_s=None, began_s=None, ended_s=None, seen_s=None,
                 state="held", reason="JobHeldUser")  # fmt: skip
    of = record({"pstm": 1}).model_copy(update={"jobs": [entry("a", ranks=3), lost]})
    found = gantt_report(of, origin=0.0)
    assert found is not None
    assert [lane.slot for lane in found.lanes if lane.node == "n1"] == [1, 2, 3]
    assert found.unplaced == ["b: held (JobHeldUser)"]
    assert gantt_report(of.model_copy(update={"jobs": [lost]}), 0.0) is None


def test_a_single_trial_tells_each_of_its_jobs(tmp_path: Path) -> None:
    spec = experiment(LOADS, design={"kind": "run"}, repeats=1)
    found = document(tmp_path, spec, lambda _: record({"pstm": 2}))
    assert jobs_of(found).table is None
    text = printed(found, 120)
    row = next(line for line in text.splitlines() if line.startswith("0 pstm"))
    assert row.split() == ["0", "pstm", "n1", "1", "0.2", "0.1", "10", "0.2", "18", "240", "240"]
    assert "2 of 2" in text
