"""One trial, and what is drawn of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from loadstone.report.model.jobs import GanttReport
from loadstone.report.model.limits import LimitReport
from loadstone.results.base import Record
from loadstone.results.record import TrialResult


class Series(Record):
    """Columns of a chart over time; seconds since the trial's first phase began."""

    t_s: list[float]
    columns: dict[str, list[float | None]] = Field(description="Name with unit: values.")


class PhaseSpan(Record):
    """Where a phase lies on the time axis."""

    name: str
    kind: str
    from_s: float
    to_s: float


class Curve(Record):
    """A latency distribution on a percentile axis."""

    operation: str
    kind: Literal["response", "service"] = "response"
    points: list[tuple[float, float]] = Field(description="(percentile 0..100, milliseconds).")


class SpikeReport(Record):
    """An interval in which operations took long, on the trial's charts."""

    from_s: float
    to_s: float
    p99_ms: float | None
    max_ms: float | None
    kinds: list[str] = Field(description="What happened then, by kind.")


class KindReport(Record):
    """A kind of thing that happened, and whether it coincides with spikes."""

    kind: str
    times: int = Field(description="How often it happened in the measured phase.")
    covered: float = Field(description="Share of the phase that it touches, 0 to 1.")
    together: int = Field(description="Spikes that coincide with it.")
    expected: float = Field(description="How many would by chance.")
    p_value: float
    p_adjusted: float
    verdict: Literal["more often than chance", "as often as by chance", "cannot tell"]


class HappeningReport(Record):
    """One of them, on the trial's charts."""

    kind: str
    from_s: float
    to_s: float
    detail: str = ""


class StallReport(Record):
    """Why it stalled: the spikes of the response time and what happened on the same clock."""

    operations: list[str] = Field(description="Whose times are judged; none: all.")
    p99_limit_ms: float | None = Field(description="A window above it is slow.")
    max_limit_ms: float | None
    own_rule: bool = Field(description="The limit of the slowest operation is the workload's own.")
    windows: int
    slow_windows: int
    spikes: list[SpikeReport]
    kinds: list[KindReport] = Field(description="The clearest first.")
    happenings: list[HappeningReport]


class Mark(Record):
    """Something that happened in a trial: a line across its charts, or a band if it lasted."""

    t_s: float
    to_s: float | None = Field(default=None, description="End of a band; none: a line.")
    kind: str = Field(description="`segment-switch`, `checkpoint`, `outage: paused`.")
    data: dict[str, float | str] = Field(default={}, description="What was told with it.")


class Watched(Record):
    """What the execution-time graph of a trial shows, as names of columns."""

    groups: dict[str, list[str]] = Field(
        description="Group of clients: its operations. Each is a line of the graph."
    )
    operations: list[str] = Field(description="Those by which the workload is judged.")
    threshold_ms: float | None = Field(description="One that takes longer is too slow.")
    offered: str | None = Field(default=None, description="Of `workload`: items due per second.")
    lost: str | None = Field(default=None, description="Of `workload`: items lost per second.")
    backlog: str | None = Field(default=None, description="Of `workload`: items that wait.")
    marks: list[str] = Field(
        default=[], description="Kinds of lines that are drawn at first; none: all."
    )


class StepReport(Record):
    """A step of a trial, on its charts. What is not known, or not of this step alone, is None."""

    stream: str
    operation: str
    kind: str = Field(description="`query`, `change`, `explain` or `work`.")
    from_s: float
    to_s: float
    rows: int | None
    error: str | None = Field(description="Why it did not end well.")
    cpu_s: float | None
    parser_cpu_s: float | None = Field(description="Of the parsers of its files.")
    peak_bytes: int | None
    read_bytes: int | None
    written_bytes: int | None
    spilled_bytes: int | None
    spilled_beside_bytes: int | None = Field(
        description="What the engine spilled while others ran too: of whichever."
    )


class MemoryUse(Record):
    """Resident memory of the load generator, all its processes together, or of Loadstone itself."""

    who: str = Field(description="`load generator` or `Loadstone`.")
    most_bytes: int = Field(description="Over the whole trial, by the second.")
    first_bytes: int | None = Field(
        description="Median of the first five minutes of the measured phase; of ten or more only."
    )
    last_bytes: int | None = Field(description="Median of its last five minutes.")


class MemoryReport(Record):
    """What a trial took of memory, whoever made the load."""

    series: Series = Field(description="Per second: `generator_bytes`, `loadstone_bytes`.")
    uses: list[MemoryUse]


class TrialReport(Record):
    """One trial with everything that is drawn of it."""

    result: TrialResult
    loading: str = Field(default="", description="What the load of its data took, in a sentence.")
    around: str = Field(
        default="", description="What the trial took beside its load, in a sentence."
    )
    phases: list[PhaseSpan]
    load: Series = Field(
        description="Per second: `throughput_per_s`, `errors_per_s`, `p50_ms`, `p95_ms`, `p99_ms`, "
        "`users`, `queued`, `lag_p99_ms`, `driver_cpu_percent`, and per operation `<name> p95_ms`."
    )
    groups: Series = Field(
        description="Per second and watched group: `<name> p50_ms`, `<name> p99_ms`, "
        "`<name> max_ms`."
    )
    workload: Series = Field(
        description="What the workload itself tells: counters as `<name>_per_s`, gauges by name."
    )
    marks: list[Mark]
    watched: Watched | None
    host: Series = Field(
        description="`cpu_user_percent`, `cpu_system_percent`, `cpu_iowait_percent`, "
        "`cpu_steal_percent`, `disk_read_bytes_per_s`, `disk_write_bytes_per_s`, "
        "`cgroup_throttled_percent`, `pressure_cpu_percent`, `pressure_io_percent`, "
        "`pressure_memory_percent`, ..."
    )
    target: Series = Field(description="Samples of the engine's own probe.")
    parts: Series = Field(
        default=Series(t_s=[], columns={}),
        description="Of each part of a system of several: `cpu_percent:PART`, 100 % being one "
        "processor, `memory_bytes:PART`, `throttled_percent:PART`.",
    )
    power: Series = Field(
        default=Series(t_s=[], columns={}), description="Watts of each channel of the meters."
    )
    curves: list[Curve]
    steps: list[StepReport] = []
    gantt: GanttReport | None = Field(
        default=None, description="Jobs over nodes; None: the load were none, or none ran."
    )
    stalls: StallReport | None = Field(
        default=None, description="None: too short, or nothing was measured."
    )
    limits: list[LimitReport] = Field(
        default=[], description="What limited the system, of each measured phase."
    )
    memory: MemoryReport | None = Field(default=None, description="None: nothing was told.")
