"""States of Superset that are kept from run to run: catalogue and warehouse, with their secrets.

A state is a folder below Loadstone's cache: a copy of the stopped PostgreSQL, what is known of its
making, and the secrets that belong to it. It is of use to the same version of everything only, so
its name has all of them. The last few are kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from loadstone import __version__
from loadstone.cache import cache_folder, locked
from loadstone.errors import LoadstoneError
from loadstone.targets.superset.installation import Environment
from loadstone.targets.superset.part import write_private
from loadstone.targets.superset.warming import NO_VISITS, Visits

CLUSTER = "cluster"
_FACTS, _SECRETS, _VISITS = "facts.json", "secrets.json", "visits.json"
_MAKERS = ("accounts", "catalogue", "form_data", "names", "provision", "queries", "warming")
_MOST = 4
"""Further ones go, those that were not used for longest."""


@dataclass(frozen=True)
class Secrets:
    """What belongs to a state of the catalogue, made at random."""

    key: str = field(repr=False)
    """Nodes sign sessions by it."""
    admin: str = field(repr=False)
    """Password of the administrator, who provisions."""
    people: str = field(repr=False)
    """Password of every account."""

    @classmethod
    def made(cls) -> Secrets:
        """New ones."""
        return cls(secrets.token_urlsafe(42), secrets.token_urlsafe(24), secrets.token_urlsafe(18))


@dataclass(frozen=True)
class State:
    """What has to be known of data to serve from them."""

    secrets: Secrets
    visits: Visits = NO_VISITS
    """That fill the caches; none before there is any content."""


@dataclass(frozen=True)
class Kept:
    """A state that was found."""

    folder: Path
    facts: Mapping[str, float]
    state: State

    @property
    def cluster(self) -> Path:
        """The copy of PostgreSQL's data folder."""
        return self.folder / CLUSTER


def place(environment: Environment, postgresql: str, key: str) -> Path:
    """The folder of a state, whether it is there or not.

    Args:
        environment: Whose name has the versions of Superset and its libraries.
        postgresql: Version of the server, whose files are copied as they are.
        key: Of the data.
    """
    made_by = [__version__, _sources(), environment.folder.name, postgresql, key]
    digest = hashlib.sha256(json.dumps(made_by).encode()).hexdigest()[:16]
    return _all() / digest


def found(folder: Path) -> Kept | None:
    """The state in a folder, or None; it counts as used now."""
    try:
        facts = json.loads((folder / _FACTS).read_text(encoding="utf-8"))
        own = json.loads((folder / _SECRETS).read_text(encoding="utf-8"))
        visits = json.loads((folder / _VISITS).read_text(encoding="utf-8"))
        os.utime(folder)
    except (OSError, ValueError):
        return None
    return Kept(folder, facts, State(Secrets(**own), Visits.read(visits)))


def keep(
    folder: Path, copy: Callable[[Path], None], facts: Mapping[str, float], state: State
) -> None:
    """Keeps a state, unless it is kept.

    Args:
        folder: As `place` has it.
        copy: Copies PostgreSQL's data to a folder that is not there yet.
        facts: Of its making.
        state: What has to be known of it.

    Raises:
        TargetError: If it cannot be written; nothing of it is left.
    """
    states = _all()
    states.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(states / "keeping.lock"):
        if folder.is_dir():
            return
        rough = states / f".{folder.name}.rough"
        shutil.rmtree(rough, ignore_errors=True)
        rough.mkdir(mode=0o700)
        try:
            copy(rough / CLUSTER)
            write_private(rough / _FACTS, json.dumps(dict(facts)))
            write_private(rough / _SECRETS, json.dumps(asdict(state.secrets)))
            write_private(rough / _VISITS, json.dumps(state.visits.told()))
            rough.rename(folder)
        except (OSError, LoadstoneError):
            shutil.rmtree(rough, ignore_errors=True)
            raise
        _drop_others()


def _all() -> Path:
    return cache_folder() / "superset" / "states"


def _drop_others() -> None:
    whole = [path for path in _all().iterdir() if path.is_dir() and not path.name.startswith(".")]
    for path in sorted(whole, key=lambda each: each.stat().st_mtime, reverse=True)[_MOST:]:
        shutil.rmtree(path, ignore_errors=True)


def _sources() -> str:
    """Of the modules that make a state: what they made before they were changed is out of date."""
    digest = hashlib.sha256()
    for name in _MAKERS:
        digest.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    return digest.hexdigest()
