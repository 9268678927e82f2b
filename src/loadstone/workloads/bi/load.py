"""What the load generator is told of people at dashboards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loadstone.spec.dashboards import Content
from loadstone.targets.bi import Actions
from loadstone.workloads.bi.parameters import BiParameters
from loadstone.workloads.bi.visits import scenario_of
from loadstone.workloads.http.scenario import Scenario
from loadstone.workloads.statements import StatementScenario


def told(
    actions: Actions,
    content: Content,
    parameters: BiParameters,
    *,
    people: Path,
    answers: Path,
) -> dict[str, Any]:
    """The plan's `workload` object.

    Args:
        actions: What people's actions are on the server.
        content: That it was provisioned with.
        parameters: Of the workload.
        people: File of the accounts.
        answers: File that answers are kept in.

    Raises:
        WrongInputError: If people come to an action that the server does not have.
    """
    scenario = scenario_of(
        actions,
        content,
        parameters.ways,
        visit=parameters.first_visit,
        retries=parameters.retries,
        sample=parameters.sample,
    )
    if actions.form == "statements":
        statements = StatementScenario.model_validate(scenario)
        return {
            "name": "statements",
            "role": "run",
            "parameters": statements.driver(str(people), str(answers)),
        }
    requests = Scenario.model_validate(scenario)
    return {
        "name": "http",
        "role": "run",
        "parameters": {
            "scenario": requests.driver(str(people), actions.secrets),
            "answers": str(answers),
        },
    }
