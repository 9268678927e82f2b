"""The target `http`: addresses, its reset, and an application that answers or not."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from sample_web import connection, running

from loadstone.errors import LoadstoneError, TargetError, WrongInputError
from loadstone.experiments.preflight.systems import system_problems
from loadstone.host.processes import wait_ended
from loadstone.journal import Journal
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.http.address import parse
from loadstone.targets.http.greeting import greet
from loadstone.targets.http.reset import run_reset
from loadstone.targets.http.target import Http

SECRET = "s3cret-word"


@pytest.fixture
def context(tmp_path: Path) -> Iterator[TargetContext]:
    with Journal(tmp_path / "journal.jsonl", "pytest") as journal:
        yield TargetContext(journal, "pytest")


def spec(url: str = "http://127.0.0.1:8080", **fields: Any) -> TargetSpec:
    return TargetSpec.model_validate({"engine": "http", "url": url, **fields})


def said(error: LoadstoneError) -> str:
    return f"{error.message} {error.advice}"


@pytest.mark.parametrize(
    ("text", "url", "host", "port"),
    [
        ("http://a", "http://a", "a", 80),
        ("https://App.example/", "https://app.example", "app.example", 443),
        ("http://a:80/b/", "http://a/b", "a", 80),
        ("https://a:8443", "https://a:8443", "a", 8443),
        ("http://[::1]:8080/x", "http://[::1]:8080/x", "::1", 8080),
    ],
)
def test_addresses(text: str, url: str, host: str, port: int):
    address = parse(text)
    assert (address.url, address.host, address.port) == (url, host, port)


@pytest.mark.parametrize(
    "text",
    [
        *("", "a", "ftp://a", "http://", "http://a:0", "http://a:99999", "http://a b"),
        *(f"http://u:{SECRET}@a", f"http://{SECRET}@a", f"http://a?{SECRET}", f"http://a#{SECRET}"),
        f"http://a\n{SECRET}",
    ],
)
def test_what_is_no_address_is_not_repeated(text: str):
    with pytest.raises(WrongInputError) as caught:
        parse(text)
    assert SECRET not in said(caught.value)


def test_the_address_has_two_names():
    assert spec("http://a") == TargetSpec(engine="http", server="http://a")
    with pytest.raises(ValueError, match="one of the two"):
        spec("http://a", server="http://b")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"server": "embedded"}, "needs an address"),
        ({"url": "http://a", "data": "/x"}, "leave data out"),
        ({"url": "http://a", "process": {"nofile": 100}}, "leave process out"),
        ({"url": "http://a", "password": "env:A"}, "scenario logs in"),
        ({"url": "http://a", "ca": "/nowhere.pem"}, "/nowhere.pem cannot be read"),
        ({"url": "http://a", "ca": __file__}, "no certificate"),
    ],
)
def test_what_an_application_has_not(fields: dict[str, Any], words: str):
    with pytest.raises(WrongInputError) as caught:
        Http.describe(TargetSpec.model_validate({"engine": "http", **fields}))
    assert words in said(caught.value)


def test_another_address_is_the_only_setting():
    assert Http.setting(spec(), "url", "https://b").needs == "nothing"
    with pytest.raises(WrongInputError):
        Http.setting(spec(), "workers", 3)
    with pytest.raises(WrongInputError):
        Http.setting(spec(), "url", "b")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("reset", "", "empty"),
        ("reset", [], "empty"),
        ("sources", ["host"], "IP address"),
        ("reset_timeout_s", 0, "greater than or equal to 1"),
    ],
)
def test_fields_of_a_target(field: str, value: Any, words: str):
    with pytest.raises(ValueError, match=words):
        spec(**{field: value})


def test_fields_of_web_applications_are_refused_elsewhere():
    target = TargetSpec(
        engine="none", reset="true", others={"b": TargetSpec(engine="none", ca="x")}
    )
    found = system_problems(target)
    assert [each.path for each in found] == [
        ("target", "reset"),
        ("target", "others", "b", "ca"),
    ]
    assert system_problems(spec(reset="true")) == []


def test_a_missing_reset_is_told():
    (notice,) = Http.cautions(spec(), ProfileSpec())
    assert "not reset" in notice.message
    assert Http.cautions(spec(reset="true"), ProfileSpec()) == []


def test_any_answer_is_an_answer():
    with running(503) as url:
        greeting = greet(parse(url))
    assert (greeting.status, greeting.server, greeting.at, greeting.tls) == (
        503,
        "sample/1",
        "127.0.0.1",
        "",
    )


def test_nothing_answers():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    with pytest.raises(TargetError, match=f"127.0.0.1:{port} does not answer: Connection refused"):
        greet(parse(f"http://127.0.0.1:{port}"))


def test_who_accepts_and_never_answers_is_not_waited_for():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(TargetError, match=r"no answer"):
            greet(parse(url), within_s=0.05)


def test_each_trial_begins_with_the_reset(context: TargetContext, tmp_path: Path):
    count = tmp_path / "count"
    with running() as url:
        fields = spec(url, reset=f'echo "$LOADSTONE_URL" >> {count}; echo as delivered')
        target = Http(fields, context)
        target.check_access()
        target.empty(fields)
        target.restore("", fields)
        assert target.state == "as delivered\n"
        assert count.read_text().splitlines() == [url, url]
        assert target.connection() == connection(url)
        found = target.inventory()
    assert (found["url"], found["server"], found["reset"]) == (url, "sample/1", True)


def test_a_level_of_the_factor_takes_the_place_of_the_address(context: TargetContext):
    with running() as url:
        fields = spec("http://127.0.0.1:9", settings={"url": url})
        target = Http(fields, context)
        (reading,) = target.empty(fields)
        assert (reading.factor, reading.read_back) == ("target.url", url)
        assert target.connection().url == url
        assert target.state is None


def test_the_reset_may_be_a_list_of_words():
    assert run_reset(["echo", "a  b"], "http://a", 10) == "a  b\n"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("echo first >&2; echo locked >&2; exit 3", "exit code 3: locked"),
        ("kill -9 $$", "ended by signal 9"),
        (["/nowhere/program"], "No such file"),
    ],
)
def test_a_reset_that_fails(command: str | list[str], words: str):
    with pytest.raises(TargetError) as caught:
        run_reset(command, "http://a", 30)
    assert words in caught.value.message


def test_a_reset_that_does_not_end_is_ended_with_what_it_started(tmp_path: Path):
    pid = tmp_path / "pid"
    with pytest.raises(TargetError, match="longer than 1 s"):
        run_reset(f"sleep 600 & echo $! > {pid}; wait", "http://a", 1)
    with contextlib.suppress(psutil.NoSuchProcess):
        assert wait_ended([psutil.Process(int(pid.read_text()))], 10)
