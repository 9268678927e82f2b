from __future__ import annotations

import pytest
from pydantic import ValidationError

from loadstone.errors import WrongInputError
from loadstone.report.reference import reference_report
from loadstone.results.references import list_references, load_reference
from loadstone.results.references.catalogue import load_ladder
from loadstone.results.references.model import Reference


@pytest.mark.parametrize("name", list_references())
def test_every_reference_is_complete(name: str) -> None:
    reference = load_reference(name)
    assert reference.name == name
    assert reference.source
    assert reference.hardware
    assert reference.date[:4].isdigit()
    assert any(row.values.get(reference.metric) is not None for row in reference.tables[0].rows)
    assert (reference_report(name) is not None) == (reference.kind == "ladder")


def test_figures_are_those_that_were_published() -> None:
    users = load_reference("oracle-bi-users").tables[0].rows[-1].values
    assert (users["users"], users["transactions_per_s"], users["response_mean_s"]) == (
        50_000, 1031, 0.28,
    )  # fmt: skip
    rungs = load_reference("linux-maximus").tables[0].rows
    assert len(rungs) == 12
    assert rungs[0].values == {"load_time_s": 49.41, "transactions_per_s": 8.152}
    assert rungs[-1].values == {"load_time_s": 4.43, "transactions_per_s": 14.988}


def test_each_test_of_the_throughput_study_has_its_own_reference_and_all_its_rows() -> None:
    """Each table has 1.00 where its own words say that the reference is."""
    tables = {table.name: table for table in load_reference("eclipse-mm8").tables}
    assert {name: table.relative_to for name, table in tables.items()} == {
        "test-1": "one job on its node's local disk",
        "test-2": "one compact job on the 7410",
        "test-3": "one compact job on the 7410",
        "test-4": "each application alone and compact (MM8 on 1 node, PSTM on 2)",
    }
    alone = {
        row.values["mm8_jobs"]: (row.values["mm8_compact"], row.values["mm8_distributed"])
        for row in tables["test-4"].rows
        if row.values["pstm_jobs"] == 0
    }
    assert alone == {1: (1.00, 1.40), 2: (1.00, 1.27), 4: (0.99, 0.98)}
    distributed = {
        row.values["load_percent"]: row.values["distributed"] for row in tables["test-2"].rows
    }
    assert (distributed[13], distributed[75]) == (1.34, 1.10)
    assert any("34 %" in remark for remark in load_reference("eclipse-mm8").remarks)


def test_unknown_reference_suggests_a_near_one() -> None:
    with pytest.raises(WrongInputError) as caught:
        load_reference("linux-maximum")
    assert caught.value.advice == "did you mean linux-maximus?"


def test_a_table_is_no_ladder_to_climb_beside() -> None:
    assert load_ladder("linux-maximus").kind == "ladder"
    with pytest.raises(WrongInputError, match="is a table, not a ladder") as caught:
        load_ladder("oracle-bi-users")
    assert "choose one of linux-maximus" in str(caught.value.advice)


def test_figure_without_a_column_is_refused() -> None:
    broken = load_reference("linux-maximus").model_dump()
    broken["tables"][0]["rows"][0]["values"]["surprise"] = 1.0
    with pytest.raises(ValidationError, match="without a column"):
        Reference.model_validate(broken)
