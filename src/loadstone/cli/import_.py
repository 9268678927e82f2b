"""`loadstone import`: makes results, references and scenarios of what other programs wrote."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Annotated

from cyclopts import App, Group, Parameter

from loadstone.cli.console import say
from loadstone.cli.options import Flag, Folder, Output, Words
from loadstone.errors import WrongInputError

command = App(
    name="import",
    help="Make a result, a reference or a scenario of what another program wrote.\n\n"
    "* `loadstone import essbase-log cycle.log`\n"
    "* `loadstone import crystaldiskmark CDM.txt`\n"
    "* `loadstone import fio-json result.json`\n"
    "* `loadstone import har recording.har --output scenario.yaml`",
    help_format="markdown",
    group_commands=Group("Commands"),
)


@command.command
def essbase_log(
    log: Path,
    /,
    *more: Path,
    name: str | None = None,
    server: str = "unknown",
    output: Output = Output(),  # noqa: B008
) -> None:
    """Make a result of the log of an Essbase kit (`loadstone cube emit-essbase`).

    Each log is a trial, and each step's time the mean of its cycles. `loadstone show`, `report` and
    `compare` take the result as any other; its notices say what is not known of it.

    Args:
        log: The `cycle.log` that the kit's `cycle.mxl` writes.
        more: Further logs of the same kit on the same system: repeats.
        name: Of the result; default: that of the first log.
        server: Where it ran, for the record.
        output: Where results lie and how to answer.
    """
    from loadstone.cli.answer import answer
    from loadstone.load.interrupted import finish_interrupted
    from loadstone.results.folder import ExperimentFolder
    from loadstone.results.store import index_experiment
    from loadstone.spec.plans import Variant
    from loadstone.workloads.cube.essbase import record
    from loadstone.workloads.cube.essbase.log import read_log

    logs = [read_log(path) for path in (log, *more)]
    experiment = record.experiment_of(logs, name or _name_of(log), server)
    folder = ExperimentFolder.create(output.results, experiment.name)
    experiment = experiment.model_copy(update={"name": folder.name})
    folder.write_experiment(experiment)
    words = ["loadstone", "import", "essbase-log", *(str(own.path) for own in logs)]
    folder.write_design([Variant(name=experiment.name, changes=[], step=[])], [], shlex.join(words))
    for number, own in enumerate(logs, start=1):
        plan = record.plan_of(experiment, number)
        with folder.trial(plan) as trial:
            trial.keep_log(own.path)
            for frame in record.frames_of(own):
                trial.frames.write(frame)
            trial.write_inventory(record.inventory_of(own))
            trial.write_result(record.result_of(plan, own))
    index_experiment(folder.path, finish_interrupted)
    answer(folder.path, as_json=output.json)
    say(f"the result is {folder.name}, in {folder.path}")


@command.command
def crystaldiskmark(
    file: Path | None = None,
    /,
    *,
    name: str | None = None,
    system: str | None = None,
    output: Output = Output(),  # noqa: B008
) -> None:
    """Make a reference of the text that CrystalDiskMark saves or copies, of versions 3 to 9.

    Reports of `storage` among the same results set it beside their tests, where block, depth and
    threads are equal. Lines that were not understood are listed with the reason.

    Args:
        file: The text, in UTF-8 or UTF-16; without one, what is pasted on standard input.
        name: Of the reference; default: that of the file.
        system: What was measured, for the record.
        output: Where results lie and how to answer.
    """
    from loadstone.cli.foreign import content, keep
    from loadstone.results.references.crystaldiskmark import read_crystaldiskmark
    from loadstone.results.references.foreign import decoded

    foreign = read_crystaldiskmark(decoded(content(file)))
    keep(foreign, file, name, system, output)


@command.command
def fio_json(
    file: Path | None = None,
    /,
    *,
    name: str | None = None,
    system: str | None = None,
    output: Output = Output(),  # noqa: B008
) -> None:
    """Make a reference of fio's own JSON (`--output-format=json`), of fio 2 and 3.

    It is shown as that of CrystalDiskMark is. Notes that fio wrote around the JSON are listed; of
    several documents the last whole one counts.

    Args:
        file: The output of fio, in UTF-8 or UTF-16; without one, standard input.
        name: Of the reference; default: that of the file.
        system: What was measured, for the record.
        output: Where results lie and how to answer.
    """
    from loadstone.cli.foreign import content, keep, shown
    from loadstone.fio.output import parse_output
    from loadstone.results.references.fio_json import read_fio
    from loadstone.results.references.foreign import decoded

    found = parse_output(decoded(content(file)))
    if found.document is None:
        what = "is cut short" if found.cut else "is not there"
        raise WrongInputError(
            f"the JSON of fio in {shown(file)} {what}",
            advice="give what fio wrote with --output-format=json, whole",
        )
    keep(read_fio(found.document, found.notes), file, name, system, output)


@command.command
def har(
    file: Path,
    /,
    *,
    output: Annotated[Path, Folder],
    host: Annotated[tuple[str, ...], Parameter(metavar="NAME"), Words] = (),
    keep_static: Annotated[bool, Parameter(), Flag] = False,
    think_gap: str = "1s",
    json: Annotated[bool, Parameter(), Flag] = False,
) -> None:
    """Make a scenario of the workload http of a browser's recording (HAR).

    Record with the network tool of a browser, from the log-in to the log-out. Tokens and ids are
    extracted from the answers before them, the password becomes a reference, and the user's name a
    column of a file of people beside the scenario. No cookie of the recording is sent: those of
    the answers are. What is left out is listed with the reason.

    Args:
        file: What the browser exported, with or without sensitive data, of at most 512 MB.
        output: The scenario, a new file; that of its users, NAME-people.csv, lies beside it.
        host: Another host that may be asked, as `api.example` or `api.example:8443`; may be
            repeated. Without it only the host of the first page is asked.
        keep_static: Static files are fetched on a first visit; else they are left out.
        think_gap: A pause that is longer ends a transaction.
        json: Print one JSON document on standard output and nothing else there.
    """
    from loadstone.cli.recording import read_gap_s, tell
    from loadstone.workloads.http.har.importing import import_har

    gap_s = read_gap_s(think_gap)
    tell(
        import_har(file, output, hosts=host, keep_static=keep_static, gap_s=gap_s),
        as_json=json,
    )


def _name_of(log: Path) -> str:
    """A name of a result, after that of a file."""
    plain = re.sub(r"[^a-z0-9._-]+", "-", log.stem.lower()).strip("-._")
    return f"essbase-{plain}"[:80].rstrip("-._") if plain else "essbase"
