"""The report document: what the pages draw and `--json` prints. One value, no queries behind it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from loadstone.results.durability import DurabilityVerdict
from loadstone.results.record import (
    LevelReason,
    Notice,
    Record,
    SkippedRung,
    TrialResult,
    WorstFigure,
)
from loadstone.spec.base import Level


class MetricInfo(Record):
    """How a metric is written and which way is better."""

    name: str
    label: str
    unit: str
    higher_is_better: bool | None = None


class Figure(Record):
    """A metric of a variant over its trials: median, 95 % interval (or None), all values."""

    metric: str
    n: int
    median: float
    low: float | None
    high: float | None
    interval_is_range: bool = False
    compared: float | None = Field(
        default=None,
        description="What verdicts are about: the geometric mean; of a variant that is compared, "
        "that of its baseline times the ratio of the two.",
    )
    values: list[float]
    trials: list[str] = Field(description="Trial of each value, same order.")
    outliers: list[str] = Field(default=[], description="Trials that stand apart; not dropped.")


class ChangeText(Record):
    """One factor of a step, with the level before."""

    factor: str
    before: Level | None
    after: Level


class VariantReport(Record):
    """A rung, a level or a cell of a sweep."""

    name: str
    previous: str | None
    step: list[ChangeText]
    levels: dict[str, Level] = Field(
        default={}, description="Factor: level, of all that differs from the experiment's base."
    )
    several: bool = Field(description="More than one thing changed against `previous`.")
    because: str | None = None
    unsafe: list[str] = []
    kept: bool | None = Field(default=None, description="Ladder with `keep: better`: its fate.")
    trials: list[str]
    disturbed: int = Field(description="Trials that the machine disturbed; they do not count.")
    figures: list[Figure]
    durability: DurabilityVerdict | None = Field(
        default=None, description="What its crash trials showed, if it had any."
    )


class HostDifference(Record):
    """A large fact in which the hosts of two results differ."""

    fact: str = Field(description="`virtualisation`, `processor`, `memory`, `disks`, ...")
    baseline: str
    candidate: str


class LookReport(Record):
    """The look of a sequential plan at which a comparison was judged last."""

    planned: list[int] = Field(description="Blocks after which it looks; the last ends it.")
    after: int = Field(description="Blocks after which this look was.")
    t: float | None = Field(description="|t| that was seen; None: nothing scattered.")
    limit: float = Field(description="|t| that stops at this look.")
    early: bool = Field(description="It was decided before the last look.")


class ComparisonReport(Record):
    """Candidate against baseline, on one metric."""

    metric: str
    candidate: str
    baseline: str
    role: Literal["previous", "baseline", "pair"]
    baseline_mean: float | None = Field(
        default=None, description="Geometric mean in the trials that the comparison rests on."
    )
    candidate_mean: float | None = None
    ratio: float
    low: float | None
    high: float | None
    interval_confidence: float = Field(
        description="Of this interval by itself: 1 minus the level at which the pair was judged."
    )
    effect_percent: float
    p_value: float | None = Field(
        description="Of this comparison alone; stage-wise where there are looks."
    )
    p_adjusted: float | None
    p_by_signs: float | None = Field(
        description="Exact p of the differences within blocks with their signs dealt anew: a check."
    )
    test: str = Field(description="What the difference was held against.")
    freedom: float = Field(description="Degrees of freedom of its scatter.")
    n_baseline: int
    n_candidate: int
    least_detectable_percent: float | None
    least_detectable_range: tuple[float, float] | None = Field(
        description="Where the true one lies, as the scatter is known from few trials only: 90 %."
    )
    verdict: Literal[
        "better",
        "worse",
        "equivalent",
        "no detectable change",
        "too few repeats",
        "not decided yet",
    ] = Field(
        description="`equivalent`: no change larger than the margin. `not decided yet`: it ended "
        "before the last look."
    )
    look: LookReport | None = Field(
        default=None, description="None: the number of repeats was fixed, or no look was made."
    )
    margin_percent: float | None = Field(
        default=None, description="The largest change that does not matter, if that was said."
    )
    p_beyond_margin: float | None = Field(
        default=None,
        description="Corrected p of `within_margin` (two one-sided tests); None with looks, where "
        "the interval tells it.",
    )
    within_margin: bool = Field(
        default=False, description="It is shown to be no larger; also beside `better` or `worse`."
    )
    repeats_needed: int | None = None
    differences: list[str] = Field(
        default=[], description="What differs between the two besides the factor."
    )


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


class StepTitle(Record):
    """A step that all trials make."""

    operation: str
    title: str
    metric: str = Field(description="Its time or its rate, among the metrics.")
    column: str = Field(
        default="", description="Of the table of tests, in which the title is the row: `read`."
    )
    facts: dict[str, float | str] = Field(
        default={}, description="What it does: `access`, `block_bytes`, `depth`, `threads`."
    )
    figures: dict[str, str] = Field(
        default={}, description="Further metrics of it by what they tell: `score`, `p50 ms`."
    )


class StepPlan(Record):
    """How the engine carried out a step."""

    variant: str
    trial: str
    operation: str
    text: str


class CycleReport(Record):
    """A cycle of steps that trials make several times."""

    variant: str
    cycle: int = Field(description="From 1.")
    times_s: dict[str, float] = Field(
        description="Operation: its time, the mean of the variant's valid trials."
    )


class PlanChange(Record):
    """A step that is carried out in another way than in the variant before."""

    operation: str
    candidate: str
    baseline: str


class BestReport(Record):
    """Which configuration leads a test, and whether that is shown."""

    metric: str
    variant: str
    shown: bool = Field(description="It is better than each of the others, as they were judged.")
    level: list[str] = Field(description="Others that are not shown to be worse than it.")
    pairs: int = Field(description="How many pairs were judged together: all that there are.")


class DepthPoint(Record):
    """A test of a queue-depth curve: medians of the trials."""

    title: str
    in_flight: float = Field(description="Asked for: depth times threads.")
    rate: float
    p50_ms: float | None
    p99_ms: float | None


class DepthCurve(Record):
    """Throughput against latency: tests of a variant that differ in depth and threads only."""

    variant: str
    label: str = Field(description="What they share: `randread 4 KB`.")
    points: list[DepthPoint] = Field(description="By requests in flight.")
    knee: int | None = Field(
        description="Place of the point with the most power, rate / time in the system; None: "
        "the power still rises at the last."
    )


class StepsReport(Record):
    """The steps of a workload that goes step by step, or its tests, compared one by one."""

    steps: list[StepTitle]
    comparisons: list[ComparisonReport] = Field(
        description="Of each step, corrected over the steps of a family of a pair; of each test "
        "(a step with a column), corrected over all pairs."
    )
    best: list[BestReport] = Field(
        default=[], description="Of each test that several configurations were compared by."
    )
    moved: list[str] = Field(
        description="Which steps moved: a sentence for each pair of variants and direction."
    )
    plans: list[StepPlan]
    plan_changes: list[PlanChange]
    cycles: list[CycleReport] = []

    depths: list[DepthCurve] = []

    @property
    def has_columns(self) -> bool:
        """Whether they are tests, in rows and columns."""
        return any(step.column for step in self.steps)


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
    curves: list[Curve]
    steps: list[StepReport] = []
    stalls: StallReport | None = Field(
        default=None, description="None: too short, or nothing was measured."
    )
    memory: MemoryReport | None = Field(default=None, description="None: nothing was told.")


class ReferenceRung(Record):
    """A rung of a published ladder, as ratios to the rung before and to the baseline."""

    name: str
    change: str
    value: float
    unit: str
    ratio_to_previous: float | None
    ratio_to_baseline: float


class ReferenceReport(Record):
    """A published result beside ours: shapes are compared, never figures."""

    name: str
    title: str
    source: str
    hardware: str
    rungs: list[ReferenceRung]


class PublishedTable(Record):
    """A published table, as printed."""

    title: str
    columns: list[str] = Field(description="Label with unit.")
    rows: list[PublishedRow]


class PublishedRow(Record):
    """A line of it; empty where the source gives none."""

    label: str
    cells: list[str]


class PublishedReport(Record):
    """A published result of the same kind of work. Nothing is compared across the two."""

    name: str
    title: str
    source: str
    hardware: str
    tables: list[PublishedTable]
    remarks: list[str]


class BesideRow(Record):
    """A figure of another program, and the test of ours that is equal to its test."""

    label: str = Field(description="As that program calls it.")
    value: float
    metric: str | None = Field(
        description="Of ours: access, block, depth and threads are the same; None: no test is."
    )
    why: str = Field(default="", description="Why it stands beside none.")


class BesideReport(Record):
    """What another program measured, beside our tests: one number each, so no verdict."""

    name: str
    title: str
    hardware: str
    unit: str
    rows: list[BesideRow]
    remarks: list[str]


class LevelReport(Record):
    """A level that a search tried, in the order in which it did."""

    trial: str
    level: float
    kind: Literal["ascent", "soak", "confirm"]
    of: float | None = Field(default=None, description="Confirmation: the level that was found.")
    raised: bool = Field(description="Approached by raising the load of a running trial.")
    counts: bool = Field(
        description="False: the machine moved and the trial was made again, or it told nothing of "
        "the system."
    )
    holds: bool
    reason: str = Field(default="", description="What failed first; empty where it holds.")
    at_s: float | None = Field(default=None, description="When, seconds since the level began.")
    from_s: float = Field(description="Begin of its load on the trial's charts, seconds.")
    duration_s: float
    offered_per_s: float | None
    achieved_per_s: float
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    max_ms: float | None
    reasons: list[LevelReason]
    worst: list[WorstFigure]


class SearchReport(Record):
    """What a search found. `level` is None where no level holds."""

    over: Literal["rate", "users"]
    unit: str = Field(description="Of the levels: `users`, `operations/s`.")
    status: Literal[
        "found", "no limit found", "cut short", "no level holds", "not sustained", "unfinished"
    ] = Field(
        description="`cut short`: it ended at a level that told nothing of the system; `level` is "
        "sustained at least."
    )
    level: float | None = Field(description="The highest that is sustained.")
    low: float | None = Field(description="The highest that held in all its trials.")
    high: float | None = Field(description="The lowest above it that failed.")
    text: str = Field(description="The result in a sentence.")
    first_failure: LevelReport | None = Field(
        description="What failed first at the lowest level that failed, or cut the search short."
    )
    remarks: list[str] = Field(description="What else is to be known: levels that contradict.")
    objective: list[str]
    window_s: float
    method: Literal["steps", "bisection"]
    approach: Literal["fresh", "raise"]
    levels: list[LevelReport]


class ScalePoint(Record):
    """The metric at one N."""

    n: float
    variant: str
    median: float
    low: float | None
    high: float | None
    values: list[float]
    trials: list[str]
    fitted: float | None = Field(default=None, description="By the law, at this N.")
    residual_percent: float | None = Field(
        default=None, description="Median against the fitted value."
    )


class CurvePoint(Record):
    """The fitted law at one N, with its band."""

    n: float
    value: float
    low: float
    high: float


class ScaleFit(Record):
    """X(N) = rate N / (1 + contention (N - 1) + coherence N (N - 1)), fitted to the points."""

    rate: float = Field(description="Of one, by the law.")
    contention: float = Field(description="Share of the work that waits for its turn (sigma).")
    coherence: float = Field(description="Cost of agreeing, for each pair (kappa).")
    rate_interval: tuple[float, float]
    contention_interval: tuple[float, float]
    coherence_interval: tuple[float, float]
    peak_n: float | None = Field(description="None: not within the measured range.")
    peak_interval: tuple[float, float] | None
    peak_value: float | None
    peak_value_interval: tuple[float, float] | None
    worst_residual_percent: float
    curve: list[CurvePoint] = Field(description="Within the measured range only.")


class ScaleReport(Record):
    """How a metric grows with N."""

    over: str = Field(description="The factor: `profile.users`, `host.server.cpus`.")
    label: str = Field(description="What N counts: `users`, `processors`.")
    metric: str
    unit: str
    text: str = Field(description="The result in a sentence.")
    points: list[ScalePoint]
    fit: ScaleFit | None
    problem: str = Field(default="", description="Why there is no fit.")


class RankedTest(Record):
    """How a test's order of the placements agrees with that of the database."""

    metric: str
    tau: float | None = Field(
        description="Kendall's tau-b over the medians of the placements; 1: the same order. None: "
        "they are all equal."
    )
    p_value: float | None = Field(description="Exact and two-sided.")
    p_adjusted: float | None = Field(description="By Holm, over all tests.")
    low: float | None = Field(description="Of tau, over blocks drawn anew; None: too few blocks.")
    high: float | None
    by_block: list[float] = Field(description="Tau of each block by itself.")
    behind: bool = Field(description="The leader is shown to agree better.")


class RankedDatabase(Record):
    """What predicts the rank of one system: of all configurations that differ in placement only."""

    name: str = Field(description="Its levels of the other factors; empty if there are none.")
    variants: dict[str, str] = Field(description="Placement: the variant on it.")
    placements: list[str] = Field(description="Those with figures of all, which are ranked.")
    tests: list[RankedTest] = Field(description="Those that agree best come first.")
    leader: str | None = Field(description="Metric of the test that agrees best.")
    shown: bool = Field(description="Its agreement is no chance.")
    apart: bool = Field(description="It is shown to agree better than each other test.")
    text: str = Field(description="The result in a sentence or two.")


class PlacementReport(Record):
    """What a placement does by itself."""

    placement: str
    figures: list[Figure] = Field(description="Of each test.")
    trials: list[str] = Field(description="All that measured it, whatever their status.")
    missing: str = Field(default="", description="Why it takes no part in the ranks of a system.")


class BaselineReport(Record):
    """Baselines of the placements, and how well they predict the rank of the system on them."""

    about: str = Field(description="What each was measured with.")
    metric: str = Field(description="Of the system, that it is ranked by.")
    tests: list[MetricInfo] = Field(description="In the order of the profile.")
    placements: list[PlacementReport]
    databases: list[RankedDatabase]
    fewest_placements: int = Field(
        description="With as many a test that agrees perfectly can be shown to predict."
    )


class ReportDocument(Record):
    """All of one experiment."""

    version: Literal[1] = 1
    loadstone: str
    created_at: str
    name: str
    title: str
    design: Literal["run", "compare", "ladder", "sweep", "crash", "search", "scale"]
    status: Literal["complete", "partial"]
    workload: dict[str, Any]
    target: dict[str, Any]
    profile: dict[str, Any]
    load: str = Field(description="How load arrives, in a few words.")
    price: str = Field(default="", description="What the system costs, with the items of its list.")
    command: str = Field(description="The command that repeats the experiment.")
    seed: int
    confidence: float
    headline: str = Field(description="One or two sentences: what was found.")
    metric: str = Field(description="Name of the metric of the headline.")
    judged: list[str] = Field(
        default=[], description="Metrics that verdicts are about, that of the headline first."
    )
    metrics: list[MetricInfo]
    variants: list[VariantReport]
    skipped: list[SkippedRung] = Field(
        default=[], description="Rungs of the ladder that this machine could not climb."
    )
    comparisons: list[ComparisonReport]
    trials: list[TrialReport]
    notices: list[Notice]
    unsafe: bool
    inventory: dict[str, Any]
    reference: ReferenceReport | None = None
    published: list[PublishedReport] = []
    beside: list[BesideReport] = Field(
        default=[], description="What `loadstone import` keeps of other programs."
    )
    steps: StepsReport | None = None
    search: SearchReport | None = None
    scale: ScaleReport | None = None
    baseline: BaselineReport | None = Field(
        default=None, description="None: the placements were not measured themselves."
    )
