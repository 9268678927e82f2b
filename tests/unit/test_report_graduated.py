"""A load that went through levels: its report, and what is published beside it."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from sample_graduated import (
    NAMES,
    PEAK_PER_S,
    WATTS,
    document,
    metric,
    power,
    record,
    written,
)

from loadstone.report.document import build_document
from loadstone.report.export import rows
from loadstone.report.graduated import graduated_report
from loadstone.report.model.document import ReportDocument
from loadstone.report.model.graduated import GraduatedReport, GraduatedVariant
from loadstone.report.model.published import PublishedReport
from loadstone.report.published import published_reports
from loadstone.report.reading import read_experiment
from loadstone.report.terminal import print_report
from loadstone.results.graduated import overall
from loadstone.results.record import Status
from loadstone.results.references import load_reference
from loadstone.spec.model import WorkloadSpec

COMPARE = {"design": {"kind": "compare", "factor": "profile.users", "levels": [40, 80]}}


def printed(of: ReportDocument, folder: Path, width: int = 100) -> str:
    stream = io.StringIO()
    print_report(of, folder, Console(file=stream, width=width))
    return stream.getvalue()


def levels_of(of: ReportDocument) -> GraduatedReport:
    assert of.graduated is not None
    return of.graduated


def trial(watts: list[float | None] | None = None, **fields: Any) -> dict[str, Any]:
    """What a trial through all levels has, with the meter's figure of all of them."""
    own = record(WATTS if watts is None else watts)
    return {"graduated": own, "power": [power(220.7, **fields)]}


# -- one configuration -------------------------------------------------------------------------
def test_a_single_trial_has_the_published_figure_of_its_levels(tmp_path: Path) -> None:
    found = document(tmp_path, [trial()])
    (variant,) = levels_of(found).variants
    assert variant.overall is not None
    assert round(variant.overall.median) == 688
    assert (variant.overall.low, variant.overall.high) == (None, None)
    assert (variant.peak_watts, variant.idle_watts) == (265, 166)
    assert variant.mean_watts == pytest.approx(sum(WATTS) / 11)
    assert (variant.meter, variant.scope) == ("pdu, wall", "wall")
    assert found.headline.startswith("688 operations/s per watt over all levels; 303,846 ")
    assert found.headline.endswith("265 W there and 166 W at active idle.")


def test_levels_go_from_the_highest_load_to_idle_whatever_their_order(tmp_path: Path) -> None:
    whole = record()
    shuffled = whole.model_copy(update={"levels": [*whole.levels[5:], *whole.levels[:5]]})
    found = document(tmp_path, [{"graduated": shuffled}])
    (variant,) = levels_of(found).variants
    assert [level.name for level in variant.levels] == NAMES
    assert variant.peak is not None
    assert variant.peak.achieved_per_s.median == PEAK_PER_S


def test_several_trials_have_medians_with_intervals_at_each_level(tmp_path: Path) -> None:
    trials = [trial([each + shift for each in WATTS]) for shift in (-3, 0, 1, 2, -1, 4)]
    (variant,) = levels_of(document(tmp_path, trials, repeats=6)).variants
    idle = variant.levels[-1].watts
    assert idle is not None
    assert (idle.n, idle.median, idle.low, idle.high) == (6, 166.5, 163, 170)
    assert not idle.is_range
    assert variant.overall is not None
    assert variant.overall.n == 6


def test_times_without_a_steady_state_are_marked(tmp_path: Path) -> None:
    found = document(tmp_path, [trial()])
    (variant,) = levels_of(found).variants
    assert [level.name for level in variant.levels if not level.steady] == ["100 %"]
    lines = printed(found, tmp_path).splitlines()
    first = next(line for line in lines if line.startswith("100 %"))
    assert "18*" in first, "99 %, in ms"
    second = next(line for line in lines if line.startswith("90 %"))
    assert "*" not in second
    assert any("no steady state" in line for line in lines)


def test_without_a_meter_throughput_and_times_are_left(tmp_path: Path) -> None:
    told = record([None] * 11, reason="no meter gave watts")
    found = document(tmp_path, [{"graduated": told}])
    assert "There is no figure of all levels: no meter gave watts" in found.headline
    text = printed(found, tmp_path)
    assert "Power by level" not in text
    assert " W" not in next(line for line in text.splitlines() if line.startswith("level"))
    assert "303,846" in text


def test_a_level_that_failed_is_told_and_leaves_no_figure(tmp_path: Path) -> None:
    failed = record(failing="70 %", reason="70 % does not hold")
    found = document(tmp_path, [{"graduated": failed, "status": Status.INVALID}])
    (variant,) = levels_of(found).variants
    assert not variant.counts
    assert variant.overall is None
    assert [level.name for level in variant.levels if not level.holds] == ["70 %"]
    assert found.headline == "No trial is valid: there is nothing to report. The notices say why."
    text = " ".join(printed(found, tmp_path).split())
    assert "70 % does not hold: 0.0% of what became due was achieved." in text
    assert "of trials that do not count" in text


@pytest.mark.parametrize("width", [80, 100, 160])
def test_the_terminal_has_all_levels_at_any_width(tmp_path: Path, width: int) -> None:
    text = printed(document(tmp_path, [trial(simulated=True)]), tmp_path, width)
    assert max(map(len, text.splitlines())) <= width
    for name in NAMES:
        assert any(line.startswith(name) for line in text.splitlines())


# -- marks -------------------------------------------------------------------------------------
def test_every_figure_of_power_from_another_root_says_so(tmp_path: Path) -> None:
    told = trial(simulated=True)
    told["graduated"] = told["graduated"].model_copy(update={"mark": "simulated"})
    told["metrics"] = [metric("watts", 220.7, "W", mark="simulated")]
    found = document(tmp_path, [told])
    assert "per watt over all levels (simulated)" in found.headline
    assert "W at active idle (simulated)" in found.headline
    (info,) = (each for each in found.metrics if each.name == "watts")
    assert (info.unit, info.mark) == ("W (simulated)", "simulated")
    exported = [row for row in rows(found) if row["unit"] in ("W", "J", "operations/s per W")]
    assert len(exported) == 1 + 2 + 11 + 11 + 10, "trial, meter, levels"
    assert {row["mark"] for row in exported} == {"simulated"}
    rates = [row for row in rows(found) if row["unit"] in ("operations/s", "transactions/s")]
    assert {row["mark"] for row in rates} == {""}


def test_names_of_exported_figures_are_told_apart(tmp_path: Path) -> None:
    told = trial()
    told["power"] = [*told["power"], power(91.0, meter="rapl", scope="package", main=False)]
    exported = rows(document(tmp_path, [told]))
    names = [row["metric"] for row in exported]
    assert len(set(names)) == len(names)
    assert {"power pdu/total watts", "power rapl/total watts", "level 10 % per watt"} <= set(names)


# -- several configurations --------------------------------------------------------------------
def compared(tmp_path: Path, less: float = 40.0) -> ReportDocument:
    """Two configurations in six blocks, the second of which draws less at every level."""

    def of(shift: float, block: int) -> dict[str, Any]:
        made = trial([each + shift + block / 10 for each in WATTS])
        levels = made["graduated"].levels
        made["measured"] = [
            {
                "name": level.name,
                "duration_s": 13.0,
                "metrics": [
                    {"name": "watts", "value": level.watts, "unit": "W", "higher_is_better": False}
                ],
            }
            for level in levels
        ]
        return made

    judged = ["transactions_per_s", *(f"{name} watts" for name in NAMES)]
    folder = written(tmp_path, repeats=6, metric=judged, **COMPARE)
    read = read_experiment(folder.path)
    for each in read.trials:
        first = each.result.variant == read.design.variants[0].name
        update = of(0.0 if first else -less, each.result.block)
        fields = each.result.model_dump() | update
        made = type(each.result).model_validate(fields)
        (each.path / "result.json").write_text(made.model_dump_json())
    return build_document(folder.path)


def test_the_levels_of_two_configurations_are_judged_together(tmp_path: Path) -> None:
    found = compared(tmp_path)
    report = levels_of(found)
    assert len(report.variants) == 2
    assert {each.metric for each in report.comparisons} == {f"{name} watts" for name in NAMES}
    assert {each.verdict for each in report.comparisons} == {"better"}
    assert {each.interval_confidence for each in report.comparisons} != {0.95}, "as a family"
    (said,) = report.said
    assert said.startswith('"users=80" draws less than "users=40" at 11 of 11 levels: 100 % -15 %')
    assert found.judged == ["transactions_per_s"], "levels have a table of their own"
    text = printed(found, tmp_path)
    assert "Power at each level, judged together" in text
    assert "By 90 %" not in found.headline


# -- published ---------------------------------------------------------------------------------
def beside(tmp_path: Path, **meter: Any) -> tuple[PublishedReport, GraduatedVariant]:
    """The published servers beside a result of the same kind of work."""
    folder = read_experiment(written(tmp_path, [trial(**meter)]).path)
    experiment = folder.experiment.model_copy(update={"workload": WorkloadSpec(name="ssj")})
    folder = replace(folder, experiment=experiment)
    report = graduated_report(folder, [])
    (found,) = published_reports(folder, [], {}, report)
    assert report is not None
    return found, report.variants[0]


def test_watts_at_the_wall_stand_beside_published_ones(tmp_path: Path) -> None:
    found, _ = beside(tmp_path)
    *published, own = found.tables[0].rows
    assert [row.cells for row in published] == [
        ["600", "244,832", "226", "174"],
        ["478", "251,555", "294", "226"],
        ["437", "229,828", "296", "225"],
    ]
    assert (own.label, own.cells) == ("this result", ["688", "303,846", "265", "166"])
    assert "no ratio is made" in found.power
    assert any("only the peak and active idle" in remark for remark in found.remarks)


def test_watts_of_another_scope_do_not(tmp_path: Path) -> None:
    found, _ = beside(tmp_path, scope="package")
    assert found.tables[0].rows[-1].cells == ["", "303,846", "", ""]
    assert "published watts are of scope wall, ours of scope package" in found.power


def test_marks_stand_behind_what_stands_beside_published_figures(tmp_path: Path) -> None:
    found, _ = beside(tmp_path, estimated=True)
    assert found.tables[0].rows[-1].cells[0] == "688 (estimated)"


def test_a_straight_line_between_peak_and_idle_gives_what_the_reference_says() -> None:
    reference = load_reference("specpower-x4250")
    shares = [each / 10 for each in range(11)]
    straight = []
    for row in reference.tables[0].rows:
        peak, watts, idle = (float(str(row.values[at])) for at in ("peak_ops", "peak_w", "idle_w"))
        levels = [(peak * share, idle + share * (watts - idle)) for share in shares]
        straight.append(round(overall(levels)))
    assert straight == [612, 484, 441]
    assert any("612, 484 and 441" in remark for remark in reference.remarks)
