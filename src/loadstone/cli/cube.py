"""`loadstone cube`: the files of the planning cube, for its own engines and for others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Group, Parameter

from loadstone.cli.console import say, say_document
from loadstone.cli.options import Flag, Whole
from loadstone.errors import ExitCode, WrongInputError

if TYPE_CHECKING:
    from loadstone.workloads.cube.outline.model import Dimension, Outline
    from loadstone.workloads.cube.outline.rejects import Reject

HELP = """Write the files of the planning cube, or check and change them.

The outline has the members of a published benchmark of a planning server; a seed decides its
fan-out and the data. A file of a dimension has a line for each member:
`parent,child,properties,uda,formula`.

* `loadstone cube emit-essbase kit --scale 0.1`
* `loadstone cube check-outline entity.csv --dimension Entity`"""

command = App(name="cube", help=HELP, help_format="markdown", group_commands=Group("Commands"))

Json = Annotated[bool, Parameter(), Flag]
_MOST_SEED = 2**63
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,29}")


@command.command
def emit_essbase(
    folder: Path,
    /,
    *,
    scale: float = 1.0,
    seed: Annotated[int, Whole] = 42,
    application: str = "LSBench",
    database: str = "Cube",
    load_threads: Annotated[int, Whole] = 8,
    calc_threads: Annotated[int, Whole] = 4,
    alloc_tasks: Annotated[int, Whole] = 8,
    hybrid: Annotated[bool, Parameter(), Flag] = False,
    json: Json = False,
) -> None:
    """Write all that the owner of an Essbase licence needs to run the same benchmark.

    Outline, data, calculation scripts, scripts for the MaxL shell, and a README that says how to
    run them. It was never validated against a live server.

    Args:
        folder: New or empty.
        scale: Of the data: 10 million cells in the CSV at 1, with 0.7 GB in all.
        seed: Of the outline and the data.
        application: Name on the server.
        database: Its name.
        load_threads: Native files that are read at once.
        calc_threads: Of an aggregation (CALCPARALLEL).
        alloc_tasks: Threads of the allocation (FIXPARALLEL).
        hybrid: The parents of entities and products are dynamic, and nothing is aggregated.
        json: Print one JSON document on standard output and nothing else there.
    """
    from loadstone.workloads.cube.data.provide import provide
    from loadstone.workloads.cube.essbase.kit import write_kit
    from loadstone.workloads.cube.essbase.settings import KitSettings
    from loadstone.workloads.cube.rates import rates_of

    _check_scale(scale)
    for option, name in (("--application", application), ("--database", database)):
        if not _NAME.fullmatch(name):
            raise WrongInputError(
                f"{option}: {name!r} is no name that Essbase takes",
                advice="a letter, then letters, digits and underscores, 30 at most",
            )
    for option, many in (
        ("--load-threads", load_threads),
        ("--calc-threads", calc_threads),
        ("--alloc-tasks", alloc_tasks),
    ):
        _check_positive(option, many)
    outline = _outline(seed)
    with _into(folder):
        data = provide(outline, scale, seed)
        settings = KitSettings(
            scale,
            seed,
            application,
            database,
            load_threads,
            calc_threads,
            alloc_tasks,
            hybrid=hybrid,
        )
        write_kit(folder, outline, data, rates_of(outline, seed), settings)
    if json:
        files = [str(path) for path in sorted(folder.rglob("*")) if path.is_file()]
        _print_json({"scale": scale, "seed": seed, "files": files})
    say(f"the kit is in {folder}: read {folder / 'README.md'} first")
    say("it was never validated against a live Essbase server")


@command.command
def outline(folder: Path, /, *, seed: Annotated[int, Whole] = 42, json: Json = False) -> None:
    """Write the eight dimensions, a file of parents and children each.

    Args:
        folder: New or empty.
        seed: Of the fan-out.
        json: Print one JSON document on standard output and nothing else there.
    """
    from loadstone.workloads.cube.essbase.kit import write_outline

    own = _outline(seed)
    with _into(folder):
        paths = write_outline(folder, own)
    rows = [
        {
            "dimension": each.name,
            "members": len(each),
            "stored": each.stored,
            "kind": "dense" if each.dense else "sparse",
            "file": str(path),
        }
        for each, path in zip(own.dimensions, paths, strict=True)
    ]
    _answer({"seed": seed, "dimensions": rows}, rows, as_json=json)


@command.command
def check_outline(file: Path, /, *, dimension: str, json: Json = False) -> int:
    """Build a dimension from a file, and write the lines that are not taken to FILE.rejects.csv.

    The root is there before: its own line has no valid parent and is always rejected, which is
    normal. Any other reject ends with exit code 4. Lines whose parent, shared member or formula is
    among the rejects are counted with that one, and are in the file too.

    Args:
        file: Of parents and children.
        dimension: Which one, as `Entity`.
        json: Print one JSON document on standard output and nothing else there.
    """
    from loadstone.workloads.cube.outline.rejects import causes, write_rejects

    found, rejects = _read(file, dimension)
    written = Path(f"{file}.rejects.csv")
    with _written(written):
        write_rejects(rejects, written)
    faults = causes(rejects)
    others = [(reject, hanging) for reject, hanging in faults if not _is_root(reject, found)]
    if json:
        _print_json(
            {
                "dimension": found.name,
                "members": len(found),
                "stored": found.stored,
                "rejects": [
                    {"line": own.line, "reason": own.reason, "hanging": hanging}
                    for own, hanging in faults
                ],
                "file": str(written),
            }
        )
    else:
        roots = len(faults) - len(others)
        normal = ", the root's own line, which is normal" if roots and not others else ""
        among = "; that of the root is normal" if roots and others else ""
        print(f"{len(found):,} members, {_counted(len(faults), 'reject')}{normal}{among}")
        for reject, hanging in others[:10]:
            print(f"  line {reject.line}: {reject.reason}{_hanging(hanging)}")
        say(f"rejected lines are in {written}")
    return ExitCode.FAILED_CHECK if others else ExitCode.OK


@command.command
def parents(dimension: str, /, *, seed: Annotated[int, Whole] = 42, json: Json = False) -> None:
    """List the members that have children.

    Args:
        dimension: Which one, as `Product`.
        seed: Of the fan-out.
        json: Print one JSON document on standard output and nothing else there.
    """
    own = _dimension(_outline(seed), dimension)
    rows = [
        {
            "name": member.name,
            "parent": "" if member.parent is None else own.members[member.parent].name,
            "generation": int(own.generations[number]),
            "children": len(own.children[number]),
            "storage": member.storage,
        }
        for number, member in enumerate(own.members)
        if own.children[number]
    ]
    _answer({"dimension": own.name, "parents": rows}, rows, as_json=json)


@command.command
def dynamic(file: Path, /, *, dimension: str, output: Path, json: Json = False) -> None:
    """Make the stored parents of a dimension's file dynamic: the cube that it builds is hybrid.

    Their cells are then made when they are asked for, and not kept.

    Args:
        file: Of parents and children, without wrong lines.
        dimension: Which one, as `Product`.
        output: The new file.
        json: Print one JSON document on standard output and nothing else there.
    """
    from loadstone.workloads.cube.outline.exchange import write_dimension
    from loadstone.workloads.cube.outline.rejects import causes

    found, rejects = _read(file, dimension)
    wrong = [(own, hanging) for own, hanging in causes(rejects) if not _is_root(own, found)]
    if wrong:
        first, hanging = wrong[0]
        raise WrongInputError(
            f"{_counted(len(wrong), 'line')} of {file} cannot be taken, the first is line "
            f"{first.line}: {first.reason}{_hanging(hanging)}",
            advice=f"loadstone cube check-outline {file} --dimension {dimension} lists them",
        )
    _refuse_existing(output)
    hybrid = found.hybrid()
    with _written(output):
        write_dimension(hybrid, output)
    changed = found.stored - hybrid.stored
    if json:
        _print_json({"dimension": found.name, "changed": changed, "file": str(output)})
        return
    print(f"{changed:,} stored parents are dynamic in {output}")
    say("the root is one of them, and its line is not taken by an import: change it by hand there")


@command.command
def data(
    folder: Path, /, *, scale: float = 1.0, seed: Annotated[int, Whole] = 42, json: Json = False
) -> None:
    """Write the files that a cube is loaded from: 8 native files, and a CSV of cells.

    A few lines of the CSV are wrong on purpose; manifest.json says which.

    Args:
        folder: New or empty.
        scale: 10 million cells in the CSV at 1, with 0.7 GB in all.
        seed: Of the outline and the data.
        json: Print one JSON document on standard output and nothing else there.
    """
    from json import dumps

    from loadstone.workloads.cube.data.provide import CELLS, write_files

    _check_scale(scale)
    own = _outline(seed)
    with _into(folder):
        manifest: Any = write_files(folder, own, scale, seed)
        (folder / "manifest.json").write_text(dumps(manifest, indent=1), encoding="utf-8")
    rows = [
        {"file": native["name"], "cells": native["cells"], "wrong": 0, "sum": native["sum"]}
        for native in manifest["native"]
    ]
    cells = manifest["cells"]
    wrong = len(cells["injected"])
    right = {"file": CELLS, "cells": cells["lines"] - wrong, "wrong": wrong}
    rows.append({**right, "sum": cells["accepted_sum"]})
    _answer({"scale": scale, "seed": seed, "files": rows}, rows, as_json=json)


@command.command
def split(
    file: Path, /, *, parts: Annotated[int, Whole], output: Path | None = None, json: Json = False
) -> None:
    """Cut a large file into parts, each with the header, for loads that take several at once.

    A CSV is cut between records, an export of Essbase where a part means the same by itself.

    Args:
        file: A CSV with a header, or an export of Essbase.
        parts: How many; fewer come of a file with fewer places to cut at.
        output: Their folder; default: that of the file.
        json: Print one JSON document on standard output and nothing else there.
    """
    from loadstone.workloads.cube.data import split as splitting

    _check_positive("--parts", parts)
    folder = file.parent if output is None else output
    for number in range(1, parts + 1):
        _refuse_existing(folder / f"{file.stem}.{number}{file.suffix}")
    found = splitting.split(file, parts, folder)
    rows = [{"file": str(own.path), "first_line": own.first_line} for own in found]
    _answer({"file": str(file), "parts": rows}, rows, as_json=json)
    if len(found) < parts:
        say(
            f"{_counted(len(found), 'part')}, not {parts}: {file} has no more places to cut at, "
            "between records or, in an export, before lines that name all members"
        )


def _outline(seed: int) -> Outline:
    from loadstone.workloads.cube.outline.outline import outline_of

    if not 0 <= seed < _MOST_SEED:
        raise WrongInputError(f"--seed: {seed} is not between 0 and 2^63")
    return outline_of(seed)


def _dimension(own: Outline, name: str) -> Dimension:
    from loadstone.spec.problems import near

    known = {each.name.lower(): each for each in own.dimensions}
    if name.lower() not in known:
        names = [each.name for each in own.dimensions]
        raise WrongInputError(f"there is no dimension {name!r}; {near(name, names)}")
    return known[name.lower()]


def _read(file: Path, name: str) -> tuple[Dimension, list[Reject]]:
    """A dimension from its file; only its root and its kind are taken from the outline."""
    from loadstone.workloads.cube.outline.exchange import read_dimension

    own = _dimension(_outline(0), name)
    return read_dimension(file, own.members[0], dense=own.dense)


def _is_root(reject: Reject, dimension: Dimension) -> bool:
    from loadstone.workloads.cube.outline.rejects import folded

    return not reject.row[0] and folded(reject.child) == folded(dimension.members[0].name)


def _hanging(lines: int) -> str:
    return f" (with {_counted(lines, 'line')} that {'hangs' if lines == 1 else 'hang'} on it)" * (
        lines > 0
    )


def _check_scale(scale: float) -> None:
    from loadstone.workloads.cube.data.volume import LARGEST_SCALE, LEAST_SCALE

    if not LEAST_SCALE <= scale <= LARGEST_SCALE:
        raise WrongInputError(
            f"--scale: {scale:g} is not between {LEAST_SCALE:g} and {LARGEST_SCALE:.4g}",
            advice="at the largest scale all accounts have data",
        )


def _check_positive(option: str, value: int) -> None:
    if value < 1:
        raise WrongInputError(f"{option}: {value} is less than 1")


def _refuse_existing(path: Path) -> None:
    if path.exists():
        raise WrongInputError(
            f"{path} is there already, and nothing is overwritten",
            advice="name another place with --output, or remove it",
        )


@contextmanager
def _into(folder: Path) -> Iterator[None]:
    """A folder that is new or empty, to write into.

    Raises:
        WrongInputError: If it holds anything, or cannot be written.
    """
    with _written(folder):
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            what = "is not empty" if folder.is_dir() else "is no folder"
            raise WrongInputError(
                f"{folder} {what}, and nothing is overwritten",
                advice="name a folder that is new or empty",
            )
        folder.mkdir(parents=True, exist_ok=True)
        yield


@contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WrongInputError(f"{path} cannot be written: {error.strerror or error}") from error


def _counted(many: int, what: str) -> str:
    return f"{many:,} {what}{'' if many == 1 else 's'}"


def _answer(document: dict[str, Any], rows: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    """Prints a document, or its rows as a table."""
    if as_json:
        _print_json(document)
        return
    from loadstone.cli.console import out, plain_table

    table = plain_table(*(name.replace("_", " ") for name in rows[0]), whole=tuple(rows[0]))
    for row in rows:
        table.add_row(*(f"{own:,}" if isinstance(own, int) else str(own) for own in row.values()))
    out().print(table)


def _print_json(document: dict[str, Any]) -> None:
    from json import dumps

    say_document(dumps({"version": 1, **document}, indent=2))
