"""Asks a web application for its base, once, in bounded time: does anything answer there?"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection, RemoteDisconnected
from urllib.parse import quote

from loadstone import __version__
from loadstone.errors import TargetError, WrongInputError
from loadstone.targets.http.address import WebAddress

ANSWER_S = 10.0
"""So long an application may take for one answer."""
_PAUSE_S = 0.25
"""Between two questions to one that is starting."""
_PLAIN = "/%:!$&'()*+,;=~"
"""What stands in a path as it is."""


class UntrustedError(TargetError):
    """The certificate of an application is not one to trust: waiting does not change that."""


@dataclass(frozen=True)
class Greeting:
    """What answered."""

    status: int
    server: str
    """Its header `Server`; empty if it has none."""
    at: str
    """The IP address that answered."""
    tls: str
    """Version of TLS; empty without it."""


def trust_of(ca: str | None) -> ssl.SSLContext:
    """Whom to trust: the authorities in a file of certificates, or those of the system.

    Raises:
        WrongInputError: If the file cannot be read, or has no certificate.
    """
    try:
        return ssl.create_default_context(cafile=ca)
    except ssl.SSLError:
        raise WrongInputError(
            f"{ca} has no certificate", advice="name a file of certificates in PEM: ca: FILE"
        ) from None
    except OSError as error:
        raise WrongInputError(
            f"{ca} cannot be read: {error.strerror}",
            advice="name a file of certificates in PEM: ca: FILE",
        ) from error


def greet(address: WebAddress, ca: str | None = None, within_s: float = ANSWER_S) -> Greeting:
    """Asks for the base of an application; whatever it answers is an answer.

    Args:
        address: Of the application.
        ca: File of the certificates by which it is trusted.
        within_s: The head of the answer must be there by then.

    Raises:
        UntrustedError: If its certificate is not one to trust.
        TargetError: If nothing answers, or what answers does not speak HTTP.
    """
    connection = _connection(address, ca, within_s)
    late = threading.Event()
    timer = threading.Timer(within_s, _cut, (connection, late))
    timer.daemon = True
    timer.start()
    try:
        return _asked(connection, address)
    except ssl.SSLCertVerificationError as error:
        raise UntrustedError(
            f"{address.url} shows a certificate that is not trusted: {error.verify_message}",
            advice="name the file with the certificate of its authority: ca: FILE",
        ) from error
    except (OSError, HTTPException) as error:
        why = f"no answer within {within_s:g} s" if late.is_set() else _why(error)
        raise TargetError(
            f"{address.url} does not answer: {why}",
            advice="see whether the application runs, and whether a firewall is between",
        ) from error
    finally:
        timer.cancel()
        connection.close()


def await_answer(address: WebAddress, ca: str | None, longest_s: float) -> Greeting:
    """Asks until something answers: an application that was reset may be starting.

    Raises:
        TargetError: If nothing did in that time, with the last reason.
    """
    give_up_at = time.monotonic() + longest_s
    while True:
        try:
            return greet(address, ca)
        except UntrustedError:
            raise
        except TargetError:
            if time.monotonic() + _PAUSE_S >= give_up_at:
                raise
        time.sleep(_PAUSE_S)


def _connection(address: WebAddress, ca: str | None, within_s: float) -> HTTPConnection:
    if not address.is_secure:
        return HTTPConnection(address.host, address.port, timeout=within_s)
    return HTTPSConnection(address.host, address.port, timeout=within_s, context=trust_of(ca))


def _asked(connection: HTTPConnection, address: WebAddress) -> Greeting:
    connection.connect()
    peer = connection.sock
    at = str(peer.getpeername()[0])
    tls = (peer.version() or "") if isinstance(peer, ssl.SSLSocket) else ""
    headers = {"User-Agent": f"loadstone/{__version__}", "Accept": "*/*", "Connection": "close"}
    connection.request("GET", f"{quote(address.path, safe=_PLAIN)}/", headers=headers)
    answer = connection.getresponse()
    return Greeting(answer.status, answer.getheader("Server") or "", at, tls)


def _cut(connection: HTTPConnection, late: threading.Event) -> None:
    """Ends a conversation that came to no end: whoever reads finds it closed."""
    late.set()
    if connection.sock is not None:
        with contextlib.suppress(OSError):
            # Below TLS, whose own shutdown would leave the reader with another kind of socket.
            socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)


def _why(error: OSError | HTTPException) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, RemoteDisconnected):
        return "it closed the connection without an answer"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "what it says is not HTTP"
