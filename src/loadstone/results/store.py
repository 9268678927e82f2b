"""The store: an index over the results folders, in SQLite or PostgreSQL.

The files are the truth. Whatever is in the index can be made again from them by `reindex`.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Engine, create_engine, delete, event, func, inspect, select, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    ArgumentError,
    IntegrityError,
    NoSuchModuleError,
    OperationalError,
    ProgrammingError,
    SQLAlchemyError,
)
from sqlalchemy.orm import Session

from loadstone.errors import TargetError, WrongInputError
from loadstone.results.files import full_disk_said
from loadstone.results.finding import experiment_folders
from loadstone.results.metrics import marked
from loadstone.results.record import Status, TrialResult
from loadstone.results.schema import Base, ExperimentRow, MetricRow, TrialRow
from loadstone.results.standing import judged
from loadstone.results.trial_files import EXPERIMENT_FILE, PLAN_FILE, read_model
from loadstone.spec.model import Experiment

INDEX_FILE = "index.sqlite"
_BUSY_MS = 30_000
_LOCK_NUMBER = 0x10AD5704

Finish = Callable[[Path], TrialResult]
"""Reads the record of a trial, and finishes that of one whose process was killed."""


@dataclass(frozen=True)
class ExperimentEntry:
    """A line of `loadstone list`."""

    name: str
    title: str
    workload: str
    engine: str
    design: str
    started_at: str
    statuses: dict[str, int]
    """Status: how many trials have it."""
    unsafe: bool
    crashes: dict[str, int]
    """Outcome: how many crash trials ended so. They are not among `statuses`."""

    def has(self, status: Status) -> bool:
        """Whether one of its trials has a status; a crash trial that shows something is valid."""
        return status.value in self.statuses or (status is Status.VALID and bool(self.crashes))


class Store:
    """The index of one folder of results.

    Args:
        results: Folder of all results.
        url: Of the database; default: SQLite in that folder.

    Raises:
        WrongInputError: If the address is none.
        TargetError: If the database cannot be reached.
    """

    def __init__(self, results: Path, url: str | None = None) -> None:
        self.results = results
        self._engine = _engine(results, url)
        with _said(results):
            _make_tables(self._engine)

    def close(self) -> None:
        """Lets go of the database."""
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def index_experiment(self, folder: Path, finish: Finish) -> None:
        """Puts what one experiment's folder says now into the index, in one short transaction.

        Args:
            folder: Of the experiment.
            finish: Called with the folder of each trial.

        Raises:
            WrongInputError: If the folder holds no experiment.
        """
        row, metrics = _rows(folder, finish)
        with _said(self.results), Session(self._engine) as session, session.begin():
            _one_at_a_time(session)
            _forget(session, [row.name])
            session.add(row)
            session.flush()
            session.add_all(metrics)

    def reindex(self, finish: Finish) -> list[str]:
        """Makes the index anew from the folders.

        Args:
            finish: Called with the folder of each trial.

        Returns:
            What was left out and why, one line each.
        """
        left_out = []
        for folder in experiment_folders(self.results):
            try:
                self.index_experiment(folder, finish)
            except WrongInputError as error:
                left_out.append(error.message)
        with _said(self.results), Session(self._engine) as session, session.begin():
            _one_at_a_time(session)
            known = session.scalars(select(ExperimentRow.name))
            folders = self.results
            _forget(session, [name for name in known if not (folders / name).is_dir()])
        return left_out

    def experiments(self) -> list[ExperimentEntry]:
        """All that it knows, newest first."""
        with _said(self.results), Session(self._engine) as session:
            return newest_first(_entry(row) for row in session.scalars(select(ExperimentRow)))

    def metrics(self, experiment: str) -> dict[str, dict[str, float]]:
        """Trial: metric: value, of one experiment."""
        query = select(MetricRow).where(MetricRow.experiment_name == experiment)
        found: dict[str, dict[str, float]] = {}
        with _said(self.results), Session(self._engine) as session:
            for row in session.scalars(query.order_by(MetricRow.trial, MetricRow.name)):
                found.setdefault(row.trial, {})[row.name] = row.value
        return found


def index_experiment(folder: Path, finish: Finish, url: str | None = None) -> None:
    """Indexes one experiment's folder in the store of the folder that it lies in."""
    with Store(folder.parent, url) as store:
        store.index_experiment(folder, finish)


def reindex(results: Path, finish: Finish, url: str | None = None) -> list[str]:
    """Makes the index of a results folder anew; says what was left out and why."""
    with Store(results, url) as store:
        return store.reindex(finish)


def _engine(results: Path, url: str | None) -> Engine:
    if url is None:
        with full_disk_said(results):
            results.mkdir(parents=True, exist_ok=True)
        engine = create_engine(URL.create("sqlite", database=str(results / INDEX_FILE)))
        event.listen(engine, "connect", _prepare_sqlite)
        return engine
    try:
        address = make_url(url)
        if address.drivername in ("postgresql", "postgres"):
            address = address.set(drivername="postgresql+psycopg")
        return create_engine(address)
    except (ArgumentError, NoSuchModuleError) as error:
        raise WrongInputError(
            f"{url!r} is no address of a store",
            advice="write postgresql://user@host/database, or leave it out for SQLite",
        ) from error


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    """Several Loadstones at once wait for each other; foreign keys hold."""
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
    cursor.execute("PRAGMA journal_mode=DELETE")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _make_tables(engine: Engine) -> None:
    """Another Loadstone may make each of the tables at the same moment; then that one is there."""
    for make in (Base.metadata.create_all, _add_columns):
        for _ in Base.metadata.sorted_tables:
            with contextlib.suppress(OperationalError, ProgrammingError, IntegrityError):
                make(engine)
                break
        else:
            make(engine)


def _add_columns(engine: Engine) -> None:
    """Adds what an index of an earlier Loadstone lacks: columns that may be empty."""
    there = inspect(engine)
    for table in Base.metadata.sorted_tables:
        known = {column["name"] for column in there.get_columns(table.name)}
        for column in table.columns:
            if column.name not in known and column.nullable:
                kind = column.type.compile(engine.dialect)
                with engine.begin() as connection:
                    connection.execute(
                        text(f"ALTER TABLE {table.name} ADD COLUMN {column.name} {kind}")
                    )


def _one_at_a_time(session: Session) -> None:
    """Two that index the same experiment do so one after the other; SQLite locks by itself."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(_LOCK_NUMBER)))


def _forget(session: Session, names: list[str]) -> None:
    for table, column in (
        (MetricRow, MetricRow.experiment_name),
        (TrialRow, TrialRow.experiment_name),
        (ExperimentRow, ExperimentRow.name),
    ):
        session.execute(delete(table).where(column.in_(names)))


@contextlib.contextmanager
def _said(results: Path) -> Iterator[None]:
    """Turns an error of the database into one clear line."""
    try:
        yield
    except OperationalError as error:
        raise TargetError(
            f"the index of {results} cannot be used: {str(error.orig).strip()}",
            advice="`loadstone reindex` makes it anew from the result folders",
        ) from error
    except SQLAlchemyError as error:
        raise TargetError(
            f"the index of {results} is not what this version of Loadstone writes: "
            f"{str(error).splitlines()[0]}",
            advice=f"remove {INDEX_FILE} and run `loadstone reindex`",
        ) from error


def entry_of(folder: Path, finish: Finish) -> ExperimentEntry:
    """What one experiment's folder says now.

    Args:
        folder: Of the experiment.
        finish: Called with the folder of each trial.

    Raises:
        WrongInputError: If the folder holds no experiment.
    """
    return _entry(_rows(folder, finish)[0])


def indexed(results: Path) -> dict[str, ExperimentEntry]:
    """What the index beside the folders says, by name; nothing is written.

    Empty without an index, and of one that cannot be read: the folders say all that it says.
    """
    file = results / INDEX_FILE
    if not file.is_file():
        return {}
    query = {"mode": "ro", "uri": "true"}
    database = f"file:{quote(str(file.absolute()))}"
    engine = create_engine(URL.create("sqlite", database=database, query=query))
    try:
        with Session(engine) as session:
            return {row.name: _entry(row) for row in session.scalars(select(ExperimentRow))}
    except SQLAlchemyError:
        return {}
    finally:
        engine.dispose()


def newest_first(entries: Iterable[ExperimentEntry]) -> list[ExperimentEntry]:
    """In the order of lists."""
    return sorted(entries, key=lambda entry: (entry.started_at, entry.name), reverse=True)


def _read_trials(folder: Path, finish: Finish) -> list[TrialResult]:
    """Results of all trials; one that cannot be read is not in the index, and stays on disk."""
    results = []
    for plan in sorted(folder.glob(f"*/{PLAN_FILE}")):
        with contextlib.suppress(WrongInputError):
            results.append(finish(plan.parent))
    return results


def _rows(folder: Path, finish: Finish) -> tuple[ExperimentRow, list[MetricRow]]:
    """What the index has of an experiment."""
    experiment = read_model(folder / EXPERIMENT_FILE, Experiment)
    results = judged(_read_trials(folder, finish), experiment.disturbance)
    started = [result.started_at for result in results]
    row = ExperimentRow(
        name=folder.name,
        title=experiment.title,
        workload=experiment.workload.name,
        engine=experiment.target.engine,
        design=experiment.design.kind,
        started_at=min(started, default=""),
        trials=[_trial_row(folder.name, result) for result in results],
    )
    metrics = [
        MetricRow(
            experiment_name=folder.name,
            trial=result.trial,
            name=metric.name,
            value=metric.value,
            unit=marked(metric.unit, metric.mark),
        )
        for result in results
        for metric in {metric.name: metric for metric in result.metrics}.values()
        if math.isfinite(metric.value)
    ]
    return row, metrics


def _trial_row(experiment: str, result: TrialResult) -> TrialRow:
    return TrialRow(
        experiment_name=experiment,
        name=result.trial,
        variant=result.variant,
        block=result.block,
        position=result.order,
        status=result.status.value,
        unsafe=bool(result.unsafe),
        crash=_crash(result),
        started_at=result.started_at,
        finished_at=result.finished_at,
    )


def _crash(result: TrialResult) -> str | None:
    if result.durability is None or result.status is not Status.VALID:
        return None
    return result.durability.outcome


def _entry(row: ExperimentRow) -> ExperimentEntry:
    statuses: dict[str, int] = {}
    crashes: dict[str, int] = {}
    for trial in row.trials:
        counts, what = (crashes, trial.crash) if trial.crash else (statuses, trial.status)
        counts[what] = counts.get(what, 0) + 1
    return ExperimentEntry(
        name=row.name,
        title=row.title,
        workload=row.workload,
        engine=row.engine,
        design=row.design,
        started_at=row.started_at,
        statuses=statuses,
        unsafe=any(trial.unsafe for trial in row.trials),
        crashes=crashes,
    )
