"""The checks of jobs: they ended well, once each, at once, where they were asked to be."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from loadstone.applications.base import AnyApplication, FinishedJob
from loadstone.applications.registry import APPLICATIONS
from loadstone.counting import how_many
from loadstone.job.main import AGAIN_FILE
from loadstone.job.record import OUTPUT_FOLDER, JobRecord
from loadstone.results.jobs import JobEntry, JobsRecord
from loadstone.results.record import CheckResult
from loadstone.schedulers.base import Accounted
from loadstone.workloads.checked import CheckSpec
from loadstone.workloads.jobs.inputs import Inputs
from loadstone.workloads.jobs.kept import JobsLoad
from loadstone.workloads.jobs.places import places_of, wrong_places
from loadstone.workloads.jobs.told import NO_REASON, is_spare, well

SUBMISSIONS_FILE = "submissions.jsonl"
"""On the desk: a line for each submission, written before it."""
_MOST_SAID = 4
_WHOLE_SECONDS_S = 2.0
"""Begin and end are each rounded to a second by the accounting."""

ENDED = CheckSpec(
    "every job ended well",
    "every job that was asked for ended, as the scheduler and the job itself say, and its "
    "application's exit code was 0; replacements that nobody needed any more, and jobs of an open "
    "arrival that were under way at its end, are left out",
)
ONCE = CheckSpec(
    "every job ran once",
    "each name was submitted once and began once, its end is known, as many jobs as were asked for "
    "are among them, and the scheduler's accounting, where there is one, has no others",
)
AT_ONCE = CheckSpec(
    "jobs ran at once",
    "there was a moment at which all applications that were asked for ran, by their own stamps; "
    "an open arrival asks for none",
)
PLACED = CheckSpec(
    "placement is proved",
    "each rank tells its node, its allowed processors and its MPI world: every job has its ranks "
    "on as many nodes as asked and in one world, no node has more ranks than slots, and no bound "
    "processor has more than one rank",
)
TIMES = CheckSpec(
    "the scheduler's times agree",
    "where the scheduler keeps accounts: it gives no job less time than its application ran by its "
    "node's own clock, within 2 s, as it counts whole seconds",
)
OF_APPLICATIONS = tuple(
    CheckSpec(name, claim)
    for application in APPLICATIONS.values()
    for name, claim in application.claims.items()
)
CHECKS = (ENDED, ONCE, AT_ONCE, PLACED, TIMES, *OF_APPLICATIONS)


def check_ended(record: JobsRecord, load: JobsLoad) -> CheckResult:
    """Every job but the replacements that were cancelled at the end."""
    asked = [job for job in record.jobs if not is_spare(job, load)]
    bad = _by_reason([job for job in asked if not well(job)])
    if not asked:
        bad = ["no job was told of"]
    return ENDED.of(
        passed=not bad, detail=_said(bad) or f"{how_many(len(asked), 'job')} ended well"
    )


def check_once(record: JobsRecord, load: JobsLoad, known: Collection[str]) -> CheckResult:
    """What was submitted, what the runner told of, what began again, and what the accounting has.

    Args:
        record: Of the trial.
        load: What was asked for.
        known: Names in the scheduler's accounting; none where there is no accounting.
    """
    desk = Path(load.desk)
    submitted = Counter(_submitted(desk))
    told = Counter(job.name for job in record.jobs)
    wrong = [
        f"{name} was submitted {times} times" for name, times in submitted.items() if times > 1
    ]
    wrong += [f"{name} was told of {times} times" for name, times in told.items() if times > 1]
    wrong += [
        f"{path.parent.name} was started a second time"
        for path in sorted(desk.glob(f"{load.prefix}*/{AGAIN_FILE}"))
    ]
    wrong += [f"what became of {name} is not known" for name in submitted if name not in told]
    wrong += [f"{name} was never submitted" for name in told if name not in submitted]
    wrong += [f"{name} is in the accounting only" for name in known if name not in submitted]
    for each in load.jobs if load.asked else ():
        own = sum(job.application == each.application for job in record.jobs)
        if own < each.count or (own > each.count and not load.replaced):
            asked = how_many(each.count, "job")
            wrong.append(f"{asked} of {each.application} asked, {own} told of")
    accounted = f"; the accounting has {how_many(len(known), 'job')}" if known else ""
    detail = f"{how_many(submitted.total(), 'name')} submitted, each once{accounted}"
    return ONCE.of(passed=not wrong, detail=_said(wrong) or detail)


def check_at_once(record: JobsRecord) -> CheckResult:
    """Whether the load was reached."""
    detail = record.unreached
    if record.asked == 0:
        detail = f"an open arrival: {record.at_once} ran at a time at most"
    elif record.reached:
        detail = f"{record.at_once} of {record.asked} ran together for {record.overlap_s:.3g} s"
    return AT_ONCE.of(passed=record.reached, detail=detail)


def check_placed(
    record: JobsRecord, load: JobsLoad, records: Mapping[str, JobRecord]
) -> CheckResult:
    """Nodes, processors and worlds, as the ranks told them."""
    places = places_of(record.jobs, records)
    wrong = wrong_places(places, load)
    if not places:
        wrong = ["no job told where it ran"]
    layouts = ", ".join(
        f"{each.application} {each.nodes}x{each.per_node} {each.placement}" for each in load.jobs
    )
    return PLACED.of(
        passed=not wrong,
        detail=_said(wrong) or f"{how_many(len(places), 'job')} as asked: {layouts}",
    )


def check_times(record: JobsRecord, accounted: Mapping[str, Accounted]) -> Iterator[CheckResult]:
    """The jobs' own times beside the scheduler's; nothing where it has none of them.

    Only lengths are compared: the clocks of nodes and scheduler need not agree.

    Args:
        record: Of the trial.
        accounted: What the scheduler's accounting has, by name.
    """
    wrong, compared = [], 0
    for job in record.jobs:
        own = accounted.get(job.name)
        if job.run_s is None or own is None or own.began_s is None or own.ended_s is None:
            continue
        compared += 1
        taken_s = own.ended_s - own.began_s
        if taken_s < job.run_s - _WHOLE_SECONDS_S:
            wrong.append(f"{job.name} ran {job.run_s:.4g} s, and the scheduler has {taken_s:.4g} s")
    if compared:
        detail = f"{how_many(compared, 'job')} took no less by the scheduler's accounting"
        yield TIMES.of(passed=not wrong, detail=_said(wrong) or detail)


def check_results(
    application: AnyApplication,
    inputs: Inputs,
    record: JobsRecord,
    load: JobsLoad,
    records: Mapping[str, JobRecord],
) -> Iterator[CheckResult]:
    """Each check of an application, over all its jobs that ended.

    Args:
        application: Which reads its own results.
        inputs: Of it: what was given, and what results are compared with.
        record: Of the trial.
        load: What was asked for.
        records: What the jobs told of themselves, by name.
    """
    found: dict[str, list[tuple[str, CheckResult]]] = {name: [] for name in application.claims}
    for job in record.jobs:
        if job.application != application.name or job.name not in records or is_spare(job, load):
            continue
        finished = FinishedJob(
            output=Path(load.desk) / job.name / OUTPUT_FOLDER,
            record=records[job.name],
            ranks=job.ranks,
            given=inputs.given,
            reference=inputs.reference,
        )
        for result in application.check(finished):
            found[result.name].append((job.name, result))
    for spec in OF_APPLICATIONS:
        if spec.name in found:
            yield _together(spec, found[spec.name])


def _together(spec: CheckSpec, found: Sequence[tuple[str, CheckResult]]) -> CheckResult:
    wrong = [f"{name}: {result.detail}" for name, result in found if not result.passed]
    if not found:
        wrong = ["no job has a result"]
    first = found[0][1].detail if found else ""
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return spec.of(passed=not wrong, detail=_said(wrong) or f"{first}{more}")


def _submitted(desk: Path) -> Iterator[str]:
    """Names, in the order in which they were submitted."""
    try:
        lines = (desk / SUBMISSIONS_FILE).read_text().splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        yield str(json.loads(line)["name"])


def _by_reason(bad: Sequence[JobEntry]) -> list[str]:
    """Jobs that ended alike are told together: a scheduler refuses all with the same words."""
    alike: dict[str, list[str]] = {}
    for job in bad:
        alike.setdefault(f"{job.state}{_why(job)}".replace(job.name, "it"), []).append(job.name)
    return [f"{_names(names)} {how}" for how, names in alike.items()]


def _names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _why(job: JobEntry) -> str:
    return "" if job.reason in NO_REASON else f" ({job.reason})"


def _said(wrong: Sequence[str]) -> str:
    more = len(wrong) - _MOST_SAID
    return "; ".join([*wrong[:_MOST_SAID], *([f"and {more} more"] if more > 0 else [])])
