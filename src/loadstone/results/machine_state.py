"""What was true of the machine around a trial: the lab's own share, clocks, heat, its speed."""

from __future__ import annotations

from pydantic import Field

from loadstone.results.base import Record


class LabCost(Record):
    """What the lab itself took over a measured phase: it is part of the watts.

    It is of the process that runs the experiment, and of the programs that its meters start. The
    load generator is not in it: `generator` tells of that.
    """

    cpu_share: float = Field(description="Processors that it used on average: 0.01 is 1 % of one.")
    wakeups_per_s: float = Field(
        description="How often one of its threads gave up the processor to wait, and so had to be "
        "woken."
    )


class ProcessorStates(Record):
    """Clock and idle states of the machine's processors over a measured phase."""

    frequency_mhz: float | None = Field(
        default=None,
        description="Mean over all processors and readings; None: this machine does not tell.",
    )
    idle: dict[str, float] = Field(
        default={},
        description="Idle state (`C6`): share of the time in it, 0 to 1, mean over all processors; "
        "empty where this machine does not tell.",
    )


class Temperature(Record):
    """A sensor over a measured phase."""

    sensor: str = Field(description="Chip and label: `coretemp Package id 0`.")
    mean_celsius: float
    most_celsius: float
    simulated: bool = Field(
        default=False, description="Read below another root than that of this machine."
    )


class DriftRecord(Record):
    """The machine's own speed before and after the trial: for the record, it decides nothing."""

    before: dict[str, float]
    after: dict[str, float]
    moved_percent: float = Field(description="Largest move against the experiment's median.")
    disturbed: bool = Field(
        default=False, description="In older results: the trial was left out for it."
    )
