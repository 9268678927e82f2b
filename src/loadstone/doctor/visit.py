"""One visit of the doctor: facts are collected, then every rule looks at them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from loadstone.doctor.collect import planned
from loadstone.doctor.collect.engines import EXAMINED
from loadstone.doctor.collect.host import host_facts
from loadstone.doctor.collect.superset import planned_superset, superset_at
from loadstone.doctor.facts import Facts, LogFacts
from loadstone.doctor.facts_superset import SupersetFacts
from loadstone.doctor.measure import Base, base_of, finding_of, fitted, superset_base
from loadstone.doctor.model import Advice, Finding, Rule, Severity
from loadstone.doctor.rules import RULES
from loadstone.doctor.server_facts import ServerFacts
from loadstone.errors import WrongInputError
from loadstone.experiments.preflight.check import changes_of
from loadstone.host.locality import at_address
from loadstone.spec.model import EXPERIMENT_VERSION, Experiment
from loadstone.spec.target import TargetSpec
from loadstone.targets.part_names import factor_within
from loadstone.targets.registry import engine_of_scheme
from loadstone.targets.walk import Known, system

DEFAULT_FOLDER = Path("/var/tmp")  # noqa: S108
_PEOPLE = {
    "version": EXPERIMENT_VERSION,
    "name": "superset",
    "workload": {"name": "bi"},
    "target": {"engine": "superset"},
}
"""People at the dashboards of a Superset of which nothing is said."""
_PLANNED: Mapping[str, Callable[[Experiment], SupersetFacts]] = {"superset": planned_superset}
"""Engine of a system with rules of its own: how it is planned."""
SERVERS = ("postgresql", "mariadb")


@dataclass(frozen=True)
class Visit:
    """What was looked at, and what was found: the worst first."""

    facts: Facts
    findings: tuple[Finding, ...]
    looked: int
    """Rules that apply to what was looked at."""
    notes: tuple[str, ...] = ()
    """What could not be seen, and why."""

    def worse_than(self, least: Severity) -> list[Finding]:
        """Findings of at least this severity."""
        return [each for each in self.findings if each.rule.severity.rank <= least.rank]


def judge(facts: Facts, varied: Iterable[str] = ()) -> list[tuple[Rule, Advice]]:
    """Asks every rule. Pure.

    Args:
        facts: What was seen.
        varied: Factors that an experiment varies itself: it measures them already.
    """
    left_out = set(varied)
    found = []
    for rule in RULES.values():
        advice = rule.look(facts)
        if advice is None:
            continue
        if not isinstance(advice.measure, str) and advice.measure.factor in left_out:
            continue
        found.append((rule, advice))
    return sorted(found, key=lambda pair: pair[0].severity.rank)


def visit_host(folder: Path | None = None) -> Visit:
    """Looks at this machine only.

    Args:
        folder: Where data lies or will lie.
    """
    return _visit(Facts(host_facts(folder or DEFAULT_FOLDER)), "embedded")


def visit_server(spec: TargetSpec, log: Path | None = None, folder: Path | None = None) -> Visit:
    """Looks at a running server, or a SQLite file, and at this machine.

    Args:
        spec: Engine, address and where the password lies.
        log: The server's log, if it is not to be looked for.
        folder: Where its data lies, if the server does not say.

    Raises:
        WrongInputError: If there is no such engine, or the address is wrong.
        TargetError: If the server cannot be reached.
    """
    server = _look_at(spec, log)
    seen_folder = folder or server.folder()
    host = host_facts(seen_folder or DEFAULT_FOLDER, pid=_pid_of(server))
    facts = Facts(host, server)
    return _visit(facts, EXAMINED[spec.engine].programs(server), notes=_notes(facts, seen_folder))


def visit_experiment(experiment: Experiment) -> Visit:
    """Looks at the target of an experiment as its settings will have it, and at this machine.

    Raises:
        WrongInputError: If its server or a setting cannot be.
        TargetError: If a server at an address cannot be reached.
    """
    part = _part_with_rules(experiment.target)
    superset = None
    if not at_address(experiment.target) and experiment.target.engine in _PLANNED:
        superset = _PLANNED[experiment.target.engine](experiment)
    target = part.spec
    server: ServerFacts | None
    if at_address(target):
        server = EXAMINED[target.engine].under(_look_at(target, None), target.settings)
    else:
        server = planned.planned_facts(experiment.model_copy(update={"target": target}))
    folder = Path(target.data) if target.data else DEFAULT_FOLDER
    host = host_facts(folder, pid=_pid_of(server) if at_address(target) else "self")
    overlay = {name: str(level) for name, level in experiment.host.items()}
    facts = Facts(replace(host, sysctl={**host.sysctl, **overlay}), server, superset)
    factors = [change.factor for _, change in changes_of(experiment)]
    varied = [factor_within(part.name, factor) or factor for factor in factors]
    programs = "embedded" if at_address(target) else target.server
    notes = _notes_of_parts(experiment.target, part) if superset is None else ()
    return _visit(facts, programs, varied=[*varied, *factors], notes=notes)


def visit_superset(config: Path | None, folder: Path | None = None) -> Visit:
    """Looks at a Superset by its configuration and its processes, and at this machine.

    Args:
        config: A `superset_config.py`; None: as Loadstone starts one where nothing is said.
        folder: Where its data lie.

    Raises:
        WrongInputError: If the configuration cannot be read.
    """
    if config is None:
        return visit_experiment(Experiment.model_validate(_PEOPLE))
    facts = Facts(host_facts(folder or DEFAULT_FOLDER), superset=superset_at(config))
    note = (
        f"{config} was read and not run: what it makes by functions or imports is not known, nor "
        "what stands in its catalogue and its Redis"
    )
    return _visit(facts, "embedded", notes=(note,))


def _part_with_rules(target: TargetSpec) -> Known:
    """The first part of a system that there are rules for; of any other the system itself."""
    whole = system(target)
    return next((each for each in whole.undivided() if each.spec.engine in EXAMINED), whole)


def _notes_of_parts(target: TargetSpec, part: Known) -> tuple[str, ...]:
    """Which part of a system was looked at, and which were not."""
    others = [each.name for each in system(target).undivided() if each.name != part.name]
    if not others:
        return ()
    looked = f"the part {part.name} was looked at" if part.name else "no part was looked at"
    return (f"of {target.engine} {looked}, and not {', '.join(others)}",)


def engine_of(server: str) -> str | None:
    """The engine that an address or a file names, if it does."""
    if "://" in server:
        engine = engine_of_scheme(server.partition("://")[0])
        return engine if engine in SERVERS else None
    return "sqlite" if Path(server).is_file() else None


def _visit(
    facts: Facts, programs: str, varied: Sequence[str] = (), notes: tuple[str, ...] = ()
) -> Visit:
    bases = _bases(facts, programs)
    findings = [
        finding_of(rule, advice, bases.get(rule.subject, bases["host"]))
        for rule, advice in judge(facts, varied)
    ]
    subjects = _subjects(facts)
    log = facts.server.log if facts.server is not None else None
    looked = sum(
        rule.subject in subjects and (not rule.of_log or log is not None) for rule in RULES.values()
    )
    return Visit(facts, tuple(findings), looked, notes)


def _look_at(spec: TargetSpec, log: Path | None) -> ServerFacts:
    found = EXAMINED.get(spec.engine)
    if found is None:
        raise WrongInputError(
            f"the doctor knows no engine {spec.engine!r}",
            advice=f"choose one of {', '.join(EXAMINED)}",
        )
    facts: ServerFacts = found.look(spec, log)
    return facts


def _pid_of(server: ServerFacts | None) -> int | Literal["self"] | None:
    """The process whose bounds count: of a server on this machine its own."""
    if server is None or not server.has_process or not server.local:
        return "self"
    return server.process.pid if server.process else None


def _bases(facts: Facts, programs: str) -> dict[str, Base]:
    """By subject of a rule, what its experiments have in common; `host` of all others."""
    found = {"host": fitted(base_of(facts, programs))}
    return found if facts.superset is None else {**found, "superset": superset_base(facts.superset)}


def _subjects(facts: Facts) -> set[str]:
    """Of the rules that apply."""
    found = {"host"} if facts.server is None else {"host", facts.server.subject}
    return found if facts.superset is None else {*found, "superset"}


def _notes(facts: Facts, folder: Path | None) -> tuple[str, ...]:
    server, found = facts.server, []
    if facts.server_host is None:
        found.append(
            "the server runs on another machine: what is said of the host is about this one, and "
            "rules that need both were left out; run loadstone doctor there"
        )
    elif folder is None:
        found.append(
            f"this user may not know where the data lies: {DEFAULT_FOLDER} was looked at; "
            "--data FOLDER names it"
        )
    if server is None:
        return tuple(found)
    if server.has_process:
        found.extend(_notes_of_log(server.log))
        if server.local and server.process is None:
            found.append(
                "the server's process was not found: its limits were not looked at, nor those of "
                "its control group"
            )
    return (*found, *server.doubts())


def _notes_of_log(log: LogFacts | None) -> Iterator[str]:
    if log is None:
        yield "the server's log was not found or may not be read: --log FILE names it"
    elif log.by_code and not log.unreadable:
        yield (
            f"{log.path} is not in English: its entries were read by their codes, and messages "
            "without one, as of temporary files, were not looked for"
        )
    elif not log.entries and log.strange is None:
        yield f"{log.path} is empty: it says nothing of what was"
