"""The workload `jobs`: how throughput holds when several jobs share a cluster and its storage."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar

from loadstone.applications.base import AnyApplication
from loadstone.applications.registry import APPLICATIONS
from loadstone.applications.world import require_launcher
from loadstone.errors import LoadstoneError
from loadstone.protocol.frames import Event
from loadstone.protocol.programs import RUNNER, Program
from loadstone.results.jobs import JobsRecord
from loadstone.results.record import CheckResult, Fingerprint, MetricValue, Notice
from loadstone.results.trial_files import read_plan
from loadstone.schedulers.base import Accounted
from loadstone.spec.design import LoadedBy
from loadstone.spec.plans import Change
from loadstone.spec.problems import Path as Way
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import TargetSpec
from loadstone.targets.capabilities import JOBS
from loadstone.targets.cluster import Cluster
from loadstone.targets.connection import Connection
from loadstone.targets.registry import target_for
from loadstone.workloads.base import LoadContext, RunDriver, StepInfo, Workload
from loadstone.workloads.charts import Charts
from loadstone.workloads.jobs.checks import (
    CHECKS,
    check_at_once,
    check_ended,
    check_once,
    check_placed,
    check_results,
    check_times,
)
from loadstone.workloads.jobs.inputs import Inputs, provide, put_away, sums_of_users_files
from loadstone.workloads.jobs.kept import write_load
from loadstone.workloads.jobs.metrics import (
    HEADLINE,
    LINK,
    METRICS,
    metric_values,
    step_infos,
    throughput_of,
)
from loadstone.workloads.jobs.notices import notices_of
from loadstone.workloads.jobs.parameters import SHORTCUTS, JobsParameters
from loadstone.workloads.jobs.planning import layouts_of, load_of, told
from loadstone.workloads.jobs.told import TrialJobs, recalled
from loadstone.workloads.measured import Measured
from loadstone.workloads.search import LoadSearch, SearchIncrements
from loadstone.workloads.stepped import LONGEST_S


class JobsSearch(LoadSearch):
    """Jobs at once are raised, or the rate at which they arrive."""

    rate_unit: ClassVar[str] = "jobs/s"
    unit_of_users: ClassVar[str] = "jobs"
    curve_metric: ClassVar[str | None] = "jobs_per_h"
    sessions_option: ClassVar[str] = "--param jobs"
    objective: ClassVar[tuple[str, ...]] = ("errors = 0",)

    def at_users(self, profile: ProfileSpec, users: int) -> list[Change]:
        """So many jobs at once."""
        return [Change(factor="workload.jobs", level=users)]

    def increments(self, over: LoadedBy) -> SearchIncrements:
        """One job; or one in 20 s."""
        return SearchIncrements(first=1.0 if over == "users" else 0.05)


class Jobs(Workload[Cluster]):
    """N jobs of one or several applications on a cluster, at once or as they arrive."""

    name = "jobs"
    origin = "ECLIPSE 300 MM8 with PSTM on Sun Fire X2270 and Sun Storage 7410, 2010"
    usual_engine = "local"
    requires: ClassVar[frozenset[str]] = frozenset({JOBS})
    Parameters = JobsParameters
    metrics = METRICS
    headline = HEADLINE
    checks = CHECKS
    decides: ClassVar[frozenset[str]] = frozenset(
        {
            *("users", "sessions", "think_time", "warm_up", "ramp", "gather", "drain"),
            *("phases", "delay", "threads", "processes"),
        }
    )
    first_factor = ("workload.jobs", "1, 2")
    first_profile: ClassVar[Mapping[str, str]] = {
        "load": "  load: closed                  # jobs at once; or open: they arrive",
        "rate_per_s": "  # rate_per_s: 0.05            # with load: open: jobs due each second",
        "measure": "  # measure: 30min              # with load: open: how long they arrive",
    }
    Search = JobsSearch
    judges_generator = True
    has_steady_state = False
    parameters: JobsParameters

    @classmethod
    def paths(cls, parameters: Mapping[str, Any]) -> Sequence[Way]:
        """Files that applications name among their own parameters, and in short."""
        return list(_ways(parameters))

    # -- what it needs -------------------------------------------------------------------------
    @property
    def applications(self) -> list[AnyApplication]:
        """Those of the load, with their parameters."""
        return [self.parameters.made(name) for name in self.parameters.counts]

    def tools(self, connection: Connection | None) -> Mapping[str, Callable[[], str]]:
        """Programs and libraries of the applications."""
        return {name: ask for each in self.applications for name, ask in each.tools().items()}

    def examine_place(self, target: TargetSpec, profile: ProfileSpec) -> None:
        """Whether each application takes its files and so many ranks, and its jobs fit on nodes."""
        for application in self.applications:
            application.examine()
            application.fits(self.parameters.ranks_of(application.name))
        cluster: type[Cluster] = target_for(target)  # type: ignore[assignment]
        if cluster.needs_mpirun(target):
            for application in self.applications:
                if application.launch == "mpi":
                    require_launcher(application.name, self.parameters.ranks_of(application.name))
        nodes = cluster.present_nodes(target)
        if nodes is not None:
            layouts_of(self.parameters, nodes, at_once=profile.load == "closed")

    # -- data ----------------------------------------------------------------------------------
    def data_key(self) -> dict[str, Any]:
        """What decides the input of each application."""
        return {each.name: each.data_key() for each in self.applications}

    def build(self, target: Cluster, run_driver: RunDriver, seed: int) -> dict[str, float]:
        """Makes the input files and references of all applications, unless they are kept.

        Returns:
            `load_time_s`, 0 where they were kept; `size_bytes` of the input.
        """
        began = monotonic()
        inputs = self._inputs(seed)
        return {
            "load_time_s": monotonic() - began,
            "size_bytes": float(sum(each.size_bytes for each in inputs.values())),
        }

    def _inputs(self, seed: int) -> dict[str, Inputs]:
        return {each.name: provide(each, seed) for each in self.applications}

    def fingerprint(self, target: Cluster) -> Fingerprint:
        """The input, by the key of what makes it, and the versions of what the applications run."""
        versions = {name: ask() for name, ask in self.tools(None).items()}
        sums = dict(sum_of for each in self.applications for sum_of in sums_of_users_files(each))
        what = {"input": target.data_key, "versions": versions, "sums": sums}
        same = json.dumps(what, sort_keys=True)
        return Fingerprint(digest=hashlib.sha256(same.encode()).hexdigest(), sums=sums)

    # -- load ----------------------------------------------------------------------------------
    def arrival(self, profile: ProfileSpec) -> str:
        """So many jobs, at once or as they arrive."""
        own = self.parameters
        if profile.load == "open":
            return super().arrival(profile)
        what = ", ".join(f"{count} {name}" for name, count in own.counts.items())
        replaced = ", each replaced until all have ended" if own.replace else ""
        return f"{what} at once, to their end{replaced}"

    def loaded(self, profile: ProfileSpec) -> ProfileSpec:
        """A user for each job; a closed load ends when all jobs have."""
        own = self.parameters
        jobs = own.at_once if profile.load == "closed" else own.under_way
        found: dict[str, Any] = {"users": jobs, "sessions": jobs, "warm_up": 0.0}
        if profile.load == "closed":
            found["measure"] = LONGEST_S
        return profile.model_copy(update=found)

    def idle(self, profile: ProfileSpec) -> Mapping[str, str]:
        """A closed load is as long as its jobs."""
        return {"measure": "jobs run to their end"} if profile.load == "closed" else {}

    def idle_parameters(self) -> Mapping[str, str]:
        """A mix takes the place of application and jobs."""
        if not self.parameters.mix:
            return {}
        return dict.fromkeys(("application", "jobs"), "the mix says which jobs there are (mix)")

    def plan(self, context: LoadContext[Cluster]) -> dict[str, Any]:
        """The jobs. From now on the journal knows how their names begin."""
        folder, target = context.folder, context.target
        at_once = read_plan(folder).profile.load == "closed"
        load = load_of(self.parameters, target, folder, at_once=at_once)
        Path(load.desk).mkdir(parents=True, exist_ok=True)
        inputs = self._inputs(context.data_seed)
        parameters = told(self.parameters, load, inputs, target, context.seed)
        write_load(folder, load)
        target.announce(load.prefix)
        return {"name": self.name, "role": "run", "parameters": parameters}

    def program(self, connection: Connection) -> Program:
        """The runner submits and looks: jobs are few and long."""
        return RUNNER

    def operations(self) -> Sequence[str]:
        """The applications."""
        return tuple(self.parameters.counts)

    # -- figures -------------------------------------------------------------------------------
    def observe(self, target: Cluster) -> dict[str, float]:
        """Bytes that crossed the links of the nodes so far, where they are counted."""
        return {f"{LINK} {name}": count for name, count in target.link_bytes().items()}

    def recall(self, folder: Path, events: Sequence[Event]) -> TrialJobs | None:
        """What was asked for, and what each job told."""
        return recalled(folder, events)

    def measure(self, measured: Measured) -> list[MetricValue]:
        """The figures of `METRICS`."""
        jobs = _jobs_of(measured)
        return [] if jobs is None else metric_values(measured, jobs.record, jobs.load)

    def jobs(self, measured: Measured) -> JobsRecord | None:
        """Each job, how many ran at once, and where."""
        jobs = _jobs_of(measured)
        return None if jobs is None else jobs.record

    def notices(self, measured: Measured) -> list[Notice]:
        """What the times are worth, and what counts of unequal applications."""
        jobs = _jobs_of(measured)
        return [] if jobs is None else list(notices_of(jobs.record, jobs.load))

    def check(
        self, target: Cluster, before: Mapping[str, float], measured: Measured
    ) -> list[CheckResult]:
        """Jobs ended well, once each, at once, where they were asked to be; and their results."""
        jobs = _jobs_of(measured)
        if jobs is None or measured.folder is None:
            return []
        load, records, record = jobs.load, jobs.records, jobs.record
        target.forget(load.prefix)
        put_away(Path(load.desk))
        accounted = _accounted(target, load.prefix)
        found = [
            check_ended(record, load),
            check_once(record, load, accounted.keys()),
            check_at_once(record),
            check_placed(record, load, records),
            *check_times(record, accounted),
        ]
        inputs = self._inputs(read_plan(measured.folder).data_seed)
        for application in self.applications:
            found += check_results(application, inputs[application.name], record, load, records)
        return found

    def metric_called(self, word: str) -> str:
        """Of an application, its throughput per job."""
        return throughput_of(word) if word in APPLICATIONS else word

    def steps(self) -> Sequence[StepInfo]:
        """A job of each application."""
        return step_infos(tuple(self.parameters.counts))

    def charts(self) -> Charts:
        """The applications are judged; jobs that the scheduler keeps waiting are the backlog."""
        return Charts(
            judged=tuple(self.parameters.counts),
            queue="jobs_waiting",
            live={"jobs_running": "running", "jobs_waiting": "waiting"},
        )


def _jobs_of(measured: Measured) -> TrialJobs | None:
    """None of a trial that did not come so far."""
    return measured.kept if isinstance(measured.kept, TrialJobs) else None


def _accounted(target: Cluster, prefix: str) -> Mapping[str, Accounted]:
    """What the scheduler's accounting has of the jobs; nothing where it does not answer."""
    try:
        return target.scheduler().accounting(prefix)
    except LoadstoneError:
        return {}


def _ways(parameters: Mapping[str, Any]) -> Iterator[Way]:
    """To paths among parameters that nobody has judged yet."""
    known = {name for application in APPLICATIONS.values() for name in application.path_parameters}
    for name in SHORTCUTS:
        if name in known and isinstance(parameters.get(name), str):
            yield (name,)
    given = parameters.get("applications")
    for name, own in given.items() if isinstance(given, Mapping) else ():
        first, _, inner = str(name).partition(".")
        if first not in APPLICATIONS:
            continue
        paths = APPLICATIONS[first].path_parameters
        if inner in paths and isinstance(own, str):
            yield ("applications", name)
        for field in paths if isinstance(own, Mapping) else ():
            if isinstance(own.get(field), str):
                yield ("applications", name, field)
