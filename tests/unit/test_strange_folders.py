"""Folders with blanks, quotes and other signs, in the scripts and the SQL of engines."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from loadstone.cache import cache_folder
from loadstone.cli.main import run_command
from loadstone.errors import ExitCode, WrongInputError
from loadstone.journal import state_dir
from loadstone.spec.target import TargetSpec
from loadstone.targets.local.engine_folders import EngineFolders
from loadstone.targets.mariadb import values as mariadb
from loadstone.targets.postgresql import values as postgresql
from loadstone.targets.quoting import escaped, quoted, read_by_duckdb
from loadstone.targets.registry import TARGETS, target_for

STRANGE = 'it\'s a "strange" näme [x] {a,b} #1 %s $HOME;&*?'


def test_duckdb_reads_and_writes_files_of_any_name(tmp_path: Path):
    folder = tmp_path / STRANGE
    folder.mkdir()
    file, other = folder / "rows.parquet", folder / "row2.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 1 AS n) TO {quoted(file)} (FORMAT parquet)")
        connection.execute(f"COPY (SELECT 2 AS n) TO {quoted(other)} (FORMAT parquet)")
        found = connection.execute(f"SELECT n FROM read_parquet([{read_by_duckdb(file)}])")
        assert found.fetchall() == [(1,)]
    assert sorted(folder.iterdir()) == sorted([file, other])


def test_a_text_with_quotes_and_backslashes_is_one_text():
    assert quoted("it's \\") == "'it''s \\'"
    assert escaped("it's \\") == "'it\\'s \\\\'"


def test_servers_are_told_one_folder():
    folder = Path('/a "b", c')
    assert postgresql.listed(folder) == '"/a ""b"", c"'
    assert mariadb.option_line("tmpdir", str(folder)) == 'tmpdir = "/a \\"b\\", c"\n'


@pytest.mark.parametrize("name", ["a,b", "x" * 100])
def test_a_socket_lies_elsewhere_if_its_folder_does_not_fit(name: str):
    assert EngineFolders.socket_fits(Path("/data/plain/socket"), ".s.PGSQL.5432")
    assert not EngineFolders.socket_fits(Path("/data") / name, ".s.PGSQL.5432")


@pytest.mark.parametrize("engine", sorted(TARGETS))
def test_a_folder_that_an_engine_misreads_is_refused_before_anything_is_begun(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LOADSTONE_CACHE", str(tmp_path / "cache"))
    signs = {"mariadb": ":;"}.get(engine, getattr(TARGETS[engine], "unfit_signs", ""))
    for sign in signs:
        spec = TargetSpec(engine=engine, data=str(tmp_path / f"a{sign}b"))
        with pytest.raises(WrongInputError, match="cannot use a folder with"):
            target_for(spec).describe(spec)


# -- homes --------------------------------------------------------------------------------------


@pytest.fixture
def in_place_of_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("LOADSTONE_STATE", "LOADSTONE_CACHE", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("loadstone.folders_of_user._IN_PLACE_OF_HOME", tmp_path)
    return tmp_path


def test_a_user_without_a_home_has_folders_of_their_own(
    in_place_of_home: Path, monkeypatch: pytest.MonkeyPatch
):
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", unknown)
    for folder in (state_dir(), cache_folder()):
        assert folder.parent.parent == in_place_of_home
        assert folder.parent.stat().st_mode & 0o777 == 0o700
    assert state_dir() != cache_folder()


def test_a_home_that_cannot_be_written_is_left_alone(
    in_place_of_home: Path, monkeypatch: pytest.MonkeyPatch
):
    file = in_place_of_home / "file"
    file.write_text("no folder")
    monkeypatch.setenv("HOME", str(file))
    assert state_dir().parent.parent == in_place_of_home
    assert cache_folder().parent.parent == in_place_of_home


def test_a_folder_of_somebody_else_is_not_used(
    in_place_of_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    import os

    (tmp_path / "theirs").mkdir()
    (in_place_of_home / f"loadstone-of-{os.getuid()}").symlink_to(tmp_path / "theirs")
    monkeypatch.setenv("HOME", "/proc/version")
    with pytest.raises(WrongInputError, match="belongs to somebody else"):
        state_dir()


# -- words of the command line ------------------------------------------------------------------


@pytest.mark.parametrize("words", [["--results=~/x"], ["--results", "~/x"]])
def test_a_home_behind_an_equals_sign_is_the_home(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "500")
    assert run_command(["list", *words]) == ExitCode.OK
    assert f"no results in {tmp_path}/x" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("~no-such-user/x", "the home ~no-such-user is not known here"),
        ("file:~/x", "write the folder itself"),
        ("file:///x", "write the folder itself"),
    ],
)
def test_what_is_no_folder_is_refused(
    word: str,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "500")
    monkeypatch.chdir(tmp_path)
    words = ["run", "noop", "--target", "none", f"--results={word}"]
    assert run_command(words) == ExitCode.WRONG_INPUT
    assert told in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["run", "noop", "--target", "none"], ExitCode.WRONG_INPUT),
        (["list"], ExitCode.OK),
        (["recover"], ExitCode.OK),
    ],
)
def test_a_state_folder_that_cannot_be_written_is_said_in_a_line(
    words: list[str],
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    (tmp_path / "file").touch()
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "file" / "below"))
    monkeypatch.setenv("COLUMNS", "500")
    monkeypatch.chdir(tmp_path)
    assert run_command(words) == code
    said = capsys.readouterr().err
    assert code == ExitCode.OK or str(tmp_path / "file") in said
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    assert "error in Loadstone" not in said
