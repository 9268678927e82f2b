"""`loadstone doctor`."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from loadstone.cli.console import out, say, say_document
from loadstone.cli.options import TARGET, Flag, refuse_idle
from loadstone.errors import ExitCode, WrongInputError
from loadstone.secret import shown

if TYPE_CHECKING:
    from loadstone.doctor.visit import Visit
    from loadstone.spec.model import Experiment

Engine = Literal["postgresql", "mariadb", "sqlite", "superset"]

_SUPERSET_HAS = "a Superset is looked at by its superset_config.py (--server) and its processes"


def command(
    file: Path | None = None,
    /,
    *,
    target: Annotated[Engine | None, Parameter(group=TARGET)] = None,
    server: Annotated[str | None, Parameter(group=TARGET)] = None,
    password: Annotated[str | None, Parameter(group=TARGET)] = None,
    log: Annotated[Path | None, Parameter(group=TARGET)] = None,
    data: Annotated[Path | None, Parameter(group=TARGET)] = None,
    save: Annotated[Path | None, Parameter(metavar="DIR")] = None,
    fail_on: Annotated[Literal["data", "speed", "look"] | None, Parameter()] = None,
    rules: Annotated[bool, Parameter(), Flag] = False,
    json: Annotated[bool, Parameter(), Flag] = False,
) -> int:
    """Look at this host, and at a server, and advise; nothing is ever changed.

    Each finding has the value seen, why it matters, the change, its risk, its source, and the
    experiment that would measure it here.

    * `loadstone doctor`
    * `loadstone doctor --server postgresql://me@localhost:5432/shop --save advice`
    * `loadstone doctor --server 'mysql://me@/shop?socket=/run/mysqld/mysqld.sock'`
    * `loadstone doctor --server shop.sqlite`
    * `loadstone doctor --target superset --server /app/superset_config.py`
    * `loadstone doctor examples/oltp-ladder.yaml`

    Args:
        file: An experiment file: the settings of its target are looked at, against this host.
        target: Engine of the server; default: what its address says.
        server: Address of a running server, a SQLite file, or the superset_config.py of a Superset.
        password: Where the password is: `env:NAME` or `file:PATH`.
        log: The server's log, if it is not found by itself.
        data: Folder whose disk is looked at; default: the server's, else `/var/tmp`.
        save: Write the experiments there, a file for each finding.
        fail_on: End with 7 if something at least so grave was found; else the code is 0.
        rules: List all rules, and look at nothing.
        json: Print one JSON document on standard output and nothing else there.
    """
    if rules:
        asked = {"--target": target, "--server": server, "--password": password, "--log": log}
        asked |= {"FILE": file, "--data": data, "--save": save, "--fail-on": fail_on}
        refuse_idle([name for name, value in asked.items() if value is not None], "--rules lists")
        _print_rules(as_json=json)
        return ExitCode.OK
    visit = _visit(file, target, server, password=password, log=log, data=data)
    written = _save(visit, save)
    if json:
        from loadstone.doctor.document import document_of

        say_document(json_module.dumps(document_of(visit), indent=2))
    else:
        from loadstone.doctor.terminal import print_visit

        print_visit(visit, out(), str(save) if save else None)
    if save is not None:
        say(f"{written} experiments written to {save}")
    return _exit_code(visit, fail_on)


def _visit(
    file: Path | None,
    target: str | None,
    server: str | None,
    *,
    password: str | None,
    log: Path | None,
    data: Path | None,
) -> Visit:
    from loadstone.doctor import visit

    if file is not None:
        if server is not None or target is not None:
            raise WrongInputError(
                "an experiment file and a server were given", advice="give one of them"
            )
        asked = {"--password": password, "--log": log, "--data": data}
        idle = [name for name, value in asked.items() if value is not None]
        refuse_idle(idle, "an experiment file says all of its target")
        return visit.visit_experiment(_experiment(file))
    if target == "superset":
        asked = {"--password": password, "--log": log}
        refuse_idle([name for name, value in asked.items() if value is not None], _SUPERSET_HAS)
        return visit.visit_superset(Path(server) if server is not None else None, data)
    if server is None:
        if target is not None or log is not None or password is not None:
            raise WrongInputError(
                "which server is missing", advice="add --server with its address or file"
            )
        return visit.visit_host(data)
    from loadstone.spec.target import TargetSpec

    engine = target or visit.engine_of(server)
    if engine is None:
        raise WrongInputError(
            f"--server {shown(server)} is neither an address nor a file that is there",
            advice="write postgresql://user@host:port/database, mysql://user@host:port/database, "
            "or the path of a SQLite database",
        )
    if password is not None and not password.startswith(("env:", "file:")):
        raise WrongInputError("a password is a reference: write env:NAME or file:PATH")
    spec = TargetSpec(engine=engine, server=server, password=password)
    return visit.visit_server(spec, log, data)


def _experiment(file: Path) -> Experiment:
    from loadstone.cli.execute import check
    from loadstone.experiments.file import load_experiment

    written = load_experiment(file)
    check(written)
    return written.experiment


def _save(visit: Visit, folder: Path | None) -> int:
    if folder is None:
        return 0
    from loadstone.doctor.document import save

    return len(save(visit, folder))


def _exit_code(visit: Visit, fail_on: str | None) -> int:
    from loadstone.doctor.model import Severity

    if fail_on is None or not visit.worse_than(Severity(fail_on)):
        return ExitCode.OK
    return ExitCode.FINDINGS


def _print_rules(*, as_json: bool) -> None:
    from dataclasses import asdict

    from loadstone.cli.console import plain_table
    from loadstone.doctor.rules import RULES

    if as_json:
        listed = [
            {
                "rule": rule.name,
                "severity": rule.severity.value,
                "about": rule.about,
                "source": asdict(rule.source),
            }
            for rule in RULES.values()
        ]
        say_document(json_module.dumps({"version": 1, "rules": listed}, indent=2))
        return
    table = plain_table("rule", "severity", "looks for", whole=("rule",))
    for rule in RULES.values():
        table.add_row(rule.name, rule.severity.value, rule.about)
    out().print(table)
