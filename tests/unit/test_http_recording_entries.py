"""Which entries of a recording are asked again, and how they become steps of transactions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recordings import ORIGIN, Recorded, logged_in

from loadstone.errors import WrongInputError
from loadstone.workloads.http.har.choosing import Choice, choose
from loadstone.workloads.http.har.composing import compose
from loadstone.workloads.http.har.reading import read_har
from loadstone.workloads.http.har.transactions import Story, tell


def chosen(recorded: Recorded, folder: Path, *hosts: str, keep_static: bool = False) -> Choice:
    recording = read_har(recorded.write(folder / "r.har"))
    return choose(recording, hosts, keep_static=keep_static)


def paths(choice: Choice) -> list[str]:
    return [each.asked.path for each in choice.exchanges]


def reasons(choice: Choice) -> list[str]:
    return [each.reason for each in choice.left_out]


def told(recorded: Recorded, folder: Path, log_in: int | None = None, gap_s: float = 1.0) -> Story:
    return tell(chosen(recorded, folder).exchanges, log_in, gap_s, ())


def shape(story: Story) -> list[tuple[str, list[list[str]]]]:
    """Name and steps of each transaction, each step as its paths."""
    return [
        (each.name, [[own.asked.path for own in step] for step in each.steps])
        for each in story.transactions
    ]


# -- what is left out ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"kind": "script"}, "a static file"),
        ({"media": "image/png"}, "a static file"),
        ({"path": "/x/app.css", "kind": ""}, "a static file"),
        ({"path": "/x/app.css", "kind": "image", "status": 302}, "a static file"),
        ({"path": "https://cdn.example/x.js"}, "of another host: --host cdn.example takes it"),
        ({"path": "http://app.example:8080/"}, "of another host: --host app.example:8080"),
        ({"path": "data:image/png;base64,AAAA"}, "its address is not one of HTTP"),
        ({"path": "blob:https://app.example/1"}, "its address is not one of HTTP"),
        ({"path": "wss://app.example/feed", "status": 101}, "a WebSocket"),
        ({"kind": "websocket"}, "a WebSocket"),
        (
            {"method": "OPTIONS", "headers": {"Access-Control-Request-Method": "PUT"}},
            "a preflight request",
        ),
        ({"status": 0}, "it has no answer"),
        ({"status": -1}, "it has no answer"),
        ({"status": 304}, "answered by the browser's cache"),
        ({"_fromCache": "disk"}, "answered by the browser's cache"),
        ({"media": "text/event-stream"}, "a stream of events"),
        ({"kind": "csp-violation-report", "method": "POST"}, "a report of the browser"),
        ({"method": "PROPFIND"}, "its method is none of GET"),
        ({"method": "POST", "body": ("text/plain", "\0")}, "its body is no text"),
    ],
)
def test_what_is_left_out_says_why(tmp_path: Path, entry: dict[str, Any], reason: str) -> None:
    given = {"method": "GET", "path": "/x", **entry}
    choice = chosen(Recorded().page("/").add(**given), tmp_path)
    assert paths(choice) == ["/"]
    (left_out,) = choice.left_out
    assert left_out.number == 2
    assert left_out.reason.startswith(reason)


@pytest.mark.parametrize(
    "entry",
    [
        {"method": "GET", "path": "/report.csv"},
        {"method": "GET", "path": "/script.js", "kind": "fetch", "media": "application/json"},
        {"method": "GET", "path": "/x", "status": 304, "answer": {"a": 1}},
        {"method": "GET", "path": "/x", "status": 404},
        {"method": "OPTIONS", "path": "/x"},
        {"method": "POST", "path": "/log", "kind": "ping", "body": ("text/plain", "a")},
    ],
)
def test_what_the_application_serves_is_kept(tmp_path: Path, entry: dict[str, Any]) -> None:
    choice = chosen(Recorded().page("/").add(**entry), tmp_path)
    assert paths(choice) == ["/", entry["path"]]
    assert choice.left_out == ()


def test_an_aborted_request_is_left_out_whatever_its_status(tmp_path: Path) -> None:
    recorded = Recorded().page("/").add("GET", "/x")
    recorded.entries[1]["response"]["_error"] = "net::ERR_ABORTED"
    assert paths(chosen(recorded, tmp_path)) == ["/"]


@pytest.mark.parametrize(
    "host",
    ["api.example", "API.example:8443", "https://api.example:8443", "https://api.example:8443/"],
)
def test_a_host_that_is_named_is_asked(tmp_path: Path, host: str) -> None:
    recorded = Recorded().page("/").add("GET", "https://api.example:8443/v1/items")
    assert paths(chosen(recorded, tmp_path, host)) == ["/", "/v1/items"]


@pytest.mark.parametrize("host", ["api.example:9", "http://api.example:8443", "other", "http://["])
def test_a_host_that_was_never_asked_is_refused(tmp_path: Path, host: str) -> None:
    recorded = Recorded().page("/").add("GET", "https://api.example:8443/v1/items")
    with pytest.raises(WrongInputError, match="asks no such host") as caught:
        chosen(recorded, tmp_path, host)
    assert caught.value.advice == f"it asks https://api.example:8443, {ORIGIN}"


def test_a_recording_without_answers_or_without_requests_left_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongInputError, match="no request of the recording was answered"):
        chosen(Recorded().page("/", status=0), tmp_path)
    with pytest.raises(WrongInputError, match="nothing of the recording is left to ask"):
        chosen(Recorded().add("GET", "/x.png", media="image/png"), tmp_path)


def test_static_files_are_taken_where_they_are_wanted(tmp_path: Path) -> None:
    recorded = Recorded().page("/")
    for path in ("/a.js", "/b.css", "/a.js"):
        recorded.add("GET", path, kind="script")
    recorded.add("GET", "/gone.js", kind="script", status=404)
    choice = chosen(recorded, tmp_path, keep_static=True)
    assert [each.path for each in choice.static] == ["/a.js", "/b.css", "/a.js"]
    assert [each.number for each in choice.left_out] == [5]


# -- redirects -------------------------------------------------------------------------------------


def redirected(path: str, to: str, status: int = 302) -> dict[str, Any]:
    return {"path": path, "status": status, "answer_headers": {"Location": to}}


def test_redirects_are_folded_into_the_request_that_began_them(tmp_path: Path) -> None:
    recorded = (
        Recorded()
        .page(**redirected("/", "/start"))
        .page(**redirected("/start", f"{ORIGIN}/home#top", 307))
        .page("/home", "<p>home</p>")
        .page("/home", "<p>again</p>")
    )
    choice = chosen(recorded, tmp_path)
    assert paths(choice) == ["/", "/home"]
    assert choice.exchanges[0].answered.answer.text == "<p>home</p>"
    assert not choice.exchanges[0].keeps
    leads = "a redirect leads here from entry 1, and is followed by itself"
    assert reasons(choice) == [leads, leads]


def test_a_redirect_from_http_to_https_makes_https_the_application(tmp_path: Path) -> None:
    recorded = (
        Recorded()
        .page(**redirected("http://app.example/", f"{ORIGIN}/", 307))
        .page("/")
        .add("GET", "/api")
    )
    choice = chosen(recorded, tmp_path)
    assert choice.origin == ORIGIN
    assert paths(choice) == ["/", "/api"]
    assert choice.exchanges[0].asked.origin == ORIGIN
    assert reasons(choice) == [f"it only redirects to {ORIGIN}"]


def test_a_redirect_to_a_host_that_is_not_asked_is_itself_the_answer(tmp_path: Path) -> None:
    recorded = (
        Recorded()
        .page("/")
        .page(**redirected("/sso", "https://sso.example/in"))
        .page("https://sso.example/in")
    )
    choice = chosen(recorded, tmp_path)
    assert [each.keeps for each in choice.exchanges] == [False, True]
    assert not chosen(recorded, tmp_path, "sso.example").exchanges[1].keeps


def test_a_redirect_whose_target_is_not_in_the_recording_is_followed(tmp_path: Path) -> None:
    choice = chosen(Recorded().page(**redirected("/", "/gone")), tmp_path)
    assert [each.keeps for each in choice.exchanges] == [False]


def test_a_redirect_that_leads_nowhere_is_an_answer_as_any_other(tmp_path: Path) -> None:
    choice = chosen(Recorded().page(**redirected("/", "http://[x/")), tmp_path)
    assert [each.keeps for each in choice.exchanges] == [False]


# -- transactions ----------------------------------------------------------------------------------


def test_a_pause_ends_a_transaction_which_is_named_after_its_first_page(tmp_path: Path) -> None:
    recorded = (
        Recorded()
        .page("/items")
        .add("GET", "/api/v1/items")
        .pause(3)
        .page("/items/42/edit.html")
        .pause(5)
        .add("GET", "/api/v1/items/3f2504e0-4f89-11d3-9a0c-0305e82c3301/notes")
        .pause(9)
        .page("/")
        .pause(7)
        .page("/items")
    )
    story = told(recorded, tmp_path)
    assert [name for name, _ in shape(story)] == [
        *("items", "item-edit", "item-notes", "home", "items-2"),
    ]
    assert story.think_s == pytest.approx(6.01)
    assert shape(told(recorded, tmp_path, gap_s=20.0)) == [
        (
            "items",
            [
                ["/items"],
                ["/api/v1/items"],
                ["/items/42/edit.html"],
                ["/api/v1/items/3f2504e0-4f89-11d3-9a0c-0305e82c3301/notes"],
                ["/"],
                ["/items"],
            ],
        )
    ]
    assert told(recorded, tmp_path, gap_s=20.0).think_s is None


def test_another_page_of_the_browser_ends_a_transaction_sooner(tmp_path: Path) -> None:
    recorded = Recorded().page("/a", pageref="1").pause(0.3).page("/b", pageref="2")
    assert [name for name, _ in shape(told(recorded, tmp_path))] == ["a", "b"]
    recorded = Recorded().page("/a", pageref="1").pause(0.3).page("/b", pageref="1")
    assert [name for name, _ in shape(told(recorded, tmp_path))] == ["a"]


def test_requests_that_began_before_others_ended_are_made_at_once(tmp_path: Path) -> None:
    recorded = (
        Recorded()
        .page("/list")
        .add("GET", "/api/a", at_once=True)
        .add("GET", "/api/b", at_once=True)
        .add("GET", "/api/c")
        .page("/frame", at_once=True)
        .add("GET", "/api/d", at_once=True)
        .add("GET", "/api/e", at_once=True)
    )
    ((_, steps),) = shape(told(recorded, tmp_path))
    assert steps == [["/list"], ["/api/a", "/api/b"], ["/api/c"], ["/frame"], ["/api/d", "/api/e"]]


def test_a_request_that_waits_for_news_does_not_hide_a_pause(tmp_path: Path) -> None:
    recorded = Recorded().page("/a").add("GET", "/poll").pause(5).page("/b")
    recorded.entries[1]["time"] = 60_000
    assert [name for name, _ in shape(told(recorded, tmp_path))] == ["a", "b"]


def test_log_in_and_log_out_are_apart(tmp_path: Path) -> None:
    recorded = logged_in().page("/items").add("POST", "/user/sign-out").page("/login")
    choice = chosen(recorded, tmp_path)
    story = tell(choice.exchanges, 2, 1.0, ())
    assert [step[0].asked.path for step in story.log_in] == ["/login", "/login"]
    assert shape(story) == [("items", [["/items"]])]
    assert [step[0].asked.path for step in story.log_out] == ["/user/sign-out", "/login"]
    assert len(story.steps) == 5


@pytest.mark.parametrize("path", ["/blogout", "/catalogoutlet", "/logouts"])
def test_a_path_that_only_looks_like_a_log_out_is_a_transaction(tmp_path: Path, path: str) -> None:
    story = tell(chosen(logged_in().page(path), tmp_path).exchanges, 2, 1.0, ())
    assert story.log_out == ()


@pytest.mark.parametrize("path", ["/logout", "/api/userLogout", "/Account/LogOff", "/log_out.php"])
def test_every_usual_path_of_a_log_out_is_known(tmp_path: Path, path: str) -> None:
    story = tell(chosen(logged_in().page(path), tmp_path).exchanges, 2, 1.0, ())
    assert [step[0].asked.path for step in story.log_out] == [path]
    assert story.transactions == ()


def test_without_a_log_in_a_log_out_is_a_transaction_too(tmp_path: Path) -> None:
    assert shape(told(Recorded().page("/logout"), tmp_path)) == [("logout", [["/logout"]])]


def test_nothing_but_a_log_in_is_refused(tmp_path: Path) -> None:
    recording = read_har(logged_in().write(tmp_path / "r.har"))
    with pytest.raises(WrongInputError, match="nothing but a log-in"):
        compose(choose(recording, (), keep_static=False), recording.entries, 1.0)
