"""What docs/http.md shows is what examples/http has, and it is right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from sample_web import experiment

from loadstone.experiments.preflight.check import check_experiment
from loadstone.results.references import load_reference
from loadstone.workloads.http.reading import in_full, read_scenario

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "http.md").read_text()
EXAMPLES = ROOT / "examples" / "http"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("language", "file"), [("yaml", "order.yaml"), ("js", "order.k6.js")])
def test_the_page_shows_the_example(language: str, file: str) -> None:
    _, shown = (EXAMPLES / file).read_text().split("\n\n", 1)
    assert shown in blocks(language)


def test_the_example_can_be_run() -> None:
    path = EXAMPLES / "order.yaml"
    assert read_scenario(path).names == ("order",)
    assert check_experiment(experiment(in_full(path))) == []


@pytest.mark.parametrize("text", blocks("yaml"))
def test_every_block_is_yaml(text: str) -> None:
    assert isinstance(YAML(typ="safe").load(text), dict | list)


def test_the_published_figures_are_those_of_the_reference() -> None:
    table = load_reference("oracle-bi-users").tables[0]
    for row in table.rows:
        cells = [
            row.values[name] for name in ("users", "bi_nodes", "cpu_percent", "memory_used_gb")
        ]
        users, nodes, cpu, memory = (float(str(cell)) for cell in cells)
        shown = f"| {users:,.0f} | {nodes:g} | {cpu:g} % | {memory:g} GB |"
        rest = f" {row.values['response_mean_s']} s | {row.values['transactions_per_s']:,.0f} |"
        assert shown + rest in PAGE
