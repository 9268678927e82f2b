"""Results that were copied from elsewhere: no index, read-only, some files damaged."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sample_frames import encoded
from sample_results import Sample, compare, write_results

from loadstone.cli.main import run_command
from loadstone.errors import ExitCode
from loadstone.report import export, html
from loadstone.report.document import build_document
from loadstone.report.model.document import ReportDocument
from loadstone.results.files import whole_file, write_atomically
from loadstone.results.latency import LatencyLog
from loadstone.results.record import Status
from loadstone.results.store import INDEX_FILE

READERS = (
    ("list", "--json"),
    ("show", "shared-buffers", "--json"),
    ("show", "shared", "--json"),
    ("export", "shared-buffers", "--json"),
    ("compare", "shared-buffers:shared_buffers=128MB", "shared-buffers:shared_buffers=1GB"),
    ("report", "shared-buffers", "--html", "{elsewhere}/report.html"),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment as it was made; each test has a copy."""
    root = tmp_path_factory.mktemp("made")
    return write_results(root, compare(repeats=1), Sample(tick_s=10.0))


@pytest.fixture
def results(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of results that somebody has copied, and that is no working folder."""
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    shutil.copytree(made, tmp_path / "copied" / made.name)
    return tmp_path / "copied"


def everything(folder: Path) -> dict[str, tuple[int, int]]:
    found = {path: path.stat() for path in [folder, *folder.rglob("*")]}
    return {str(path): (each.st_mtime_ns, each.st_size) for path, each in found.items()}


@pytest.mark.parametrize(
    ("words", "index"),
    [
        *((READERS[0], index) for index in (None, "of others", "of an old release")),
        *((words, "damaged") for words in READERS),
    ],
    ids=str,
)
def test_whoever_reads_needs_no_index_and_writes_nothing(
    words: tuple[str, ...],
    index: str | None,
    results: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if index == "damaged":
        (results / INDEX_FILE).write_text("no index" * 100)
    elif index is not None:
        other = tmp_path / "other"
        other.mkdir()
        assert run_command(["reindex", "--results", str(other)]) == ExitCode.OK
        shutil.copy(other / INDEX_FILE, results / INDEX_FILE)
        if index == "of an old release":
            _drop_column(results / INDEX_FILE)
    before = everything(results)
    given = [word.format(elsewhere=tmp_path) for word in words]
    assert run_command([*given, "--results", str(results)]) == ExitCode.OK
    assert everything(results) == before
    assert not list((tmp_path / "work").iterdir())
    assert "shared-buffers" in (said := capsys.readouterr()).out or words[0] == "report", said


def _drop_column(index: Path) -> None:
    import sqlite3

    with sqlite3.connect(index) as connection:
        connection.execute("ALTER TABLE trials DROP COLUMN crash")
    connection.close()


def test_what_the_index_does_not_know_is_listed_and_what_is_gone_is_not(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["reindex", "--results", str(results)]) == ExitCode.OK
    (results / "shared-buffers").rename(results / "renamed")
    (results / "broken").mkdir()
    (results / "broken" / "experiment.json").write_text("{")
    capsys.readouterr()
    assert run_command(["list", "--results", str(results), "--json"]) == ExitCode.OK
    said = capsys.readouterr()
    assert [row["name"] for row in json.loads(said.out)["results"]] == ["renamed"]
    assert "broken/experiment.json is damaged: it is not a whole JSON document" in said.err


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (("--workload", "oltp"), 1),
        (("--workload", "dss"), 0),
        (("--status", "valid"), 1),
        (("--status", "failed"), 0),
        (("--name", "SHARED"), 1),
        (("--name", "x_"), 0),
    ],
)
def test_the_list_can_be_narrowed(
    options: tuple[str, ...], count: int, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["list", "--results", str(results), "--json", *options]) == ExitCode.OK
    assert len(json.loads(capsys.readouterr().out)["results"]) == count


@pytest.mark.parametrize("words", [("show",), ("export",), ("report",)])
def test_a_named_results_folder_wins_over_the_current_one(
    words: tuple[str, ...], results: Path, made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, title in ((made.name, "here"), ("only-here", "here")):
        shutil.copytree(made, name)
        experiment = json.loads((Path(name) / "experiment.json").read_text())
        (Path(name) / "experiment.json").write_text(json.dumps({**experiment, "title": title}))
    there = ("--results", str(results), "--json")
    assert run_command([*words, made.name, *there]) == ExitCode.OK
    assert '"title": "here"' not in capsys.readouterr().out
    assert not (Path(made.name) / "report.html").exists()
    assert run_command([*words, "only-here", *there]) == ExitCode.WRONG_INPUT
    assert "write ./only-here" in capsys.readouterr().err
    assert run_command([*words, "./only-here", *there]) == ExitCode.OK
    assert run_command([*words, "only-here", "--json"]) == ExitCode.OK


def test_the_current_folder_may_be_the_result(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trial = sorted((results / "shared-buffers").glob("b*"))[0]
    monkeypatch.chdir(trial)
    assert run_command(["show", "."]) == ExitCode.OK
    assert trial.name in capsys.readouterr().out
    assert run_command(["show", "..", "--json"]) == ExitCode.OK
    assert '"name": "shared-buffers"' in capsys.readouterr().out


def remove(path: Path) -> None:
    path.unlink()


def cut(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def scribble(path: Path) -> None:
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + b"\x00\xff" * 8 + whole[middle + 16 :])


FILES = ("plan.json", "result.json", "inventory.json", "frames.jsonl.zst", "samples.parquet")


@pytest.mark.parametrize("harm", [remove, cut, scribble])
@pytest.mark.parametrize("file", FILES)
def test_a_file_of_a_trial_that_is_missing_or_damaged_is_named(
    file: str, harm: Callable[[Path], None], results: Path
) -> None:
    trial = sorted((results / "shared-buffers").glob("b*"))[0]
    harm(trial / file)
    document = build_document(results / "shared-buffers")
    said = [n for n in document.notices if n.code in ("damaged-file", "unreadable-trial")]
    assert len(said) == 1, document.notices
    assert str(trial / file) in said[0].message
    assert len(document.trials) == (1 if file in ("plan.json", "result.json") else 2)


@pytest.fixture
def with_lines(results: Path) -> Path:
    """A trial with the files of lines that a run leaves."""
    trial = sorted((results / "shared-buffers").glob("b*"))[0]
    histogram = encoded([1_000_000, 2_000_000])
    assert histogram is not None
    with (trial / "latency.hlog").open("w") as file:
        log = LatencyLog(file, start_unix_s=1.0)
        for second in range(3):
            log.append("measure/new-order/response", second, second + 1, histogram)
    (trial / "journal.jsonl").write_text('{"event": "begin"}\n{"event": "end"}\n')
    (trial / "target.log").write_bytes(b"LOG:  ready\n\xff")
    return trial


@pytest.mark.parametrize("file", ["latency.hlog", "journal.jsonl"])
@pytest.mark.parametrize(("harm", "told"), [(cut, "ends early"), (scribble, "is damaged after")])
def test_a_damaged_file_of_lines_is_named(
    file: str, harm: Callable[[Path], None], told: str, with_lines: Path
) -> None:
    assert not [n for n in build_document(with_lines.parent).notices if n.code == "damaged-file"]
    harm(with_lines / file)
    notices = [n for n in build_document(with_lines.parent).notices if n.code == "damaged-file"]
    assert [f"{with_lines / file} {told}" in each.message for each in notices] == [True]


@pytest.mark.parametrize("harm", [remove, scribble])
def test_what_a_report_does_not_need_never_stops_one(
    harm: Callable[[Path], None], with_lines: Path
) -> None:
    for file in ("latency.hlog", "journal.jsonl", "target.log"):
        harm(with_lines / file)
    assert len(build_document(with_lines.parent).trials) == 2
    assert run_command(["show", str(with_lines.parent)]) == ExitCode.OK


def test_a_whole_folder_has_no_such_notice(results: Path) -> None:
    codes = {notice.code for notice in build_document(results / "shared-buffers").notices}
    assert not {"damaged-file", "unreadable-trial"} & codes


def test_the_end_that_a_killed_run_did_not_write_is_no_damage(results: Path) -> None:
    trial = sorted((results / "shared-buffers").glob("b*"))[0]
    cut(trial / "frames.jsonl.zst")
    result = json.loads((trial / "result.json").read_text())
    (trial / "result.json").write_text(json.dumps({**result, "status": Status.INTERRUPTED}))
    codes = {notice.code for notice in build_document(results / "shared-buffers").notices}
    assert "damaged-file" not in codes


@pytest.mark.parametrize("harm", [remove, cut])
def test_a_folder_without_its_design_still_has_the_variants_of_its_trials(
    harm: Callable[[Path], None], results: Path
) -> None:
    harm(results / "shared-buffers" / "design.json")
    document = build_document(results / "shared-buffers")
    assert {variant.name for variant in document.variants} == {
        "shared_buffers=128MB",
        "shared_buffers=1GB",
    }
    (said,) = (notice for notice in document.notices if notice.code == "damaged-file")
    assert "design.json" in said.message


def test_the_command_that_repeats_a_trial_names_it_where_it_lies(results: Path) -> None:
    trial = sorted((results / "shared-buffers").glob("b*"))[0]
    result = json.loads((trial / "result.json").read_text())
    old = {**result, "repeat_command": "loadstone run results/elsewhere/plan.json"}
    (trial / "result.json").write_text(json.dumps(old))
    document = build_document(results / "shared-buffers")
    again = {each.result.trial: each.result.repeat_command for each in document.trials}
    assert again[trial.name] == f"loadstone run {trial / 'plan.json'}"


Writer = Callable[[ReportDocument, Path], None]


@pytest.mark.parametrize("write", [html.write_html, export.export_csv, export.export_parquet])
def test_a_report_is_written_whole_or_not_at_all(
    write: Writer, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = build_document(results / "shared-buffers")
    monkeypatch.setattr(html, "read_bundle", lambda: f"<p>{html.PLACEHOLDER}</p>")
    path = tmp_path / "report"
    path.write_text("old")
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", _full)
        with pytest.raises(Exception, match="No space left"):
            write(document, path)
    assert path.read_text() == "old"
    write(document, path)
    assert len(path.read_bytes()) > 100
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def _full(_file: object) -> None:
    raise OSError(28, "No space left on device")


def test_what_is_no_regular_file_is_never_replaced(tmp_path: Path) -> None:
    link = tmp_path / "null"
    link.symlink_to("/dev/null")
    write_atomically(link, "text")
    assert link.is_symlink()
    assert Path("/dev/null").is_char_device()
    other = tmp_path / "link"
    other.symlink_to(tmp_path / "file")
    with whole_file(other) as draft:
        draft.write_text("new")
    assert other.is_symlink()
    assert (tmp_path / "file").read_text() == "new"
