"""Every option that fio knows is allowed or refused by name, and no form lets a path through."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.workloads.storage.jobs.options import ALIASES, ALLOWED, REFUSED, refusal

needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
ENGINES = ALLOWED["ioengine"].form.split("|")
NO_FILES_OF_THEIR_OWN = ("filename", "description")


def asked(question: str) -> list[str]:
    answer = subprocess.run(["fio", question], capture_output=True, text=True, check=False)
    return answer.stdout.splitlines()


def known(question: str) -> list[str]:
    lines = [line for line in asked(question) if ":" in line]
    return [re.split(r"[\s:]", line.strip(), maxsplit=1)[0] for line in lines]


@needs_fio
def test_every_option_of_fio_is_allowed_or_refused_by_name() -> None:
    options = known("--cmdhelp") + [each for name in ENGINES for each in known(f"--enghelp={name}")]
    assert len(options) > 200
    assert [each for each in options if each not in ALLOWED and each not in REFUSED] == []


def test_no_option_is_allowed_and_refused() -> None:
    assert not ALLOWED.keys() & REFUSED.keys()
    assert not ALIASES.keys() & (ALLOWED.keys() | REFUSED.keys())
    assert set(ALIASES.values()) <= ALLOWED.keys()


@needs_fio
def test_aliases_are_those_of_fio() -> None:
    for option in sorted(set(ALIASES.values())):
        said = " ".join(asked(f"--cmdhelp={option}"))
        found = re.findall(r"alias: (\S+)", said)
        assert found == [alias for alias, name in ALIASES.items() if name == option]


def test_the_page_names_the_allowed_ones() -> None:
    page = (Path(__file__).parents[2] / "docs" / "storage-baselines.md").read_text()
    table = page.partition("Allowed are:")[2].partition("## ")[0]
    named = set(re.findall(r"`([a-z_0-9]+)`", table)) - set(ENGINES) | {"sync"}
    assert named == ALLOWED.keys()


def test_each_has_its_reason() -> None:
    assert all(each.why and each.what for each in ALLOWED.values())
    assert all(REFUSED.values())
    assert refusal("brand_new_option", "1") == "it is no option that Loadstone knows"


@pytest.mark.parametrize("option", sorted(set(ALLOWED) - set(NO_FILES_OF_THEIR_OWN)))
@pytest.mark.parametrize(
    "value",
    ["/etc/passwd", "../x", "a:/dev/sda", "external:./x.so", "$(id)", "`id`", "$jobname", "1;id"],
)
def test_no_value_leads_to_a_file_or_a_shell(option: str, value: str) -> None:
    assert refusal(option, value) is not None


@given(st.sampled_from(sorted(ALLOWED)), st.text(max_size=30))
def test_what_is_allowed_has_no_sign_of_a_shell_or_a_folder(option: str, value: str) -> None:
    if option != "description" and refusal(option, value) is None:
        assert re.fullmatch(r"[A-Za-z0-9_.,:/%-]*", value)
        assert "/" not in value or option == "bssplit"
        assert not value.startswith("/")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("rw", "trim"),
        ("rw", "randread:8"),
        ("ioengine", "exec"),
        ("ioengine", "./x.so"),
        ("filename", "a:b"),
        ("filename", "sub/a"),
        ("size", "10%"),
        ("size", "4ki"),
        ("size", "0"),
        ("runtime", "-1"),
        ("direct", "2"),
    ],
)
def test_values_of_another_form_are_refused(option: str, value: str) -> None:
    assert str(refusal(option, value)).startswith("its value must be")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("rw", "randrw"),
        ("bs", "4k,8k"),
        ("bssplit", "8k/70:16k/30"),
        ("size", "64m"),
        ("stonewall", ""),
        ("runtime", "30"),
        ("filename", "data.1"),
        ("rate", "10m,5m"),
        ("description", "what it is: pages, and more"),
    ],
)
def test_values_of_the_form_are_taken(option: str, value: str) -> None:
    assert refusal(option, value) is None
