"""The parameters of `bi`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator

from loadstone.limits import LONGEST_S
from loadstone.spec.base import Spec
from loadstone.units import Duration, Percent
from loadstone.workloads.bi.visits import Ways, ways_given

MOST_ACCOUNTS = 1_000_000


class BiParameters(Spec):
    """Parameters of `bi`."""

    scale: float = Field(
        default=0.02,
        gt=0,
        le=10_000,
        description="Scale factor of the data of `dss` that the star is made of; about 6 million "
        "order lines each.",
    )
    accounts: int = Field(
        default=1000,
        ge=1,
        le=MOST_ACCOUNTS,
        description="People who may log in. One of six sees all rows, the others those of one "
        "region each.",
    )
    think_time: Duration = Field(
        default=10.0,
        le=LONGEST_S,
        description="Mean of the negative-exponential wait after each action; `think_time` of the "
        "profile takes its place.",
    )
    next: dict[str, dict[str, Annotated[float, Field(ge=0, le=1e6)]]] = Field(
        default={},
        description="What people do after an action, by weights: `{open: {filter: 3, list: 1}}`; "
        "the rest as usual.",
    )
    first_visit: bool = Field(
        default=False,
        description="Nobody has been there before: browsers ask for all static files when people "
        "log in.",
    )
    retries: bool = Field(
        default=True,
        description="What the server's own front end tries again (answers of 502, 503 and 504) is "
        "tried again; it is counted apart from errors.",
    )
    sample: int = Field(
        default=50,
        ge=0,
        le=100_000,
        description="Answers of charts that are kept in each trial and held against the "
        "warehouse; 0: none.",
    )
    errors_allowed: Percent = Field(
        default=0.0,
        ge=0,
        le=100,
        description="Of all actions, log-ins and log-outs, whose answers may be wrong.",
    )

    @field_validator("next")
    @classmethod
    def _known(cls, value: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        ways_given(value)
        return value

    @property
    def ways(self) -> Ways:
        """What people do after each action."""
        return ways_given(self.next)
