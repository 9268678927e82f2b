"""A HAR file is read, or refused in one line; entries that are none are left out by themselves."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import Recorded

from loadstone.errors import WrongInputError
from loadstone.workloads.http.har.entries import Entry
from loadstone.workloads.http.har.reading import read_har


def read(recorded: Recorded, folder: Path) -> list[Entry]:
    return list(read_har(recorded.write(folder / "r.har")).entries)


def refused(content: bytes, folder: Path) -> str:
    path = folder / "r.har"
    path.write_bytes(content)
    with pytest.raises(WrongInputError) as caught:
        read_har(path)
    return caught.value.message.removeprefix(str(path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", " is empty"),
        (b" \n", " is empty"),
        (b"<html>", ":1: is not JSON, at column 1: Expecting value"),
        (b'{"log": oops}', ":1: is not JSON, at column 9: Expecting value"),
        (b'{"log": {"entries": [{"requ', " is cut short: it ends within the JSON, in line 1"),
        (b'{"log": {"entries": [\n1,', " is cut short: it ends within the JSON, in line 2"),
        (b'{"log": {"entries": [1]', " is cut short: it ends within the JSON, in line 1"),
        (b"[]", " is JSON but no HAR: it has no list log.entries"),
        (b'{"log": {"entries": {}}}', " is JSON but no HAR: it has no list log.entries"),
        (b'{"log": {"entries": []}}', " holds no requests: log.entries is empty"),
        (b"[" * 200_000, " is nested too deeply to be a HAR"),
        (b'{"log": ' + b"1" * 5000 + b"}", " holds a number that is no number of a HAR"),
        (b"\xff\xfe\xfd", ""),
    ],
)
def test_what_is_no_har_is_refused_in_a_line(tmp_path: Path, content: bytes, message: str) -> None:
    said = refused(content, tmp_path)
    assert said.startswith(message)
    assert "\n" not in said


def test_a_recording_of_broken_entries_alone_says_what_the_first_lacks(tmp_path: Path) -> None:
    assert "no entry of " in refused(b'{"log": {"entries": [1, {}]}}', tmp_path)


def test_a_file_that_is_not_there_or_too_large_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(WrongInputError, match="there is no file"):
        read_har(tmp_path / "none.har")
    monkeypatch.setattr("loadstone.workloads.http.har.reading.LARGEST_FILE_BYTES", 10)
    assert "larger than a recording may be" in refused(b'{"log": {"entries": []}}', tmp_path)


def test_entries_come_in_the_order_of_their_beginning(tmp_path: Path) -> None:
    recorded = Recorded().page("/a").page("/b").page("/c")
    recorded.entries.reverse()
    assert [(each.number, each.path) for each in read(recorded, tmp_path)] == [
        (3, "/a"),
        (2, "/b"),
        (1, "/c"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_each_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "r.har"
    path.write_bytes(json.dumps(Recorded().page("/ä").document()).encode(encoding))
    assert [each.path for each in read_har(path).entries] == ["/ä"]


def test_an_entry_that_lacks_what_requests_have_is_left_out_alone(tmp_path: Path) -> None:
    recorded = Recorded().page("/a").page("/b").page("/c").page("/d").page("/e")
    del recorded.entries[1]["request"]["url"]
    recorded.entries[2]["startedDateTime"] = "yesterday"
    recorded.entries[3]["request"]["url"] = "http://[half/"
    recorded.entries[4]["request"]["url"] = "http://app.example:port/"
    found = read_har(recorded.write(tmp_path / "r.har"))
    assert [each.path for each in found.entries] == ["/a"]
    assert [(each.number, each.reason) for each in found.broken] == [
        (2, "has no request with a method and an address"),
        (3, "has no time that can be read (startedDateTime)"),
        (4, "has an address that cannot be read"),
        (5, "has an address that cannot be read"),
    ]


def test_headers_cookies_and_what_stands_before_a_host_are_taken_apart(tmp_path: Path) -> None:
    recorded = Recorded().add(
        "GET",
        "https://me:pw@app.example/x?a=1#part",
        headers={":authority": "app.example", "Cookie": "a=1; b=2=3", "X-A": "1"},
        answer_headers={"Set-Cookie": "c=4; Path=/\nd=5"},
    )
    recorded.entries[0]["request"]["cookies"] = [{"name": "a", "value": "1"}]
    (entry,) = read(recorded, tmp_path)
    assert entry.url == "https://app.example/x?a=1"
    assert entry.user_info == "me:pw"
    assert entry.headers == (("cookie", "a=1; b=2=3"), ("x-a", "1"))
    assert entry.cookies == (("a", "1"), ("b", "2=3"))
    assert entry.answer.cookies == (("c", "4"), ("d", "5"))


def test_contents_in_base64_are_read_where_they_are_texts(tmp_path: Path) -> None:
    recorded = Recorded()
    for media in ("text/html; charset=utf-8", "application/json", "image/png", "application/zip"):
        recorded.add("GET", "/x", answer=base64.b64encode("grüß".encode()).decode(), media=media)
        recorded.entries[-1]["response"]["content"]["encoding"] = "base64"
    recorded.entries[0]["response"]["content"]["text"] += "broken="
    texts = [each.answer.text for each in read(recorded, tmp_path)]
    assert texts[1:] == ["grüß", None, None]


@pytest.mark.parametrize(
    ("post", "lack"),
    [
        ({"mimeType": "text/plain", "text": "a"}, ""),
        (None, "its body is not in the recording"),
        ({"mimeType": "x/y", "text": "\0"}, "its body is no text"),
        ({"mimeType": "x/y", "text": "/w==", "encoding": "base64"}, "its body is no text"),
        ({"mimeType": "multipart/form-data", "text": "--x"}, "the recording does not tell"),
        (
            {
                "mimeType": "multipart/form-data; boundary=x",
                "text": '--x\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n\r\n',
            },
            "it uploads a file",
        ),
        (
            {
                "mimeType": "multipart/form-data; boundary=x",
                "params": [{"name": "f", "fileName": "a"}],
            },
            "it uploads a file",
        ),
    ],
)
def test_a_body_that_cannot_be_sent_again_says_why(
    tmp_path: Path, post: dict[str, object] | None, lack: str
) -> None:
    recorded = Recorded().add("POST", "/x")
    recorded.entries[0]["request"]["bodySize"] = 10
    if post is not None:
        recorded.entries[0]["request"]["postData"] = post
    (entry,) = read(recorded, tmp_path)
    assert entry.body is not None
    assert entry.body.lack.startswith(lack)
    assert bool(entry.body.lack) == bool(lack)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda each: (
        st.lists(each, max_size=3)
        | st.dictionaries(
            st.sampled_from(["log", "entries", "request", "url", "method", "headers", "name"]),
            each,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: object
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.har"
    path.write_text(json.dumps({"log": {"entries": [data, {"request": data, "response": data}]}}))
    with pytest.raises(WrongInputError):
        read_har(path)


@given(st.integers(0, 3), st.sampled_from(["url", "headers", "postData", "cookies"]), JSON)
def test_any_field_may_be_anything(
    tmp_path_factory: pytest.TempPathFactory, at: int, field: str, data: object
) -> None:
    recorded = Recorded().page("/a").page("/b").page("/c").page("/d")
    recorded.entries[at]["request"][field] = data
    recorded.entries[at]["response"]["content"] = data
    recorded.entries[at]["time"] = data
    found = read_har(recorded.write(tmp_path_factory.getbasetemp() / "any.har"))
    assert len(found.entries) + len(found.broken) == 4
