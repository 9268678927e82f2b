"""A connection to a management controller: HTTPS, trusted by an authority or by a fingerprint."""

from __future__ import annotations

import base64
import hashlib
import json
import ssl
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from loadstone.errors import WrongInputError
from loadstone.meters.base import MeterError
from loadstone.spec.meters import RedfishSpec
from loadstone.spec.referred import referred

ANSWER_S = 30.0
"""So long a controller may take for an answer."""
_MOST_BYTES = 1 << 20
_UNKNOWN = 404


class RedfishClient:
    """Asks for documents; the connection is kept, and made anew if the controller closes it.

    Args:
        spec: Where the controller is, as whom to ask, and by what it is trusted.

    Raises:
        MeterError: If a secret or the certificates are not where they should be.
    """

    def __init__(self, spec: RedfishSpec) -> None:
        parts = urlsplit(spec.address)
        self._host, self._secure = parts.hostname or "", parts.scheme == "https"
        try:
            self._port = parts.port or (443 if self._secure else 80)
        except ValueError:
            raise MeterError(f"the address of the meter {spec.name} has no such port") from None
        self._print = (spec.fingerprint or "").replace(":", "").lower()
        self._trust = _trust(spec) if self._secure else None
        self._headers = {"Accept": "application/json", **_authorization(spec)}
        self._connection: HTTPConnection | None = None

    def get(self, path: str) -> dict[str, Any]:
        """A document.

        Raises:
            MeterError: If there is none, or the controller does not answer.
        """
        found = self.look(path)
        if found is None:
            raise MeterError(f"the controller at {self._host} has no {path}")
        return found

    def look(self, path: str) -> dict[str, Any] | None:
        """A document, or None if there is none.

        Raises:
            MeterError: If the controller refuses, or does not answer.
        """
        kept = self._connection is not None
        try:
            status, body = self._asked(path)
        except (OSError, HTTPException) as error:
            self.close()
            if not kept or isinstance(error, TimeoutError):
                raise self._silent(error) from error
            try:  # it may have closed a connection that was idle
                status, body = self._asked(path)
            except (OSError, HTTPException) as again:
                self.close()
                raise self._silent(again) from again
        return self._document(path, status, body)

    def close(self) -> None:
        """Lets go of the controller."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _asked(self, path: str) -> tuple[int, bytes]:
        if self._connection is None:
            self._connection = self._connected()
        self._connection.request("GET", path, headers=self._headers)
        answer = self._connection.getresponse()
        body = answer.read(_MOST_BYTES + 1)
        if len(body) > _MOST_BYTES:
            self.close()
        return answer.status, body

    def _connected(self) -> HTTPConnection:
        """Who answers is known before anything is said to it."""
        if self._trust is None:
            return HTTPConnection(self._host, self._port, timeout=ANSWER_S)
        connection = HTTPSConnection(self._host, self._port, timeout=ANSWER_S, context=self._trust)
        connection.auto_open = 0  # a new connection is looked at anew
        connection.connect()
        if self._print:
            certificate = connection.sock.getpeercert(binary_form=True) or b""
            if hashlib.sha256(certificate).hexdigest() != self._print:
                connection.close()
                raise MeterError(
                    f"the certificate of {self._host} has another fingerprint than was stated",
                    advice="see whether it is the right controller, then state the new one",
                )
        return connection

    def _document(self, path: str, status: int, body: bytes) -> dict[str, Any] | None:
        if status == _UNKNOWN:
            return None
        if status in (401, 403):
            raise MeterError(
                f"the controller at {self._host} refuses {path} (HTTP {status})",
                advice="name user and password: password: env:NAME or file:PATH",
            )
        try:
            document = json.loads(body) if status == 200 else None
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise MeterError(f"the controller at {self._host} has no document at {path}")
        return document

    def _silent(self, error: Exception) -> MeterError:
        if isinstance(error, ssl.SSLCertVerificationError):
            return MeterError(
                f"the certificate of {self._host} is not trusted: {error.verify_message}",
                advice="name its authority, ca: FILE, or state its fingerprint",
            )
        why = f"no answer within {ANSWER_S:g} s" if isinstance(error, TimeoutError) else ""
        why = why or getattr(error, "strerror", None) or type(error).__name__
        return MeterError(f"the controller at {self._host} does not answer: {why}")


def _trust(spec: RedfishSpec) -> ssl.SSLContext:
    """By the authorities in a file, by those of the system, or by the fingerprint alone."""
    try:
        context = ssl.create_default_context(cafile=spec.ca)
    except ssl.SSLError:
        raise MeterError(
            f"{spec.ca} has no certificate", advice="name a file of certificates in PEM: ca: FILE"
        ) from None
    except OSError as error:
        raise MeterError(f"{spec.ca} cannot be read: {error.strerror}") from None
    if spec.fingerprint is not None:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _authorization(spec: RedfishSpec) -> dict[str, str]:
    if spec.user is None or spec.password is None:
        return {}
    if urlsplit(spec.address).scheme != "https":
        raise MeterError(f"the meter {spec.name} has a password, which is sent over https only")
    try:
        password = referred(spec.password, "the password of the controller")
    except WrongInputError as error:
        raise MeterError(error.message, advice=error.advice) from None
    pair = base64.b64encode(f"{spec.user}:{password}".encode()).decode("ascii")
    return {"Authorization": f"Basic {pair}"}
