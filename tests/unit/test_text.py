"""Every file that people give is read alike, whatever editor or shell of theirs wrote it."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from essbase_shell import Shell
from hypothesis import given
from hypothesis import strategies as st

from loadstone.cli.again import again
from loadstone.cli.options import ShortForm
from loadstone.doctor.collect.log import read_log as doctors_log
from loadstone.doctor.collect.log_postgresql import PostgreSQLLog
from loadstone.doctor.rules.messages import messages_of
from loadstone.errors import WrongInputError
from loadstone.experiments.file import load_experiment
from loadstone.runner.plan import RefusalError
from loadstone.spec.model import WorkloadSpec
from loadstone.spec.plans import TrialPlan, Variant, trial_seed
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import TargetSpec
from loadstone.targets.address import password
from loadstone.text import NotTextError, decode, encoding_of, read_lines, read_text
from loadstone.workloads.archive.events_csv import read_events
from loadstone.workloads.cube.data.split import split
from loadstone.workloads.cube.essbase.log import read_log
from loadstone.workloads.cube.essbase.maxl import cycle_script
from loadstone.workloads.cube.essbase.settings import KitSettings
from loadstone.workloads.cube.outline.exchange import HEADER, read_dimension
from loadstone.workloads.cube.outline.model import Member

EXPERIMENT = """\
version: 1
name: first
title: déjà vu
workload: {name: noop}
target: {engine: none}
"""
PLAN = (
    TrialPlan(
        experiment="demo",
        trial="b01-1-base",
        variant=Variant(name="base", changes=[], step=[]),
        block=1,
        order=1,
        seed=trial_seed(1, 1),
        data_seed=1,
        workload=WorkloadSpec(name="noop"),
        target=TargetSpec(engine="none"),
        profile=ProfileSpec(),
        cache="warm",
    ).model_dump_json(indent=2)
    + "\n"
)
EVENTS = "ts,element,value,status,text\n0,pump,1.5,192,zu heiß\n1,pump,2.5,192,\n"
OUTLINE = ",".join(HEADER) + "\nRoot,Größe,+,,\nGröße,Länge,+,,\n"
CYCLES = Shell(takes_s=lambda _line: 4.25).log(cycle_script(KitSettings(0.01, 7)))
SERVER_LOG = "2026-01-01 10:00:00 LOG: déjà\n2026-01-01 10:00:01 FATAL: found it\n"

Read = Callable[[Path], object]


def _doctors(path: Path) -> object:
    facts = doctors_log(path, messages_of("postgresql"), PostgreSQLLog())
    return facts.messages, facts.span_s


def _cycles(path: Path) -> object:
    log = read_log(path)
    return log.facts, log.cycles


READERS: dict[str, tuple[str, Read]] = {
    "experiment file": (EXPERIMENT, lambda path: load_experiment(path).experiment),
    "plan of a trial": (PLAN, lambda path: again(path, ShortForm()).experiment),
    "password": ("Größe 1\n", lambda path: password(f"file:{path}")),
    "events": (EVENTS, lambda path: list(read_events(path))),
    "outline": (OUTLINE, lambda path: read_dimension(path, Member("Root", None), dense=False)),
    "log of an Essbase kit": (CYCLES, _cycles),
    "log of a server": (SERVER_LOG, _doctors),
}
"""What is read: an example, and its reader."""
AS = {
    "byte order mark": lambda text: text.encode("utf-8-sig"),
    "CR LF": lambda text: text.replace("\n", "\r\n").encode(),
    "mark and CR LF": lambda text: text.replace("\n", "\r\n").encode("utf-8-sig"),
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16 with CR LF": lambda text: text.replace("\n", "\r\n").encode("utf-16"),
    "UTF-16, low byte first": lambda text: text.encode("utf-16-le"),
    "UTF-16, high byte first": lambda text: text.encode("utf-16-be"),
    "UTF-32": lambda text: text.encode("utf-32"),
}
LOGS = {"log of an Essbase kit", "log of a server"}
"""They hold what clients sent: a byte that is no text is nothing to stop at."""


@pytest.mark.parametrize("written", AS)
@pytest.mark.parametrize("what", READERS)
def test_a_file_means_the_same_however_it_was_written(
    tmp_path: Path, what: str, written: str
) -> None:
    text, read = READERS[what]
    path = tmp_path / ("plan.json" if what == "plan of a trial" else "x.yaml")
    path.write_bytes(text.encode())
    expected = read(path)
    path.write_bytes(AS[written](text))
    assert read(path) == expected


@pytest.mark.parametrize(
    ("planted", "told"), [(b"\xe9", "byte 3 is not UTF-8"), (b"\0", "a byte is zero")]
)
@pytest.mark.parametrize("what", sorted(READERS.keys() - LOGS))
def test_bytes_that_are_no_text_are_named_with_their_place(
    tmp_path: Path, what: str, planted: bytes, told: str
) -> None:
    text, read = READERS[what]
    path = tmp_path / "x.yaml"
    path.write_bytes(text.encode() + b"ab" + planted + b"secret\n")
    line = text.count("\n") + 1
    with pytest.raises((WrongInputError, RefusalError)) as caught:
        read(path)
    assert f"line {line}: {told}" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("what", READERS)
def test_what_is_no_file_is_answered(tmp_path: Path, what: str) -> None:
    _, read = READERS[what]
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises((WrongInputError, RefusalError), match="read"):
            read(path)


@pytest.mark.parametrize("what", sorted(LOGS))
def test_a_log_is_read_though_some_bytes_are_no_text(tmp_path: Path, what: str) -> None:
    text, read = READERS[what]
    path = tmp_path / "x.log"
    path.write_bytes(text.encode())
    expected = read(path)
    path.write_bytes(b"client sent \xe9\xff\0\n" + text.encode())
    assert read(path) == expected


def test_a_file_that_is_cut_is_not_cut_within_characters(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    path.write_bytes("a,b\n1,2\n3,4\n".encode("utf-16"))
    with pytest.raises(WrongInputError, match="is UTF-16, which is not cut"):
        split(path, 2, tmp_path)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"12345")
    assert read_text(path, at_most_bytes=5) == "12345"
    with pytest.raises(WrongInputError, match="larger than"):
        read_text(path, at_most_bytes=4)


def test_a_packed_file_is_named_as_that(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"text"))
    with pytest.raises(WrongInputError, match=r"x\.gz is packed with gzip") as caught:
        read_text(path)
    assert caught.value.advice == "unpack it first: gunzip"


def test_lines_end_where_people_see_them_end(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes("a\x0cb\u2028c\r\nd\re".encode())
    assert list(read_lines(path)) == ["a\x0cb\u2028c\n", "d\n", "e"]


@given(st.binary(max_size=200))
def test_any_bytes_are_text_or_have_a_place(data: bytes) -> None:
    assert encoding_of(data)
    try:
        assert "\r" not in decode(data)
    except NotTextError as error:
        assert str(error).startswith("line ")
