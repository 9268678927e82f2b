"""Jobs on a cluster: throughput per job by load, placement and storage, and jobs over nodes."""

from __future__ import annotations

from pydantic import Field

from loadstone.results.base import Record


class RelativeFigure(Record):
    """Throughput per job of an application in a configuration, as a share of its reference's."""

    variant: str
    application: str
    value: float | None = Field(description="1 of the reference itself; None: no ratio is made.")
    low: float | None = Field(
        default=None, description="None: of the reference, or too few blocks."
    )
    high: float | None = None
    reference: str = Field(default="", description="The variant whose figure is 1.")
    reason: str = Field(default="", description="Why there is no ratio.")


class JobsColumn(Record):
    """A column of the table: what of a job's configuration is not its load."""

    application: str
    placement: str = Field(description="`compact (1x8)`: nodes x ranks on each.")
    storage: str = Field(default="", description="Empty where all have the same.")
    other: str = Field(default="", description="Levels of other factors: `link_mbit=100`.")
    label: str = Field(default="", description="What of these differs between the columns.")


class JobsRow(Record):
    """A row of the table: a load."""

    counts: dict[str, int] = Field(
        description="Application: jobs at once, 0 where it does not run."
    )
    load_share: float = Field(description="Of the cluster's slots, 0 to 1.")
    cells: list[RelativeFigure | None] = Field(description="One for each column; None: not run.")


class JobsTable(Record):
    """Relative throughput per job by load, as it is published."""

    applications: list[str]
    columns: list[JobsColumn]
    rows: list[JobsRow]


class JobTimes(Record):
    """Seconds that a job of an application took: medians over all jobs of all valid trials."""

    application: str
    placement: str
    jobs: int = Field(description="Over how many.")
    waiting_s: float | None = Field(description="From submission to its begin on a node.")
    launch_s: float | None
    stage_s: float | None
    run_s: float | None = Field(description="The application, on one node's own clock.")
    late_s: float | None = Field(description="From its end until the lab saw it.")
    cpu_s: float | None
    read_mib: float | None
    written_mib: float | None


class JobsVariant(Record):
    """A configuration: its load, how far it was reached, and what its jobs took."""

    variant: str
    trials: int = Field(description="That the figures are of.")
    counts: bool = Field(description="No: none of its trials is valid, and these are not.")
    load: str = Field(description="`2 flow, 1 pstm`.")
    load_share: float
    asked: int = Field(description="Jobs that were to run at once; 0: an open arrival.")
    at_once: int = Field(description="The most that ran at one moment, in the worst of the trials.")
    unreached: str = Field(default="", description="Why the load was not reached; empty: it was.")
    functional_only: str = ""
    placement_proved: bool
    storage: str
    makespan_s: float | None = Field(description="Median: first begin to last end.")
    times: list[JobTimes]


class JobsReport(Record):
    """All configurations whose load were jobs, in the order of the design."""

    variants: list[JobsVariant]
    table: JobsTable | None = Field(
        default=None, description="None: nothing is compared, or no ratio may be made."
    )
    physics: list[str] = Field(
        default=[], description="What each application computes: a sentence for each."
    )
    relative_to: list[str] = Field(default=[], description="What 1.00 is: a sentence for each.")
    said: list[str] = Field(default=[], description="Loads that were not reached, and the like.")


class GanttLane(Record):
    """A slot of a node: a row of the chart."""

    node: str
    slot: int = Field(description="From 1.")


class GanttBar(Record):
    """A job on the chart; seconds since the trial's first phase began."""

    name: str = Field(description="Its unique name at the scheduler.")
    label: str = Field(description="That without what all jobs of the trial begin with.")
    application: str
    ranks: int
    nodes: list[str]
    state: str
    reason: str = ""
    lanes: list[int] = Field(description="Rows that it takes.")
    submitted_s: float | None
    arrived_s: float = Field(description="It began on its first node.")
    began_s: float | None = Field(description="Begin of the application.")
    ended_s: float
    waiting_s: float | None
    launch_s: float | None
    stage_s: float | None
    run_s: float | None
    late_s: float | None
    cpu_s: float | None
    read_mib: float | None
    written_mib: float | None


class GanttReport(Record):
    """The jobs of a trial over the slots of the nodes."""

    lanes: list[GanttLane]
    bars: list[GanttBar]
    gate_open_s: float | None = Field(description="When all had arrived; None: no gate.")
    unplaced: list[str] = Field(
        default=[], description="Jobs that never ran, each with the reason."
    )
