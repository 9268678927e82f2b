"""What fio writes besides its figures, and what becomes of figures that are none."""

from __future__ import annotations

import json

import pytest

from loadstone.fio.output import parse_output

WHOLE = json.dumps({"fio version": "fio-3.33", "jobs": [{"jobname": "a", "iops": 1.5}]}, indent=2)
LAST = WHOLE.replace("1.5", "2.5")
BEFORE = (
    "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be 1\n"
    "fio: io_u error on file {a}/x: Input/output error: read offset=0, buflen=4096\n"
)


def iops(text: str) -> float:
    document = parse_output(text).document
    assert document is not None
    figure: float = document["jobs"][0]["iops"]
    return figure


def test_notes_before_and_after_are_kept_and_a_brace_in_one_fools_nobody() -> None:
    output = parse_output(f"{BEFORE}{WHOLE}\nCPU mask cannot bind\n")
    assert output.document == json.loads(WHOLE)
    assert output.notes == (*BEFORE.splitlines(), "CPU mask cannot bind")
    assert not output.cut


@pytest.mark.parametrize("note", ["note {}", '{"jobs": []}', "{", "}", '{"a": {"b": 1}}'])
def test_a_note_that_looks_like_json_is_a_note(note: str) -> None:
    output = parse_output(f"{note}\n{WHOLE}\n{note}\n")
    assert output.document == json.loads(WHOLE)
    assert output.notes == (note,)


def test_of_several_documents_the_last_whole_one_counts() -> None:
    assert iops(f"{WHOLE}\nbetween\n{LAST}\n") == 2.5
    assert iops(f"{WHOLE}{LAST}") == 2.5
    assert parse_output(f"{WHOLE}\nbetween\n{LAST}\n").notes == ("between",)
    half = LAST[: len(LAST) // 2]
    output = parse_output(f"{WHOLE}\n{half}")
    assert output.document == json.loads(WHOLE)
    assert output.cut
    assert output.documents == 1


@pytest.mark.parametrize("end", range(25, len(WHOLE) - 1, 7))
def test_a_document_that_is_cut_anywhere_is_none(end: int) -> None:
    output = parse_output(BEFORE + WHOLE[:end])
    assert output.document is None
    assert output.cut


@pytest.mark.parametrize("text", ["", "\n", "fio: stuck grabbing stat_sem, forcibly exiting\n"])
def test_no_document_is_no_document(text: str) -> None:
    output = parse_output(text)
    assert output.document is None
    assert not output.cut
    assert output.notes == tuple(filter(None, [text.strip()]))


@pytest.mark.parametrize("word", ["nan", "-nan", "inf", "-inf", "NaN"])
def test_a_figure_that_is_none_is_missing_and_hides_no_other(word: str) -> None:
    text = WHOLE.replace("1.5", f'{word}, "bw" : 7')
    document = parse_output(f"{text}\nnote: mean is nan here\n")
    assert document.document is not None
    assert document.document["jobs"][0] == {"jobname": "a", "iops": None, "bw": 7}
    assert document.notes == ("note: mean is nan here",)
