"""One visit of the doctor: facts are collected, then every rule looks at them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from loadstone.doctor.collect import mariadb, planned, postgresql, sqlite
from loadstone.doctor.collect.host import host_facts
from loadstone.doctor.facts import Facts, LogFacts, MariaDBFacts, PostgreSQLFacts, SQLiteFacts
from loadstone.doctor.measure import base_of, finding_of, fitted
from loadstone.doctor.model import Advice, Finding, Rule, Severity
from loadstone.doctor.rules import RULES
from loadstone.errors import LoadstoneError, WrongInputError
from loadstone.experiments.preflight.check import changes_of
from loadstone.host.locality import at_address
from loadstone.spec.model import Experiment
from loadstone.spec.target import TargetSpec
from loadstone.targets.part_names import factor_within
from loadstone.targets.walk import Known, system

DEFAULT_FOLDER = Path("/var/tmp")  # noqa: S108
ENGINES = ("postgresql", "mariadb", "sqlite")
_SCHEMES = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "mysql": "mariadb",
    "mariadb": "mariadb",
}


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
    seen_folder = folder or _folder_of(server)
    host = host_facts(seen_folder or DEFAULT_FOLDER, pid=_pid_of(server))
    facts = Facts(host, server)
    return _visit(facts, _programs(server), notes=_notes(facts, seen_folder))


def visit_experiment(experiment: Experiment) -> Visit:
    """Looks at the target of an experiment as its settings will have it, and at this machine.

    Raises:
        WrongInputError: If its server or a setting cannot be.
        TargetError: If a server at an address cannot be reached.
    """
    part = _part_with_rules(experiment.target)
    target = part.spec
    server: planned.PLANNED
    if at_address(target):
        server = _look_at(target, None)
        if isinstance(server, PostgreSQLFacts):
            server = planned.with_settings(server, target.settings)
    else:
        server = planned.planned_facts(experiment.model_copy(update={"target": target}))
    folder = Path(target.data) if target.data else DEFAULT_FOLDER
    host = host_facts(folder, pid=_pid_of(server) if at_address(target) else "self")
    overlay = {name: str(level) for name, level in experiment.host.items()}
    facts = Facts(replace(host, sysctl={**host.sysctl, **overlay}), server)
    factors = [change.factor for _, change in changes_of(experiment)]
    varied = [factor_within(part.name, factor) or factor for factor in factors]
    programs = "embedded" if at_address(target) else target.server
    return _visit(facts, programs, varied=varied, notes=_notes_of_parts(experiment.target, part))


def _part_with_rules(target: TargetSpec) -> Known:
    """The first part of a system that there are rules for; of any other the system itself."""
    whole = system(target)
    return next((each for each in whole.undivided() if each.spec.engine in ENGINES), whole)


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
        return _SCHEMES.get(server.partition("://")[0])
    return "sqlite" if Path(server).is_file() else None


def _visit(
    facts: Facts, programs: str, varied: Sequence[str] = (), notes: tuple[str, ...] = ()
) -> Visit:
    base = fitted(base_of(facts, programs))
    findings = [finding_of(rule, advice, base) for rule, advice in judge(facts, varied)]
    subjects = {"host", *_subject(facts)}
    log = getattr(facts.server, "log", None)
    looked = sum(
        rule.subject in subjects and (not rule.of_log or log is not None) for rule in RULES.values()
    )
    return Visit(facts, tuple(findings), looked, notes)


def _look_at(spec: TargetSpec, log: Path | None) -> PostgreSQLFacts | MariaDBFacts | SQLiteFacts:
    match spec.engine:
        case "postgresql":
            return postgresql.postgresql_facts(spec, log)
        case "mariadb":
            return mariadb.mariadb_facts(spec, log)
        case "sqlite":
            return sqlite.sqlite_facts(Path(spec.server))
    raise WrongInputError(
        f"the doctor knows no engine {spec.engine!r}", advice=f"choose one of {', '.join(ENGINES)}"
    )


def _folder_of(server: PostgreSQLFacts | MariaDBFacts | SQLiteFacts) -> Path | None:
    match server:
        case PostgreSQLFacts():
            return postgresql.data_folder(server)
        case MariaDBFacts():
            return mariadb.data_folder(server)
    return Path(server.path).absolute().parent


def _pid_of(server: planned.PLANNED) -> int | Literal["self"] | None:
    """The process whose bounds count: of a server on this machine its own."""
    if isinstance(server, (PostgreSQLFacts, MariaDBFacts)) and server.local:
        return server.process.pid if server.process else None
    return "self"


def _programs(server: PostgreSQLFacts | MariaDBFacts | SQLiteFacts) -> str:
    """The programs that are most like those of the server: of its major version if here."""
    if not isinstance(server, PostgreSQLFacts):
        return "embedded" if isinstance(server, SQLiteFacts) else "local"
    from loadstone.targets.postgresql import binaries

    wanted = f"local:{server.major}"
    try:
        if binaries.find("embedded").major == server.major:
            return "embedded"
        binaries.find(wanted)
    except LoadstoneError:
        return "embedded"
    return wanted


def _subject(facts: Facts) -> list[str]:
    kinds = {PostgreSQLFacts: "postgresql", MariaDBFacts: "mariadb", SQLiteFacts: "sqlite"}
    return [name for kind, name in kinds.items() if isinstance(facts.server, kind)]


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
    if isinstance(server, (PostgreSQLFacts, MariaDBFacts)):
        found.extend(_notes_of_log(server.log))
        if server.local and server.process is None:
            found.append(
                "the server's process was not found: its limits were not looked at, nor those of "
                "its control group"
            )
    if isinstance(server, SQLiteFacts) and server.checked != "checked":
        found.append(f"integrity: {server.checked}")
    return tuple(found)


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
