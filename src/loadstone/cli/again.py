"""A finished trial as an experiment of its own: the same configuration, data and load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from loadstone.cli.draft import Draft, lay_over
from loadstone.cli.options import ShortForm
from loadstone.errors import WrongInputError
from loadstone.experiments.file import Written
from loadstone.spec.durations import durations_as_text
from loadstone.spec.model import EXPERIMENT_VERSION
from loadstone.spec.plans import TrialPlan, trial_seed
from loadstone.text import read_text
from loadstone.workloads.registry import workload_class


def again(path: Path, short: ShortForm) -> Written:
    """Reads a trial's plan and makes it an experiment of one trial.

    Args:
        path: The `plan.json`.
        short: Options that replace what the plan says.

    Raises:
        WrongInputError: If it is no plan, or its seeds do not belong together.
    """
    plan = _read(path)
    if plan.seed != trial_seed(plan.data_seed, plan.block):
        raise WrongInputError(
            f"{path}: seed {plan.seed} is not the one of block {plan.block} of seed "
            f"{plan.data_seed}, so the load cannot be drawn again",
            advice="repeat the plan as Loadstone wrote it",
        )
    decided = set(workload_class(plan.workload.name).decides)
    profile = plan.profile.model_dump(exclude_none=True, exclude=decided)
    data = {
        "version": EXPERIMENT_VERSION,
        "name": f"{plan.experiment}-again"[:80],
        "title": f"{plan.trial} of {plan.experiment}, again",
        "workload": plan.workload.model_dump(),
        "target": plan.target.model_dump(exclude_none=True),
        "profile": durations_as_text(profile),
        "host": dict(plan.host),
        "design": _design(plan),
        "cache": plan.cache,
        "reload": plan.reload,
        "metric": plan.metric,
        "meters": [durations_as_text(each.model_dump(exclude_none=True)) for each in plan.meters],
        "meters_root": plan.meters_root,
        "seed": plan.data_seed,
    }
    if plan.outage is not None:
        data["outage"] = durations_as_text(plan.outage.model_dump())
    draft = Draft(data)
    lay_over(draft, short)
    return draft.finish()


def _design(plan: TrialPlan) -> dict[str, Any]:
    if plan.crash is None:
        return {"kind": "run", "first_block": plan.block}
    failure = plan.crash.failure
    return {"kind": "crash", "failure": failure, "crashes": 1, "first_block": plan.block}


def _read(path: Path) -> TrialPlan:
    text = read_text(path)
    try:
        return TrialPlan.model_validate_json(text)
    except ValidationError as error:
        raise WrongInputError(
            f"{path} is not the plan of a trial",
            advice="give the plan.json in the folder of a trial, or an experiment file",
        ) from error
