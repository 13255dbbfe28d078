# SPDX-License-Identifier: MIT
"""What `ocular view` ends with: open a page, or serve a trace to Perfetto, which fetches it from this machine itself.

python -m ocular.view page|trace FILE UI [no-browser]

Perfetto's page may load from one address of the user's machine, http://127.0.0.1:9001 (its content security policy; the
link is in its document "Deep linking to the Perfetto UI"). Whoever else asks there must not get the trace: other users of
this machine do not know the path, and browsers tell other pages nothing that this page's origin is not allowed to see.
"""

import http.server
import json
import os
import secrets
import shutil
import sys
import threading
import urllib.parse
import webbrowser
import zlib

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn

HOST, PORT = "127.0.0.1", 9001
# What Perfetto does when it has loaded the trace ("Commands Automation Reference" of its documentation): it unfolds processes,
# but not what only shows the same in another way. Versions without them open the trace as it is.
FOLDED = "^(loops|tasks) of (process|thread) |^CPUs |^snapshots "
STARTUP = json.dumps([{"id": "dev.perfetto.ExpandTracksByRegex", "args": ["."]},
                      {"id": "dev.perfetto.CollapseTracksByRegex", "args": [FOLDED]}], separators=(",", ":"))
LARGE = 50 << 20  # of a .pftrace: 10 million events of 5 bytes, 1 GB as JSON, which browsers open (docs/perfetto.md)
SECONDS = 60  # until somebody must have asked for it


TRACE_PACKET = 1 << 3 | 2  # what each packet of a trace begins with
PACKETS, UI_STATE = 50, 78  # fields of a packet
MARGIN = 20  # 1/20 of what is to be seen at first is seen before it


def fields(data: bytes) -> "Iterator[tuple[int, int | bytes]]":
    """(number, value) of each field of a protobuf message: integers and bytes, which is all that Ocular's traces have there."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key, value = varint(), varint()
        if key & 7 == 2:
            at += value
            yield key >> 3, data[at - value:at]
        else:
            yield key >> 3, value


def last_packet(file: str) -> bytes:
    """The trace's last field: a packet of compressed ones, or one by itself."""
    with open(file, "rb") as trace:
        last = b""
        while (head := trace.read(11)) and head[0] == TRACE_PACKET:
            length = shift = used = 0
            for used, byte in enumerate(head[1:], 2):
                length |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            trace.seek(used - len(head), os.SEEK_CUR)
            last = trace.read(length) if trace.tell() + length >= os.fstat(trace.fileno()).st_size else b""
            if not last:
                trace.seek(length, os.SEEK_CUR)
        return last


def opening(file: str) -> "tuple[int, int] | None":
    """From when until when the program's main function ran, ns; None: the trace does not tell (filter/timeline/opening.h)."""
    try:
        for number, packets in fields(last_packet(file)):
            if number == PACKETS and isinstance(packets, bytes):
                *_, (_, packet) = fields(zlib.decompress(packets))
                state = dict(fields(dict(fields(packet))[UI_STATE]))  # type: ignore[arg-type]
                return int(state.get(1, 0)), int(state[2])
    except (LookupError, ValueError, TypeError, zlib.error):
        pass
    return None


def at_first(file: str) -> str:
    """What the link says of the part that is seen at first: its two documented parameters, or nothing."""
    span = opening(file)
    if not span:
        return ""
    margin = (span[1] - span[0]) // MARGIN
    return "&visStart=%d&visEnd=%d" % (max(0, span[0] - margin), span[1])


class Server(http.server.ThreadingHTTPServer):  # browsers hold connections open that they do not use
    """Serves one file at one path to pages of one origin. OSError if the port is taken."""

    daemon_threads = True

    def __init__(self, file: str, origin: str) -> None:
        self.file, self.origin = file, origin
        self.path = "/%s/ocular%s" % (secrets.token_urlsafe(16), os.path.splitext(file)[1])
        self.sending = 0
        self.fetched = threading.Event()
        super().__init__((HOST, PORT), Handler)

    def wait(self) -> bool:
        """Until the file has been fetched, or nobody fetches it; whether it has."""
        while not self.fetched.wait(SECONDS) and self.sending:
            pass
        return self.fetched.is_set()


class Handler(http.server.BaseHTTPRequestHandler):
    """One request."""

    server: Server
    timeout = 30  # s, of a connection that says nothing

    def answer(self, status: int, **headers: object) -> None:
        """A head without a body."""
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()

    def refuse(self) -> None:
        """Anything else is not there."""
        self.answer(404, Content_Length=0)

    def do_GET(self) -> None:
        """The file, for who knows the path."""
        if self.path != self.server.path or self.headers.get("Host") != "%s:%d" % (HOST, PORT):
            self.refuse()
            return
        self.server.sending += 1
        try:
            with open(self.server.file, "rb") as file:
                self.answer(200, Content_Type="application/octet-stream", Content_Length=os.fstat(file.fileno()).st_size,
                            Access_Control_Allow_Origin=self.server.origin)
                shutil.copyfileobj(file, self.wfile)
            self.server.fetched.set()
        except OSError:  # the page was closed: it may come again
            pass
        finally:
            self.server.sending -= 1

    def do_OPTIONS(self) -> None:
        """Browsers ask before a page of the internet may reach this machine."""
        if self.path != self.server.path:
            self.refuse()
            return
        self.answer(204, Access_Control_Allow_Origin=self.server.origin, Access_Control_Allow_Methods="GET",
                    Access_Control_Allow_Private_Network="true")

    do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = refuse

    def log_message(self, *args: object) -> None:
        """Nothing: the terminal is the user's."""


def fail(text: str) -> "NoReturn":
    """End with one line on stderr and status 1."""
    sys.exit("ocular: " + text)


def show(link: str, browser: bool) -> None:
    """Open it, or print it where there is no browser to open it."""
    graphical = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    if not browser or not graphical or not webbrowser.open(link):
        print(link, flush=True)


def warn_of_size(file: str) -> None:
    """Before it is opened: the page itself would only run out of memory."""
    size = os.path.getsize(file)
    if size > LARGE:
        print("ocular: %s has %d MB, and a browser may have no room for more than %d MB; make a smaller one with ocular report "
              "--perfetto %s --max-size %dM" % (file, size >> 20, LARGE >> 20, file, LARGE >> 20), file=sys.stderr)


def serve(file: str, ui: str, browser: bool) -> None:
    """Until Perfetto has the trace. Exits with status 1 if it does not get it."""
    warn_of_size(file)
    parts = urllib.parse.urlsplit(ui)
    try:
        server = Server(file, "%s://%s" % (parts.scheme, parts.netloc))
    except OSError as e:
        fail("cannot serve the trace on port %d, the only one that Perfetto loads from: %s. End what listens there, or open "
             "%s in %s by hand" % (PORT, e.strerror, file, ui))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    link = "%s/#!/?url=http://%s:%d%s%s&startupCommands=%s" % (ui.rstrip("/"), HOST, PORT, server.path, at_first(file),
                                                              urllib.parse.quote(STARTUP, safe=""))
    threading.Thread(target=show, args=(link, browser), daemon=True).start()  # some browsers return when they end
    if not server.wait():
        fail("no browser has fetched the trace within %d s; it is in %s" % (SECONDS, file))


def main(kind: str, file: str, ui: str, *rest: str) -> None:
    """Show the file, as scripts/commands/view.sh says."""
    try:
        if kind == "trace":
            serve(file, ui, not rest)
        else:
            show("file://" + urllib.parse.quote(os.fsencode(os.path.abspath(file))), not rest)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main(*sys.argv[1:])
