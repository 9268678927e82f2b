"""What a plan says about streams of steps: who sends which statements, and after whom."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from loadstone.runner.plan import Plan, RefusalError, Strict, read_model

PATH = "workload.parameters"

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
"""Goes into names of files."""


class CellLoad(Strict):
    """A file of cells, which the driver's parser turns into rows of a table."""

    file: str
    source: Literal["native", "lines"]
    names: str
    """File with the numbers of the members that may hold data."""
    table: str
    rejects: str | None = None
    """File for the lines that are not taken."""


Job = Annotated[tuple[str | CellLoad, ...], Field(min_length=1, strict=False)]
"""Statements, each a transaction of its own, and files, one after the other in one session."""
Stage = Annotated[tuple[Job, ...], Field(min_length=1, strict=False)]
"""Jobs at the same time, each in a session of its own."""


class Step(Strict):
    """One operation of a stream."""

    operation: Name
    kind: Literal["query", "change", "explain", "work"] = "query"
    """`query`: one statement, whose rows are read. `change`: statements that change rows, in one
    transaction. `explain`: the plan of one statement is kept. `work`: stages of jobs."""
    statements: Annotated[tuple[str, ...], Field(strict=False)] = ()
    stages: Annotated[tuple[Stage, ...], Field(strict=False)] = ()
    """Of a `work`: they follow each other."""
    answer: Name | None = None
    """The rows of a query are kept under this name; of a work, what its files had in them."""

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Step:
        if (self.kind == "work") != bool(self.stages) or (self.kind == "work" and self.statements):
            raise ValueError("a work has stages and no statements; no other step has stages")
        if self.kind == "change" and not self.statements:
            raise ValueError("a change has no statements")
        if self.kind in {"query", "explain"} and len(self.statements) != 1:
            raise ValueError(f"a {self.kind} has one statement, not {len(self.statements)}")
        return self


class Stream(Strict):
    """Steps that follow each other in one session."""

    name: Name
    after: Name | None = None
    """The stream of the same round that must have ended before."""
    steps: Annotated[tuple[Step, ...], Field(strict=False)]
    asks: Name | None = None
    """Operation: after its steps it asks one request after the other until the phase is over."""


Streams = Annotated[tuple[Stream, ...], Field(strict=False)]


class Parameters(Strict):
    """Parameters of streams; `docs/driver-protocol.md` says what each is."""

    rounds: Annotated[tuple[Streams, ...], Field(min_length=1, strict=False)]
    """For each phase the streams of its first users; some may have no steps. Users without a stream
    of their own do as the last one if it asks, and otherwise nothing."""
    time_limit_s: Annotated[float, Field(gt=0.0, le=1e7)]
    """A statement that takes longer is broken off."""
    requests: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Queries that streams ask which `asks`: each time one of them, drawn by the plan's seed."""
    folder: str
    """Where answers and plans go."""
    server_pid: Annotated[int, Field(ge=1)] | None = None
    """The server's first process, if it runs on this machine and may be looked at."""

    @property
    def operations(self) -> tuple[str, ...]:
        """Names of all operations, in the order of their first use."""
        streams = [stream for round_ in self.rounds for stream in round_]
        steps = [step.operation for stream in streams for step in stream.steps]
        asked = [stream.asks for stream in streams if stream.asks is not None]
        return tuple(dict.fromkeys([*steps, *asked]))


def read_parameters(plan: Plan) -> Parameters:
    """Reads and checks the parameters of a plan.

    Raises:
        RefusalError: It names the wrong field.
    """
    plan.refuse_open()
    parameters = read_model(Parameters, plan.workload.parameters, within=PATH)
    if len(parameters.rounds) != len(plan.phases):
        raise RefusalError(
            f"{PATH}.rounds", f"{len(parameters.rounds)}, but there are {len(plan.phases)} phases"
        )
    for number, (streams, phase) in enumerate(zip(parameters.rounds, plan.phases, strict=True)):
        where = f"{PATH}.rounds[{number}]"
        users = phase.users
        if len(streams) > min(users.start, users.end):
            raise RefusalError(where, f"{len(streams)} streams, but {users.end} users")
        known: set[str] = set()
        for stream in streams:
            # An earlier stream cannot wait for a later one, so that none waits for ever.
            if stream.after is not None and stream.after not in known:
                raise RefusalError(where, f"no stream {stream.after!r} before {stream.name!r}")
            if stream.asks is not None and not parameters.requests:
                raise RefusalError(where, f"stream {stream.name!r} asks, but there are no requests")
            if stream.name in known:
                raise RefusalError(where, f"there are two streams {stream.name!r}")
            known.add(stream.name)
    return parameters
