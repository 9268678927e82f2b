"""A management controller over HTTPS, against a server that answers as one."""

from __future__ import annotations

import base64
import hashlib
import json
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from loadstone.journal import Journal
from loadstone.meters import redfish_client
from loadstone.meters.base import MeterError
from loadstone.meters.redfish import RedfishMeter, values_of
from loadstone.spec.meters import RedfishSpec

CHASSIS = {
    "Members": [{"@odata.id": "/redfish/v1/Chassis/1"}, {"@odata.id": "/redfish/v1/Chassis/gone"}]
}
POWER = "/redfish/v1/Chassis/1/Power"
CREDENTIALS = f"Basic {base64.b64encode(b'reader:hush').decode()}"


class Controller(ThreadingHTTPServer):
    """What a controller has, and what it was asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.documents: dict[str, Any] = {"/redfish/v1/Chassis": CHASSIS}
        self.asked: list[str] = []
        self.credentials = ""
        self.hang_up = False


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Controller

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if self.server.hang_up:
            self.server.hang_up = False
            self.close_connection = True
            return
        known = self.server.credentials in ("", self.headers.get("Authorization"))
        document = self.server.documents.get(self.path)
        body = json.dumps(document).encode() if isinstance(document, dict) else b"<html>"
        self.send_response(401 if not known else 404 if document is None else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Key and certificate of a controller, for 127.0.0.1, in one file."""
    folder = tmp_path_factory.mktemp("certificate")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key"]
    names = ["-subj", "/CN=bmc", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    words = ["openssl", "req", "-x509", *key, *names, "-out", "certificate"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    both = folder / "bmc.pem"
    both.write_text((folder / "certificate").read_text() + (folder / "key").read_text())
    return both


@pytest.fixture
def controller(certificate: Path) -> Iterator[Controller]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with Controller() as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    with Journal(tmp_path / "journal.jsonl", "test") as found:
        yield found


def meter_of(controller: Controller, **fields: object) -> RedfishMeter:
    given = {"address": f"https://127.0.0.1:{controller.server_port}", **fields}
    return RedfishMeter(RedfishSpec.model_validate(given))


def power(*watts: object, **more: object) -> dict[str, Any]:
    return {"PowerControl": [{"PowerConsumedWatts": each, **more} for each in watts]}


@pytest.mark.parametrize(
    ("document", "watts", "invalid"),
    [
        (power(344), 344.0, ""),
        (power(344.5, Status={"State": "Enabled"}), 344.5, ""),
        (power(344, Status={"State": "Absent"}), 0.0, "its state is Absent"),
        (power(None), 0.0, "PowerConsumedWatts is null"),
        (power("344"), 0.0, "PowerConsumedWatts is null"),
        (power(0), 0.0, "it says 0 W"),
        (power(-3), 0.0, "it says -3 W"),
        ({"PowerWatts": {"Reading": 210.5, "Status": None}}, 210.5, ""),
    ],
)
def test_what_a_document_says(document: dict[str, Any], watts: float, invalid: str):
    (value,) = values_of(document, "1")
    assert (value.channel, value.value, value.invalid) == ("1", watts, invalid)


def test_further_controls_are_parts_of_the_first(
    controller: Controller, journal: Journal, certificate: Path
):
    controller.documents[POWER] = {
        "PowerControl": [
            {"Name": "Server", "PowerConsumedWatts": 300},
            {"Name": "CPU", "PowerConsumedWatts": 120},
        ]
    }
    meter = meter_of(controller, ca=str(certificate))
    meter.open(journal)
    whole, part = meter.channels()
    assert [(each.channel, each.value) for each in meter.read()] == [("1", 300.0), ("1/CPU", 120.0)]
    assert (whole.scope, whole.parts_of, part.parts_of) == ("platform", "", "1")
    controller.hang_up = True
    assert [each.value for each in meter.read()] == [300.0, 120.0]
    meter.close()


def test_a_fingerprint_is_trusted_instead_of_an_authority(
    controller: Controller, journal: Journal, certificate: Path, monkeypatch: pytest.MonkeyPatch
):
    controller.documents[POWER] = power(300)
    controller.credentials = CREDENTIALS
    monkeypatch.setenv("BMC", "hush")
    der = ssl.PEM_cert_to_DER_cert(certificate.read_text().partition("-----BEGIN PRIVATE")[0])
    digest = hashlib.sha256(der).hexdigest().upper()
    printed = ":".join(digest[at : at + 2] for at in range(0, 64, 2))
    whom = {"user": "reader", "password": "env:BMC"}
    meter = meter_of(controller, fingerprint=printed, chassis=POWER, **whom)
    meter.open(journal)
    assert [each.channel for each in meter.read()] == ["1"]
    meter.close()
    asked = list(controller.asked)
    other = meter_of(controller, fingerprint="00" * 32, **whom)
    with pytest.raises(MeterError, match="another fingerprint"):
        other.open(journal)
    other.close()
    assert controller.asked == asked


@pytest.mark.parametrize(
    ("fields", "documents", "why"),
    [
        ({}, {POWER: power(300)}, "is not trusted"),
        ({"ca": "{ca}"}, {POWER: power(None)}, "PowerConsumedWatts is null"),
        ({"ca": "{ca}"}, {}, "it has no chassis with power"),
        ({"ca": "{ca}"}, {"/redfish/v1/Chassis": None}, "has no /redfish/v1/Chassis"),
        ({"ca": "{ca}"}, {"/redfish/v1/Chassis": "page"}, "has no document at"),
        ({"ca": "{ca}", "chassis": "/redfish/v1/Chassis/7"}, {}, "tells no power"),
    ],
)
def test_a_controller_that_tells_no_power_says_why(
    *,
    fields: dict[str, str],
    documents: dict[str, Any],
    why: str,
    controller: Controller,
    journal: Journal,
    certificate: Path,
):
    controller.documents |= documents
    given = {name: value.format(ca=certificate) for name, value in fields.items()}
    meter = meter_of(controller, **given)
    with pytest.raises(MeterError, match=why):
        meter.open(journal)
    meter.close()


def test_a_wrong_password_and_silence_are_told(
    controller: Controller,
    journal: Journal,
    certificate: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    controller.credentials = CREDENTIALS
    plain = {"address": "http://bmc.lab", "user": "reader", "password": "env:BMC"}
    with pytest.raises(MeterError, match="over https only"):
        meter_of(controller, **plain).open(journal)
    meter = meter_of(controller, ca=str(certificate))
    with pytest.raises(MeterError, match="refuses"):
        meter.open(journal)
    meter.close()
    with pytest.raises(MeterError, match="has no certificate"):
        (tmp_path / "ca").write_text("none")
        meter_of(controller, ca=str(tmp_path / "ca")).open(journal)
    monkeypatch.setattr(redfish_client, "ANSWER_S", 0.05)
    monkeypatch.setattr(Handler, "do_GET", lambda _: threading.Event().wait(0.2))
    meter = meter_of(controller, ca=str(certificate))
    with pytest.raises(MeterError, match=r"no answer within 0.05 s"):
        meter.open(journal)
    meter.close()
