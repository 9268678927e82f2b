"""What a lab plans of an experiment: its variants, and each of its trials."""

from __future__ import annotations

import hashlib
from typing import Literal

from pydantic import Field

from loadstone.spec.base import Level, Spec
from loadstone.spec.design import Failure, LoadedBy
from loadstone.spec.meters import MACHINE_ROOT, Meters
from loadstone.spec.model import OutageSpec, Price, WorkloadSpec
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import TargetSpec

SEED_BITS = 48
"""Seeds of trials fit into a number of every JSON reader."""


class Change(Spec):
    """A factor set to a level."""

    factor: str
    level: Level


class Variant(Spec):
    """One configuration of an experiment."""

    name: str
    changes: list[Change] = Field(description="All that differs from the experiment's base.")
    step: list[Change] = Field(description="What differs from `previous`.")
    previous: str | None = Field(default=None, description="The variant it is built on.")
    because: str | None = None


class CrashPlan(Spec):
    """How a trial ends early."""

    failure: Failure
    after_s: float = Field(gt=0, description="Seconds of measured load before the failure.")
    in_place_of: str = Field(
        default="", description="Where the data would lie if no power loss was to be made."
    )


LevelKind = Literal["ascent", "soak", "confirm"]
"""Part of a search that a trial belongs to."""


class LevelPlan(Spec):
    """The level of a search that a trial is to hold, and by what it is judged."""

    over: LoadedBy
    unit: str = Field(description="Of the level: `users`, `operations/s`.")
    level: float = Field(gt=0)
    kind: LevelKind
    of: float | None = Field(
        default=None, description="Confirmation: the level that was found, and is confirmed."
    )
    raised: list[float] = Field(
        default=[],
        description="Further levels to which the load of this trial is raised, one after the "
        "other, until one fails; the warm-up and the measured phase are those of each level.",
    )
    objective: list[str]
    window_s: float = Field(gt=0)
    reference: float | None = Field(
        default=None,
        gt=0,
        description="What `of reference` means: the figure that trials are judged by, at the first "
        "level. None: this trial is of that level, or nothing is relative.",
    )


class TrialPlan(Spec):
    """One trial, resolved: everything that is needed to make it again."""

    version: Literal[1] = 1
    experiment: str
    trial: str
    variant: Variant
    block: int = Field(description="Interleaved block, from 1.")
    order: int = Field(description="Position among all trials of the experiment, from 1.")
    seed: int = Field(description="Seed of this trial's load.")
    data_seed: int = Field(description="Seed of the data.")
    workload: WorkloadSpec
    target: TargetSpec
    profile: ProfileSpec
    host: dict[str, Level] = {}
    crash: CrashPlan | None = None
    outage: OutageSpec | None = None
    baseline_of: str | None = Field(
        default=None,
        description="The placement that is measured itself, for what is made on it by others of "
        "the experiment.",
    )
    level: LevelPlan | None = None
    cache: Literal["warm", "cold"]
    reload: bool = False
    metric: str | None = Field(
        default=None, description="What the trial is judged by; default: the workload's headline."
    )
    price: Price | None = None
    meters: Meters = Field(default=[], description="Power meters that are read under its load.")
    meters_root: str = Field(
        default=MACHINE_ROOT, description="Root of the tree in which they are looked for."
    )
    allow_unsafe: bool = False


def trial_seed(seed: int, block: int) -> int:
    """The seed of the load of all trials of a block."""
    digest = hashlib.sha256(f"{seed}/load/{block}".encode()).digest()
    return int.from_bytes(digest[:8]) >> (64 - SEED_BITS)
