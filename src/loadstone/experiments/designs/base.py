"""What a design is: it names the configurations, the pairs to compare and the order of trials."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from loadstone.experiments.designs.arrange import arrange
from loadstone.results.record import LevelBound, SkippedRung, Status, TrialResult
from loadstone.spec.base import Level
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Change, TrialPlan, Variant
from loadstone.spec.problems import Path, Problem
from loadstone.workloads.judging import judged_metrics

BASELINE = "baseline"
"""Name of the first variant where a design has no better one."""


@dataclass(frozen=True)
class Upwards:
    """Levels above those that an experiment names: they are tried if those below them hold."""

    first: float
    top: float
    """No level above it is tried."""
    assumed: float
    """Plans take the limit to lie below it."""
    unit: str
    whole: bool
    """Levels are whole numbers."""
    field: Path | None
    """Of the experiment, that says `top`; None where nobody does."""
    at: Callable[[float], Sequence[Change]]
    """What makes a level."""


@dataclass(frozen=True)
class Pair:
    """Two variants whose trials are compared."""

    candidate: str
    baseline: str
    role: Literal["previous", "baseline"]
    decided_among: int | None = None
    """Of comparisons that are decided one by one, or at looks: how many there are."""
    first_block: int = 1
    """Where the stage begins in which they are interleaved."""
    metric: str | None = None
    """The only one by which they are compared; None: every one that no pair names."""


class Stages(ABC):
    """Hands out the trials of an experiment, some at a time, given what came out so far."""

    @property
    @abstractmethod
    def variants(self) -> list[Variant]:
        """The configurations known so far; more may come with a later stage."""

    @property
    @abstractmethod
    def pairs(self) -> list[Pair]:
        """The comparisons among those configurations."""

    @property
    def kept(self) -> dict[str, bool] | None:
        """Rung: whether it was kept; None where nothing is decided on the way."""
        return None

    @property
    def skipped(self) -> list[SkippedRung]:
        """Rungs that this machine cannot climb, with the reasons."""
        return []

    @abstractmethod
    def next(self, results: Sequence[TrialResult]) -> list[TrialPlan]:
        """The next trials, in order; none when the experiment is done.

        Args:
            results: Of all trials so far.
        """

    @property
    def bound(self) -> LevelBound | None:
        """The highest level that is tried, where this machine can make no higher one."""
        return None

    def kept_to(self, bound: LevelBound) -> Stages:
        """Itself, and no level above the bound is tried; without effect where all are known."""
        return self

    def makes_again(self, result: TrialResult) -> bool:
        """Whether a trial is to be made again, because the machine disturbed it."""
        return result.status is Status.DISTURBED


class Around(Stages):
    """The stages of another design, with more trials before, between or after its own."""

    def __init__(self, measured: Stages) -> None:
        self._measured = measured

    @property
    def variants(self) -> list[Variant]:
        """Those of the design."""
        return self._measured.variants

    @property
    def pairs(self) -> list[Pair]:
        """Those of the design."""
        return self._measured.pairs

    @property
    def kept(self) -> dict[str, bool] | None:
        """As the design decides."""
        return self._measured.kept

    @property
    def skipped(self) -> list[SkippedRung]:
        """As the design says."""
        return self._measured.skipped

    @property
    def bound(self) -> LevelBound | None:
        """That of the design."""
        return self._measured.bound

    def kept_to(self, bound: LevelBound) -> Stages:
        """Itself; the design does what there is to do."""
        self._measured = self._measured.kept_to(bound)
        return self

    def makes_again(self, result: TrialResult) -> bool:
        """As the design decides."""
        return self._measured.makes_again(result)


class KnownStages(Stages):
    """Stages whose variants and pairs are known before the first trial."""

    def __init__(
        self,
        variants: list[Variant],
        pairs: list[Pair],
        skipped: Sequence[SkippedRung] = (),
    ) -> None:
        self._variants = variants
        self._pairs = pairs
        self._skipped = list(skipped)

    @property
    def variants(self) -> list[Variant]:
        """All of them."""
        return self._variants

    @property
    def pairs(self) -> list[Pair]:
        """All of them."""
        return self._pairs

    @property
    def skipped(self) -> list[SkippedRung]:
        """All of them."""
        return self._skipped


class AllAtOnce(KnownStages):
    """One stage: every variant in every block."""

    def __init__(
        self,
        variants: list[Variant],
        pairs: list[Pair],
        plans: list[TrialPlan],
        skipped: Sequence[SkippedRung] = (),
    ) -> None:
        super().__init__(variants, pairs, skipped)
        self._plans = plans

    def next(self, results: Sequence[TrialResult]) -> list[TrialPlan]:
        """Everything at the first call, nothing afterwards."""
        plans, self._plans = self._plans, []
        return plans


class Design(ABC):
    """Base of all designs; a subclass is registered in `designs.registry`."""

    kind: ClassVar[str]
    about: ClassVar[str]
    """One line for `loadstone list designs`."""

    @abstractmethod
    def variants(self, experiment: Experiment) -> list[Variant]:
        """Every configuration the file names, the baseline first."""

    @abstractmethod
    def pairs(self, experiment: Experiment) -> list[Pair]:
        """The comparisons to make between them."""

    def problems(self, experiment: Experiment) -> list[Problem]:
        """What is wrong with the design beyond the types of its fields."""
        return []

    def idle(self, experiment: Experiment) -> dict[Path, str]:
        """Fields that have no effect in this design as it is, with the reason."""
        return {}

    def upwards(self, experiment: Experiment) -> Upwards | None:
        """Levels above those of `variants` that may be tried; None where those are all."""
        return None

    def stages(self, experiment: Experiment, *, allow_unsafe: bool = False) -> Stages:
        """The trials, to be handed out one stage after the other."""
        variants = self.variants(experiment)
        plans = arrange(
            experiment,
            variants,
            first_block=self.first_block(experiment),
            allow_unsafe=allow_unsafe,
        )
        return AllAtOnce(variants, self.pairs(experiment), plans, self.skipped(experiment))

    def families(self, experiment: Experiment) -> dict[str, int]:
        """How many comparisons are judged together: the pairs of a role, each by its metrics."""
        pairs = self.pairs(experiment)
        named = {pair.metric for pair in pairs}
        others = sum(name not in named for name in judged_metrics(experiment))
        found: dict[str, int] = {}
        for pair in pairs:
            own = others if pair.metric is None else 1
            found[pair.role] = found.get(pair.role, 0) + own
        return found

    def levels_per_block(self, experiment: Experiment) -> int:
        """Variants that are made, and compared, within a block."""
        return len(self.variants(experiment))

    def skipped(self, experiment: Experiment) -> list[SkippedRung]:
        """What the file names and this machine cannot do, where a design can go on without."""
        return []

    def first_block(self, experiment: Experiment) -> int:
        """Number of the first block."""
        return 1

    def trials_planned(self, experiment: Experiment) -> int:
        """Trials at most, without repeats of disturbed ones."""
        return len(self.variants(experiment)) * experiment.repeats

    def load_s(self, experiment: Experiment) -> float | None:
        """Seconds of load in all of them, about; None where all trials are as long as the first."""
        return None


def level_name(changes: Sequence[Change]) -> str:
    """Names a variant by its levels: `shared_buffers=1GB, users=8`."""
    return ", ".join(
        f"{change.factor.partition('.')[2]}={_text(change.level)}" for change in changes
    )


def distinct(names: Sequence[str]) -> list[str]:
    """The names with a number after those that came before: an A/A comparison has two alike."""
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def against_first(variants: Sequence[Variant]) -> list[Pair]:
    """Each variant against the first."""
    first = variants[0].name
    return [Pair(variant.name, first, "baseline") for variant in variants[1:]]


def _text(level: Level) -> str:
    return str(level).lower() if isinstance(level, bool) else str(level)
