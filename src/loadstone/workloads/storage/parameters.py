"""Parameters of `storage`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from loadstone.spec.base import Spec
from loadstone.units import Duration

Sync = Literal["none", "fsync", "fdatasync", "dsync"]
"""After each write: nothing; a flush call; or each write with O_DSYNC."""


class StorageParameters(Spec):
    """What is measured, and how."""

    profile: str = Field(default="cdm8", description="Tests: `loadstone list storage` has them.")
    fio: str | None = Field(
        default=None, description="A job file of fio, in the place of a profile."
    )
    file_size: str | None = Field(
        default=None, description="Of each test file, as `1GB`; default: the profile's."
    )
    passes: int | None = Field(
        default=None, ge=1, le=1000, description="Of each test; default: the profile's."
    )
    pass_length: Duration | None = Field(
        default=None, ge=0.1, description="Of a pass; default: the profile's."
    )
    pause: Duration | None = Field(
        default=None, ge=0, description="Between two tests; default: the profile's."
    )
    sync: Sync = Field(default="none", description="What follows each write.")
    direct: bool = Field(default=True, description="Ask for I/O past the page cache.")
    compressible: int = Field(
        default=0, ge=0, le=100, description="Percent of the data that compress away."
    )
