"""Superset's environment, what is kept of it from run to run, and its accounts."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from loadstone.errors import DiskFullError, TargetError
from loadstone.spec.dashboards import Account, default_content
from loadstone.targets.superset import accounts, accounts_file, installation, kept
from loadstone.targets.superset.installation import Environment
from loadstone.targets.superset.kept import Secrets, State
from loadstone.targets.superset.warming import Visits


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOADSTONE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


# -- the environment ---------------------------------------------------------------------------
def test_every_package_has_one_version() -> None:
    pins = installation.pinned()
    assert pins["apache-superset"] == installation.VERSION
    assert (pins["flask-caching"], pins["greenlet"], pins["gevent"]) == (
        "2.3.1",
        "3.1.1",
        "24.11.1",
    )
    assert {"rich", "cachetools", "psycopg2-binary", "gunicorn", "redis"} <= pins.keys()


def test_the_folder_is_named_by_the_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "_interpreter", lambda: ("python3.12", (3, 12)))
    found = installation.environment()
    assert found.folder.name.startswith(f"{installation.VERSION}-py312-")
    assert not found.is_there


def pretended(folder: Path, **versions: str) -> Environment:
    """An environment of which the installers' marks are there."""
    packages = folder / "lib" / "python3.11" / "site-packages"
    for name, version in {**installation.pinned(), **versions}.items():
        (packages / f"{name.replace('-', '_')}-{version}.dist-info").mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(sys.executable)
    return Environment(folder)


def test_one_that_is_there_is_used_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    pretended(installation.environment().folder)
    monkeypatch.setattr(installation, "_run", lambda _: pytest.fail("nothing is installed"))
    assert installation.installed() == installation.environment()


def test_a_version_that_somebody_has_changed_is_named() -> None:
    pretended(installation.environment().folder, **{"flask-caching": "2.5.0"})
    with pytest.raises(TargetError, match=r"has flask-caching 2\.5\.0, where .* needs 2\.3\.1"):
        installation.installed()


@pytest.mark.parametrize(
    ("said", "told", "kind"),
    [
        (
            "error: Request failed after 3 retries\n Caused by: Failed to fetch: "
            "`https://pypi.org/simple/rich/`\n dns error: failed to lookup",
            "the package index does not answer: error: Request failed",
            TargetError,
        ),
        (
            "WARNING: Retrying ... NewConnectionError: Connection refused\nERROR: No matching "
            "distribution found for rich==1",
            "the package index does not answer",
            TargetError,
        ),
        (
            "No solution found when resolving dependencies: there is no version of rich==99",
            "the package index has not all of its versions: No solution",
            TargetError,
        ),
        ("error: failed to write: No space left on device (os error 28)", "disk", DiskFullError),
        ("Error: Command '... ensurepip' returned 1", "cannot make environments", TargetError),
        ("a surprise", "uv said: a surprise", TargetError),
    ],
)
def test_an_installation_that_fails_is_named_as_what_it_is(
    said: str, told: str, kind: type[TargetError], monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    def failed(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", said)

    monkeypatch.setattr(installation.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(installation.subprocess, "run", failed)
    with pytest.raises(kind, match=told):
        installation.installed()
    assert [path.name for path in (cache / "superset").iterdir()] == ["installing.lock"]


def test_a_disk_that_is_too_small_is_named_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "SIZE_BYTES", 1 << 60)
    with pytest.raises(TargetError, match="Superset needs"):
        installation.installed()


def test_another_python_of_this_machine_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation.sys, "version_info", type("V", (), {"major": 3, "minor": 14}))
    monkeypatch.setattr(installation.shutil, "which", lambda _: None)
    with pytest.raises(TargetError, match=r"runs on Python 3\.11 and 3\.12; this one is 3\.14"):
        installation._interpreter()
    monkeypatch.setattr(installation.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert installation._interpreter() == ("/usr/bin/python3.12", (3, 12))


# -- states ------------------------------------------------------------------------------------
STATE = State(Secrets.made(), Visits(("user000001",), ({"queries": []},)))


def kept_as(key: str) -> Path:
    folder = kept.place(Environment(Path("/x/6.1.0")), "PostgreSQL 18.4", key)
    kept.keep(folder, lambda to: to.mkdir(), {"accounts": 3.0}, STATE)
    return folder


def test_a_state_is_found_again_with_all_that_belongs_to_it() -> None:
    folder = kept_as("data")
    found = kept.found(folder)
    assert found is not None
    assert (found.state, found.facts) == (STATE, {"accounts": 3.0})
    assert found.cluster.is_dir()
    secrets = folder / "secrets.json"
    assert secrets.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


def test_no_secret_is_shown() -> None:
    assert STATE.secrets.people not in repr(STATE)
    assert STATE.secrets.key not in repr(STATE)


def test_other_versions_have_other_states() -> None:
    made = {
        kept.place(Environment(Path(folder)), postgresql, key)
        for folder in ("/x/6.1.0", "/x/6.2.0")
        for postgresql in ("18.4", "17.0")
        for key in ("a", "b")
    }
    assert len(made) == 8


def test_the_states_that_were_not_used_for_longest_go() -> None:
    folders = [kept_as(str(number)) for number in range(kept._MOST)]
    for age, folder in enumerate(reversed(folders)):
        os.utime(folder, (1e9 - age, 1e9 - age))
    assert kept.found(folders[0]) is not None  # used now
    kept_as("one more")
    assert [folder.is_dir() for folder in folders] == [True, False, True, True]


def test_one_that_cannot_be_copied_leaves_nothing(cache: Path) -> None:
    folder = kept.place(Environment(Path("/x")), "18.4", "data")

    def no_room(to: Path) -> None:
        to.mkdir()
        raise TargetError("no room")

    with pytest.raises(TargetError):
        kept.keep(folder, no_room, {}, STATE)
    assert [path.name for path in (cache / "superset" / "states").iterdir()] == ["keeping.lock"]
    assert kept.found(folder) is None


# -- accounts ----------------------------------------------------------------------------------
def test_hashes_are_those_that_werkzeug_checks() -> None:
    method, salt, digest = accounts.usual_hash("word").split("$")
    assert method == "scrypt:32768:8:1"
    made = hashlib.scrypt(b"word", salt=salt.encode(), n=32768, r=8, p=1, maxmem=2**26)
    assert digest == made.hex()
    method, salt, digest = accounts.quick_hash("word").split("$")
    assert method == "pbkdf2:sha256:1000"
    assert digest == hashlib.pbkdf2_hmac("sha256", b"word", salt.encode(), 1000).hex()


def test_everybody_reads_and_some_see_one_region_alone() -> None:
    people = [Account("ann", ""), Account("bob", "ASIA")]
    rows = list(accounts._rows(people, {"": 6, "ASIA": 9}))
    assert rows == [(1, "ann", [6]), (2, "bob", [6, 9])]
    with pytest.raises(TargetError, match="'eve' is of region 'MARS'"):
        list(accounts._rows([Account("eve", "MARS")], {"": 6}))


def test_the_file_of_accounts_has_no_password() -> None:
    content = default_content(7)
    path = accounts_file.file_of(content)
    lines = path.read_text().splitlines()
    assert lines[:3] == [
        "username,region,address",
        "user000001,,10.0.0.1",
        "user000002,AFRICA,10.0.0.2",
    ]
    assert len(lines) == 8
    assert accounts_file.file_of(content) == path
