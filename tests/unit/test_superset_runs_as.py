"""As whom the parts of Superset run, and where their environment lies."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from loadstone.placements.account import Account, own_account
from loadstone.targets.superset import installation, runs_as
from loadstone.targets.superset.installation import Environment
from loadstone.targets.superset.part import write_private

OWN, SYSTEM = "/root/.cache/loadstone", "/usr/bin/python3.11"


@dataclass(frozen=True)
class Bounded(Account):
    """An account that may enter some folders, and run some programs, only."""

    enters: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()

    def can_enter(self, folder: Path) -> bool:
        return str(folder) in self.enters

    def can_run(self, command: Sequence[str | Path]) -> bool:
        return str(command[0]) in self.runs


@pytest.fixture(autouse=True)
def _asked_anew() -> Iterator[None]:
    runs_as._found.cache_clear()
    yield
    runs_as._found.cache_clear()


def found(
    monkeypatch: pytest.MonkeyPatch, account: Account, *, named: str | None = None, own: str = OWN
) -> runs_as.RunsAs:
    monkeypatch.setattr(runs_as, "server_account", lambda: account)
    monkeypatch.setattr(runs_as, "_existing", lambda folder: folder)
    monkeypatch.setattr(runs_as, "_of_system", lambda: iter([(SYSTEM, (3, 11))]))
    return runs_as._found(named, Path(own))


def test_an_ordinary_user_runs_all_of_it_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    account = Account("me", 1000, 1000, switch=False)
    assert found(monkeypatch, account) == runs_as.RunsAs(account, Path(OWN))


def test_root_hands_it_to_an_account_that_reads_the_shared_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    account = Bounded("pg", 101, 104, switch=True, runs=(SYSTEM,))
    chosen = found(monkeypatch, account)
    assert (chosen.account, chosen.cache) == (account, runs_as.SHARED_CACHE)
    assert (chosen.python, chosen.why) == ((SYSTEM, (3, 11)), "")


def test_a_cache_that_the_account_may_enter_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    account = Bounded("pg", 101, 104, switch=True, enters=("/srv",), runs=(SYSTEM,))
    assert found(monkeypatch, account, named="/srv", own="/srv").cache == Path("/srv")


@pytest.mark.parametrize(
    ("runs", "named", "why"),
    [
        ((), None, "pg may run no Python 3.11 or 3.12 in /usr/bin, /usr/local/bin"),
        ((SYSTEM,), OWN, f"pg may not enter {OWN}, which LOADSTONE_CACHE names"),
    ],
)
def test_it_runs_as_root_where_nothing_else_is_possible_and_says_why(
    runs: tuple[str, ...], named: str | None, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = found(monkeypatch, Bounded("pg", 101, 104, switch=True, runs=runs), named=named)
    assert (chosen.account, chosen.cache) == (own_account(), Path(OWN))
    assert chosen.why == why


def test_what_is_written_for_an_account_is_read_by_it_alone(tmp_path: Path) -> None:
    given: list[Path] = []

    class Owner(Account):
        def own(self, path: Path) -> None:
            given.append(path)

    write_private(tmp_path / "a", "secret", Owner("pg", 101, 104, switch=True))
    assert given == [tmp_path / "a"]
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


def test_packages_that_are_there_are_not_loaded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, shared = tmp_path / "own", tmp_path / "shared"
    monkeypatch.setenv("LOADSTONE_CACHE", str(own))
    had = own / "superset" / "6"
    packages = had / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "flask.py").write_text("1")
    (had / "bin").mkdir()
    (had / "bin" / "python").symlink_to(sys.executable)
    ran: list[Sequence[str]] = []
    monkeypatch.setattr(installation, "SIZE_BYTES", 0)
    monkeypatch.setattr(installation.shutil, "which", lambda name: f"/usr/bin/{name}")

    def run(command: Sequence[str]) -> None:
        ran.append(command)
        Path(shared / ".6.rough").mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(installation, "_run", run)
    shared.mkdir()
    installation._install(Environment(shared / "6").folder)
    taken = shared / "6" / "lib" / "python3.11" / "site-packages" / "flask.py"
    assert taken.samefile(packages / "flask.py")  # one file, no space
    assert [command[1] for command in ran] == ["venv", "pip"]  # what is missing comes last
