# SPDX-License-Identifier: MIT
"""What `ocular report --push` ends with: files of profiles go to their receivers (docs/exports.md).

python -m ocular.push [--check] [--tries N] [--timeout S] RECORDING FORMAT made|kept FILE...

The URLs and headers, which may be secret, come by the environment: other users can see arguments. OCULAR_PUSH_URLS has a line
for each FORMAT, OCULAR_PUSH_GIVEN the user's words, OCULAR_PUSH_HEADERS what is always to be sent. A file that was made for
this alone is gone when it has been taken; otherwise it stays, and a line says where.
"""

import argparse
import contextlib
import glob
import gzip
import json
import os
import re
import shutil
import sys
import tempfile
import urllib.parse

from . import stderr
from .fleet_tables import program
from .push_http import TIMEOUT, TRIES, Failed, Sender, Target

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

HEADER_MOST = 16 << 20  # of the first line of a code table
TAIL = 64 << 10         # of a table, with its last line
LINE = 64 << 10         # Pyroscope takes no line as long as that, and nothing behind it
NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
OWN = ("connection", "content-encoding", "content-length", "content-type", "transfer-encoding")


# --- what a receiver answers -------------------------------------------------------------------------------------

def fields(data: bytes) -> "Iterator[tuple[int, int | bytes]]":
    """(number, value) of each field of a protobuf message. ValueError if it is none."""
    at = 0

    def take(n: int) -> bytes:
        nonlocal at
        at += n
        if at > len(data):
            raise ValueError("cut off")
        return data[at - n:at]

    def varint() -> int:
        value = shift = 0
        while (byte := take(1)[0]) >= 128:
            value |= (byte & 127) << shift
            shift += 7
        return value | byte << shift

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 in (1, 5):
            yield key >> 3, take(8 if key & 7 == 1 else 4)
        elif key & 7 == 2:
            yield key >> 3, take(varint())
        else:
            raise ValueError("no such type")


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def said(kind: str, body: bytes) -> str:
    """What an error says: OTLP's is a google.rpc.Status, others are text."""
    if kind.startswith("application/x-protobuf"):
        with contextlib.suppress(ValueError):
            return _text(dict(fields(body)).get(2))
    if kind.startswith("text/html"):
        body = re.sub(rb"(?s)<(style|script|title).*?</\1>|<[^>]*>", b" ", body)
    return _text(body[:4096])


def _taken_all(kind: str, body: bytes) -> None:
    """Failed unless an answer of success says that all was taken: an ExportProfilesServiceResponse."""
    if not body:
        return
    if not kind.startswith("application/x-protobuf"):
        raise Failed("its answer is of type %s, not an OTLP receiver's" % (stderr.printable(kind) or "unknown"))
    try:
        inner = dict(fields(body)).get(1, b"")
        if not isinstance(inner, bytes):
            raise ValueError("no message")
        partial = dict(fields(inner))
        rejected = partial.get(1, 0)
        if not isinstance(rejected, int):
            raise ValueError("no number")
    except ValueError:
        raise Failed("its answer is not an OTLP receiver's") from None
    if rejected:
        raise Failed("it rejected %d of the profiles: %s" % (rejected, stderr.printable(_text(partial.get(2))) or "it does not say why"))


def _taken(kind: str, body: bytes) -> None:
    """Pyroscope says nothing when it has taken all; what shows a page is another server."""
    if kind.startswith("text/html"):
        raise Failed("its answer is a web page, not a receiver's")


# --- what is sent ------------------------------------------------------------------------------------------------

def _headers(recording: str) -> "Iterator[tuple[int, dict[str, Any], str]]":
    """(when it began, the first line, the table) of each process of which that is known."""
    for table in glob.glob(os.path.join(glob.escape(recording), "codes-*.jsonl")):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            with open(table, "rb") as file:
                line = json.loads(file.readline(HEADER_MOST).decode("utf-8", "replace"))
            ns = (line.get("clock") or {}).get("realtime_ns")
            if isinstance(ns, int) and ns > 0:
                yield ns, line, table


def _ended(header: "dict[str, Any]", table: str) -> int:
    """When a process stopped, in ns since the epoch; 0: it does not say."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError), open(table, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL))
        for line in reversed(file.read().splitlines()):
            if b'"stop"' in line:
                stop = json.loads(line)
                return int(header["clock"]["realtime_ns"]) + int(stop["at_ns"]) - int(header["clock"]["monotonic_ns"])
    return 0


def about(recording: str) -> tuple[str, int, int]:
    """The name of what ran, and from when until when, in seconds since the epoch, by its code tables."""
    folder = recording if os.path.isdir(recording) else os.path.dirname(recording) or "."
    headers = sorted(_headers(folder), key=lambda each: each[0])
    name = next((found for _, header, _ in headers if (found := program(header))), None) or "python"
    written = os.stat(os.path.join(folder, "perf.data")).st_mtime
    begun = headers[0][0] / 1e9 if headers else written
    ended = max((_ended(header, table) for _, header, table in headers), default=0) / 1e9 or written
    return re.sub(r"[^\w./-]", "_", os.path.basename(name), flags=re.ASCII), int(begun), max(int(begun) + 1, int(ended) + 1)


def _ingest(suffix: str, **more: str) -> "Callable[[str], dict[str, str]]":
    """What Pyroscope's /ingest is told, by the recording."""
    def query(recording: str) -> dict[str, str]:
        name, begun, ended = about(recording)
        return {"name": name + suffix, "from": str(begun), "until": str(ended), "spyName": "ocular", **more}
    return query


def _short_lines(file: str) -> None:
    """Failed if Pyroscope would leave something out without a word."""
    with open(file, "rb") as lines:
        longest = max(map(len, lines), default=0)
    if longest >= LINE:
        raise Failed("a line of it has %d bytes, and Pyroscope leaves out what follows one of %d; send --pprof" % (longest, LINE))


def _any(file: str) -> None:
    pass


class Format:
    """How one is sent. path: where a URL has none. check: of the file; taken: of an answer; Failed if it is not right."""

    def __init__(self, path: str, headers: dict[str, str], query: "Callable[[str], dict[str, str]]", check: "Callable[[str], None]",
                 taken: "Callable[[str, bytes], None]", zipped: bool = False) -> None:
        self.path, self.headers, self.query, self.check, self.taken, self.zipped = path, headers, query, check, taken, zipped


FORMATS = {
    # The version says what numbers the fields have; a receiver of another one refuses it, rather than to read it wrongly.
    "otlp": Format("/v1development/profiles", {"Content-Type": "application/x-protobuf", "OTLP-Profiles-Development-Version": "1"},
                   lambda recording: {}, _any, _taken_all, zipped=True),
    "pprof": Format("/ingest", {"Content-Type": "application/octet-stream"}, _ingest("", format="pprof"), _any, _taken),
    # Values are ns: as many samples as there are at 1 GHz.
    "collapsed": Format("/ingest", {"Content-Type": "text/plain; charset=utf-8"},
                        _ingest(".wall", format="folded", units="samples", aggregationType="sum", sampleRate="1000000000"), _short_lines, _taken),
}


def address(format: str, url: str, recording: str | None) -> Target:
    """Where it goes: what the URL does not say is added. Without a recording only the URL is looked at. Failed if it is not for that format."""
    target, how = Target(url), FORMATS[format]
    if target.path in ("", "/"):
        target.path = how.path
    others = {other.path for other in FORMATS.values()} - {how.path}
    for path in others:
        if target.path.rstrip("/").endswith(path):
            raise Failed("%s is not for %s: leave out the path of the URL, or name a URL for each format" % (path, format))
    if recording is not None:
        given = urllib.parse.parse_qsl(target.query, keep_blank_values=True)
        more = [(key, value) for key, value in how.query(recording).items() if key not in dict(given)]
        target.query = urllib.parse.urlencode([*given, *more])
    return target


@contextlib.contextmanager
def _body(how: Format, file: str) -> "Iterator[tuple[str, dict[str, str]]]":
    """What to send, and the headers that go with it: compressed, for those who take that."""
    if not how.zipped:
        yield file, how.headers
        return
    headers = {**how.headers, "Content-Encoding": "gzip"}
    with open(file, "rb") as made:
        if made.read(2) == b"\x1f\x8b":
            yield file, headers
            return
        made.seek(0)
        with tempfile.NamedTemporaryFile(prefix="ocular-push-") as small:
            with gzip.GzipFile("", "wb", 6, small, 0) as zipped:
                shutil.copyfileobj(made, zipped)
            small.flush()
            yield small.name, headers


def push(format: str, url: str, file: str, recording: str, sender: Sender) -> str:
    """Sends a file: what there is to say of it. Failed, with the reason, if it is not taken."""
    how = FORMATS[format]
    how.check(file)
    target = address(format, url, recording)
    with _body(how, file) as (body, headers):
        try:
            kind, answer, unclear = sender.send(target, body, headers, said)
            how.taken(kind, answer)
        except Failed as e:
            raise Failed("%s: %s" % (target.shown, sender.safe(str(e), target))) from None
        twice = "; an earlier try may have been taken, too, and then it is there twice" if unclear else ""
        return "sent %d bytes of %s to %s%s" % (os.path.getsize(body), format, target.shown, twice)


# --- the command -------------------------------------------------------------------------------------------------

def headers_of(words: str, whose: str) -> dict[str, str]:
    """Of lines `NAME: VALUE` and `@FILE`, a file with such lines. Failed, without a value in the text."""
    found: dict[str, str] = {}
    for number, word in enumerate(words.splitlines(), 1):
        if word.startswith("@"):
            try:
                with open(word[1:], encoding="utf-8") as file:
                    found.update(headers_of(re.sub(r"(?m)^\s*[#@].*", "", file.read()), "a line of '%s'" % word[1:]))
            except (OSError, UnicodeDecodeError) as e:
                raise Failed("cannot read headers from '%s': %s" % (word[1:], getattr(e, "strerror", None) or "it is not text")) from None
        elif word.strip():
            name, colon, value = word.partition(":")
            value = value.strip()
            if not colon or not NAME.fullmatch(name.strip()) or not value or not value.isascii() or not value.isprintable():
                raise Failed("%s is not 'NAME: VALUE' in plain characters" % whose)
            if name.strip().lower() in OWN:
                raise Failed("%s names %s, which is always Ocular's own" % (whose, name.strip()))
            found[name.strip()] = value
    return found


def _number(option: str, text: str | None, kind: "type[float]", most: int) -> float:
    """More than 0; 0: not given."""
    if text is None:
        return 0
    with contextlib.suppress(ValueError):
        if 0 < kind(text) <= most:
            return kind(text)
    raise Failed("%s is a number up to %d, not '%s'" % (option, most, text))


def _sender(options: argparse.Namespace) -> Sender:
    given = {**headers_of(os.environ.get("OCULAR_PUSH_HEADERS", ""), "a line of $OCULAR_PUSH_HEADERS"),
             **headers_of(os.environ.get("OCULAR_PUSH_GIVEN", ""), "--push-header")}
    return Sender(given, int(_number("--push-tries", options.tries, int, 100) or TRIES), _number("--push-timeout", options.timeout, float, 86400) or TIMEOUT)


def _send(jobs: list[tuple[str, str, str, str]], recording: str, sender: Sender) -> int:
    """The exit status. Each is tried, whatever became of others."""
    status = 0
    for format, use, file, url in jobs:
        try:
            stderr.say("ocular: " + push(format, url, file, recording, sender))
            if use == "made":
                os.unlink(file)
        except (Failed, OSError) as e:
            status = 1
            stderr.say("ocular: cannot send %s to %s; it is in '%s'" % (format, e, stderr.printable(file)))
    return status


def main(arguments: list[str]) -> int:
    """As the module says."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--tries")
    parser.add_argument("--timeout")
    parser.add_argument("recording")
    parser.add_argument("jobs", nargs="*")
    options = parser.parse_args(arguments)
    urls = os.environ.get("OCULAR_PUSH_URLS", "").splitlines()
    jobs = list(zip(*(options.jobs[n::3] for n in range(3)), urls))
    try:
        sender = _sender(options)
        for format, *_, url in jobs:
            address(format, url, None)
    except Failed as e:
        stderr.say("ocular: " + stderr.printable(str(e)))
        return 2
    if options.check:
        return 0
    try:
        return _send(jobs, options.recording, sender)
    except KeyboardInterrupt:
        stderr.say("ocular: interrupted; what was not sent is in %s" % ", ".join("'%s'" % stderr.printable(file) for _, _, file, _ in jobs if os.path.exists(file)))
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
