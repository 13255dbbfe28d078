# SPDX-License-Identifier: MIT
"""One file as the body of an HTTP POST, which is tried again where that may help.

What may help is as OTLP's specification has it (docs/specification.md of opentelemetry-proto 1.11.0): 429, 502, 503, 504, and
a connection that fails or brings no answer. Anything else is final. What is secret (headers, what the URL has beside scheme,
host and path) is in no message, even where the receiver says it back.
"""

import base64
import datetime
import email.utils
import http.client
import os
import random
import re
import socket
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request

from . import __version__, progress, stderr

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

TRIES = 5
TIMEOUT = 30.0     # s for which nothing moves
PAUSE = 30         # s between two tries at most, where the receiver names no time
PATIENCE = 300     # s: a receiver that asks to be left alone for longer is not waited for
ANSWER = 4 << 20   # bytes of an answer; OTLP's limit
SAID = 200         # characters of it that a message has
AGAIN = (429, 502, 503, 504)
SHORTEST = 4       # characters of what is looked for, to keep it secret


class Failed(Exception):
    """It was not taken; the text says why."""


class Again(Failed):
    """And it may be taken later: `after` s, if the receiver says so. unclear: it may have been taken, too."""

    def __init__(self, why: str, after: float | None = None, unclear: bool = False) -> None:
        super().__init__(why)
        self.after, self.unclear = after, unclear


class Target:
    """A URL. Failed if it is none; then its text is not shown, because nobody knows what of it is secret."""

    def __init__(self, url: str) -> None:
        try:
            parts = urllib.parse.urlsplit(url)
            host, port = parts.hostname, parts.port
            if host and not host.isascii():
                host = host.encode("idna").decode()
            elif host and ":" not in host:
                host.encode("idna")
        except ValueError:  # or a UnicodeError
            host = port = None
        if not host or parts.scheme not in ("http", "https") or re.search(r"[\s\0-\x1f\x7f]", url):
            raise Failed("not a URL like http://HOST:PORT or https://HOST/PATH")
        netloc = "[%s]" % host if ":" in host else host
        self.netloc = "%s:%d" % (netloc, port) if port is not None else netloc
        self.scheme, self.path, self.query = parts.scheme, urllib.parse.quote(parts.path, "/%:@!$&'()*+,;=~-._"), parts.query
        self.user = "%s:%s" % (urllib.parse.unquote(parts.username or ""), urllib.parse.unquote(parts.password or "")) if "@" in parts.netloc else ""
        self.secrets = [urllib.parse.unquote(parts.password or ""), parts.password or "", *(value for _, value in urllib.parse.parse_qsl(parts.query))]

    @property
    def shown(self) -> str:
        """What messages call it."""
        return stderr.printable("%s://%s%s" % (self.scheme, self.netloc, self.path))

    @property
    def url(self) -> str:
        """What is asked for."""
        return "%s://%s%s%s" % (self.scheme, self.netloc, self.path or "/", "?" + self.query if self.query else "")

    @property
    def login(self) -> dict[str, str]:
        """The header that its user and password make."""
        return {"Authorization": "Basic " + base64.b64encode(self.user.encode()).decode()} if self.user else {}


class _Heard:
    """A connection that a receiver closed before it had everything, perhaps with an answer: too large, or not allowed."""

    def request(self, *args: "Any", **kw: "Any") -> None:
        """As http.client's; getresponse() fails if there is no answer."""
        try:
            super().request(*args, **kw)  # type: ignore[misc]
        except (BrokenPipeError, ConnectionResetError):
            if getattr(self, "sock", None) is None:
                raise


class _Plain(_Heard, http.client.HTTPConnection):
    pass


class _Secure(_Heard, http.client.HTTPSConnection):
    pass


class _Http(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Plain, req)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Secure, req, context=ssl.create_default_context())


class _Stay(urllib.request.HTTPRedirectHandler):
    """Nobody is followed: a POST would become a GET, and what is secret would go to another host."""

    def redirect_request(self, *args: "Any") -> None:
        return None


# With the proxies of http_proxy, https_proxy and no_proxy.
_opener = urllib.request.build_opener(_Http, _Https, _Stay)


def _seconds(text: str | None) -> float | None:
    """Of Retry-After: a number of them, or a date. None: it says nothing that can be understood."""
    if text is None:
        return None
    if text.strip().isascii() and text.strip().isdigit():
        return float(text)
    try:
        when = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    now = datetime.datetime.now(datetime.timezone.utc)
    return max(0.0, ((when if when.tzinfo else when.replace(tzinfo=datetime.timezone.utc)) - now).total_seconds())


def _why(error: BaseException, timeout: float) -> str:
    """Of a connection that failed, in words."""
    if isinstance(error, TimeoutError):
        return "no answer within %g s" % timeout
    if isinstance(error, socket.gaierror):
        return "its host is not known: %s" % error.strerror
    if isinstance(error, ssl.SSLCertVerificationError):
        return "its certificate is not trusted: %s" % error.verify_message
    if isinstance(error, (http.client.RemoteDisconnected, http.client.IncompleteRead)):
        return "it closed the connection without a whole answer"
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__


def _broken(error: BaseException, timeout: float) -> Failed:
    """What it means that there was no whole answer."""
    if isinstance(error, urllib.error.URLError) and isinstance(error.reason, BaseException):
        error = error.reason
    why = _why(error, timeout)
    if isinstance(error, (ssl.SSLCertVerificationError, http.client.InvalidURL)):
        return Failed(why)
    never = (ConnectionRefusedError, socket.gaierror)
    return Again(why, unclear=not isinstance(error, never))


def _wait(why: str, seconds: float) -> None:
    """Before the next try; a terminal says so."""
    line = progress.Line()
    line.show("%s; trying again in %d s" % (why, seconds))
    try:
        time.sleep(seconds)
    finally:
        line.clear()


class Sender:
    """Sends to receivers with some headers, which are secret."""

    def __init__(self, headers: "Mapping[str, str]", tries: int = TRIES, timeout: float = TIMEOUT,
                 wait: "Callable[[str, float], object]" = _wait) -> None:
        self.headers, self.tries, self.timeout, self.wait = headers, tries, timeout, wait

    def safe(self, text: str, target: Target) -> str:
        """A piece of what a receiver says, without what it was told."""
        given = [*self.headers.values(), *target.login.values(), target.user, *target.secrets]
        words = {word for value in given for word in (value, urllib.parse.quote(value), *value.split()) if len(word) >= SHORTEST}
        for word in sorted(words, key=len, reverse=True):
            text = text.replace(word, "***")
        text = stderr.printable(" ".join(text.split()))
        return text if len(text) <= SAID else text[:SAID] + "..."

    def refused(self, error: urllib.error.HTTPError, target: Target, said: "Callable[[str, bytes], str]") -> Failed:
        """What an answer of another status than 2xx means."""
        try:
            body = error.read(ANSWER)
        except (OSError, http.client.HTTPException):
            body = b""
        text = "%d %s" % (error.code, error.reason)
        if 300 <= error.code < 400:
            text += ", to %s; name that URL" % (_where(error.headers.get("Location")) or "an unknown place")
        elif body:
            text += ": " + said(error.headers.get("Content-Type", ""), body)
        text = self.safe(text, target)
        return Again(text, _seconds(error.headers.get("Retry-After")), unclear=True) if error.code in AGAIN else Failed(text)

    def _once(self, target: Target, file: str, headers: "Mapping[str, str]", said: "Callable[[str, bytes], str]") -> tuple[str, bytes]:
        with open(file, "rb") as body:
            size = os.fstat(body.fileno()).st_size
            request = urllib.request.Request(target.url, body, method="POST", headers={
                "User-Agent": "ocular/" + __version__, **headers, **target.login, **self.headers, "Content-Length": str(size)})
            try:
                with _opener.open(request, timeout=self.timeout) as answer:
                    got = answer.read(ANSWER + 1)
                    if len(got) > ANSWER:
                        raise Failed("its answer is longer than %d MiB" % (ANSWER >> 20))
                    if answer.length:
                        raise http.client.IncompleteRead(got, answer.length)
                    return answer.headers.get("Content-Type", ""), got
            except urllib.error.HTTPError as e:
                with e:
                    raise self.refused(e, target, said) from None
            except (OSError, http.client.HTTPException) as e:
                raise _broken(e, self.timeout) from None

    def send(self, target: Target, file: str, headers: "Mapping[str, str]", said: "Callable[[str, bytes], str]") -> tuple[str, bytes, bool]:
        """The type of the answer, the answer, and whether an earlier try may have been taken, too.

        said: what an answer that is no success says, by its type. Failed if it is not taken.
        """
        unclear = False
        for left in range(self.tries - 1, -1, -1):
            try:
                return (*self._once(target, file, headers, said), unclear)
            except Again as e:
                if not left or (e.after or 0) > PATIENCE:
                    raise Failed(self._given_up(e, self.tries - left)) from None
                unclear |= e.unclear
                self.wait("%s: %s" % (target.shown, e), e.after if e.after is not None else self._pause(self.tries - left))
        raise AssertionError

    @staticmethod
    def _pause(tries: int) -> float:
        """s after so many tries, where the receiver names none: twice as long each time, and not the same for all that failed at once."""
        return min(2.0 ** (tries - 1), PAUSE) * random.uniform(0.5, 1)

    @staticmethod
    def _given_up(e: Again, tries: int) -> str:
        asks = ", and it asks to wait %d s" % e.after if e.after and e.after > PATIENCE else ""
        return "%s%s%s" % (e, asks, " (%d tries)" % tries if tries > 1 else "")


def _where(location: str | None) -> str | None:
    """Of a redirection, without what may be secret; None: nowhere."""
    try:
        return Target(location or "").shown
    except Failed:
        return None
