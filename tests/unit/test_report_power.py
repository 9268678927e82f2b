"""What meters read in any trial, and what is made of it for price, power and height."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from rich.console import Console
from sample_graduated import document, power, record

from loadstone.report.model.document import ReportDocument
from loadstone.report.model.power import DensityReport, DensityRow
from loadstone.report.power import power_series
from loadstone.report.probe_series import is_target
from loadstone.report.terminal import print_report
from loadstone.results.samples import SCHEMA
from loadstone.spec.model import SystemSpec

SYSTEM = {"watts": 3283.0, "rack_units": 10.0, "covers": "three servers"}
USERS = {"profile": {"users": 50_000}}
ENERGY = {"per_kwh": 0.25, "currency": "EUR"}


def printed(of: ReportDocument, folder: Path, width: int = 100) -> str:
    stream = io.StringIO()
    print_report(of, folder, Console(file=stream, width=width))
    return stream.getvalue()


def density_of(found: ReportDocument) -> tuple[DensityReport, DensityRow]:
    assert found.density is not None
    return found.density, found.density.rows[0]


# -- meters ------------------------------------------------------------------------------------
def test_each_meter_has_a_row_and_scopes_are_never_added(tmp_path: Path) -> None:
    package = power(90.0, meter="rapl", kind="powercap", channel="package-0", scope="package",
                    main=False, accuracy_percent=None)  # fmt: skip
    found = document(tmp_path, [{"power": [package, power(200.0)]}])
    assert [(row.meter, row.scope, row.main) for row in found.power] == [
        ("pdu", "wall", True),
        ("rapl", "package", False),
    ]
    assert [row.figures[0].watts for row in found.power] == [200.0, 90.0]
    text = printed(found, tmp_path)
    assert "Figures per watt are by pdu total, wall." in text


def test_medians_are_of_the_valid_trials_with_watts(tmp_path: Path) -> None:
    lost = power(None, reason="40 % of it was measured")
    readings = [[power(200.0 + at)] for at in range(5)]
    found = document(tmp_path, [{"power": each} for each in [*readings, [lost]]], repeats=6)
    (row,) = found.power
    (figures,) = row.figures
    assert (figures.trials, figures.watts) == (5, 202.0)
    assert figures.covered == 0.4, "the least"
    assert "40 % of it was measured" in printed(found, tmp_path)


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        ({"simulated": True}, "200 (simulated)"),
        ({"estimated": True}, "200 (estimated)"),
        ({"simulated": True, "estimated": True}, "200 (simulated, estimated)"),
    ],
)
def test_what_is_no_measurement_is_marked_behind_each_figure(
    tmp_path: Path, marks: dict[str, bool], said: str
) -> None:
    found = document(tmp_path, [{"power": [power(200.0, **marks)]}])
    assert said in printed(found, tmp_path, width=160)
    _, row = density_of(found)
    assert row.mark == said.removeprefix("200 (").removesuffix(")")


def test_the_sum_of_stated_parts_names_them(tmp_path: Path) -> None:
    total = power(180.0, meter="psu", channel="one+two", parts=["one", "two"])
    found = document(tmp_path, [{"power": [total]}])
    assert "psu one+two is the sum of one, two." in printed(found, tmp_path)


def test_watts_over_time_are_drawn_once_for_a_counter_that_is_seen_twice() -> None:
    channels = (("rapl", "a"), ("rapl", "twin"), ("pdu", "p"))
    rows = [
        (0.5 + t, f"meter.{meter}", f"watts:{meter} {channel}", 10.0)
        for t in range(3)
        for meter, channel in channels
    ]
    columns = list(zip(*rows, strict=True))
    samples = pa.table([pa.array(each) for each in columns], schema=SCHEMA)
    records = [power(10.0, meter="rapl", channel="a"), power(10.0, channel="p")]
    assert list(power_series(samples, records, 0.0).columns) == ["watts:rapl a", "watts:pdu p"]
    assert len(power_series(samples, [], 0.0).columns) == 3, "of a trial without records all"
    assert not is_target("meter.pdu")


# -- cost and density --------------------------------------------------------------------------
def test_stated_power_gives_the_published_users_per_watt_and_rack_unit(tmp_path: Path) -> None:
    found = document(tmp_path, system=SYSTEM, **USERS)
    density, row = density_of(found)
    assert row.users_per_watt == pytest.approx(15.2, abs=0.05)
    assert row.users_per_rack_unit == 5000
    assert (row.watts_from, row.watts_of) == ("stated", "three servers")
    assert "Watts are stated by the owner, not measured: three servers." in density.remarks
    assert "Watts are stated by the owner" in printed(found, tmp_path)


def test_measured_watts_come_before_stated_ones_and_say_so(tmp_path: Path) -> None:
    found = document(tmp_path, [{"power": [power(2000.0)]}], system=SYSTEM, **USERS)
    density, row = density_of(found)
    assert (row.watts, row.watts_from, row.watts_of) == (2000.0, "measured", "pdu, wall")
    assert row.users_per_watt == 25
    assert "Watts are measured: pdu, wall." in density.remarks


def test_a_meter_without_a_figure_leaves_the_stated_ones(tmp_path: Path) -> None:
    _, row = density_of(document(tmp_path, [{"power": [power(None)]}], system=SYSTEM))
    assert (row.watts, row.watts_from) == (3283.0, "stated")


def test_energy_of_a_year_is_of_the_mean_power_over_its_hours(tmp_path: Path) -> None:
    system = {"energy_price": {**ENERGY, "hours": 1000}}
    found = document(tmp_path, [{"power": [power(500.0)]}], system=system)
    density, row = density_of(found)
    assert (row.kwh_per_year, row.energy_cost_per_year) == (500.0, 125.0)
    assert density.energy_currency == "EUR"
    assert "A year is 1,000 hours at these watts; a kWh costs 0.25 EUR." in " ".join(
        printed(found, tmp_path).split()
    )


def test_operations_for_price_watts_and_height(tmp_path: Path) -> None:
    system = {**SYSTEM, "energy_price": ENERGY}
    price = {"items": {"server": 4000, "disks": 1000}, "currency": "CHF"}
    density, row = density_of(document(tmp_path, system=system, price=price, **USERS))
    assert (density.unit, density.currency) == ("transactions/s", "CHF")
    assert row.rate == 5000.0
    assert row.rate_per_price == 1.0
    assert row.rate_per_watt == pytest.approx(5000 / 3283)
    assert row.rate_per_rack_unit == 500.0
    assert row.energy_cost_per_year == pytest.approx(3.283 * 8760 * 0.25)


def test_graduated_load_costs_the_mean_of_its_levels(tmp_path: Path) -> None:
    told = {"graduated": record(), "power": [power(1.0)]}
    system = {"energy_price": ENERGY, "rack_units": 2}
    density, row = density_of(document(tmp_path, [told], system=system))
    assert density.graduated
    assert row.watts == pytest.approx(2428 / 11), "not what the meter said of the whole trial"
    assert row.rate_per_watt == pytest.approx(688.3, abs=0.1), "of all levels"
    assert row.rate_per_rack_unit == pytest.approx(303_846 / 2), "of the highest load"
    assert row.energy_cost_per_year == pytest.approx(2428 / 11 / 1000 * 8760 * 0.25)


def test_nothing_is_said_where_nothing_is_known(tmp_path: Path) -> None:
    found = document(tmp_path)
    assert found.density is None
    assert found.power == []
    text = printed(found, tmp_path)
    assert "Cost, power and height" not in text
    assert "Power over the measured load" not in text


@pytest.mark.parametrize(
    "energy", [{"per_kwh": 0}, {"per_kwh": 0.3, "hours": 9000}, {"currency": "EUR"}]
)
def test_a_price_of_energy_that_cannot_be_is_refused(energy: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"per_kwh|hours"):
        SystemSpec.model_validate({"energy_price": energy})
