"""A receiver of profiles over HTTP that answers as it is told, request by request, and keeps what it was sent."""

import contextlib
import http.server
import socket
import struct
import threading


class Request:
    """What one request said."""

    def __init__(self, path, headers, body):
        self.path, self.headers, self.body = path, headers, body


def answer(status, body=b"", reason=None, **headers):
    """An answer to all of a request."""
    def act(handler):
        handler.take()
        handler.say(status, body, reason, **headers)
    return act


def early(status, body=b""):
    """An answer before the body was read; then the connection is closed."""
    def act(handler):
        handler.server.taken.append(Request(handler.path, handler.headers, b""))
        handler.say(status, body)
    return act


def silent(handler):
    """No answer, until the sender gives up."""
    handler.take()
    handler.rfile.read(1)


def cut(handler):
    """The connection is reset in the middle of the request."""
    handler.server.taken.append(Request(handler.path, handler.headers, handler.rfile.read(1)))
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def cut_answer(handler):
    """Closed in the middle of the answer."""
    handler.take()
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    handler.wfile.write(b"x" * 10)


def echo(status):
    """An answer that has all that was said."""
    def act(handler):
        handler.take()
        text = "%s %s" % (handler.path, " ".join("%s: %s" % pair for pair in handler.headers.items()))
        handler.say(status, text.encode(), **{"Content-Type": "text/plain"})
    return act


class Handler(http.server.BaseHTTPRequestHandler):
    """The next of the server's answers; after the last one 200 without a body."""

    def handle(self):
        with contextlib.suppress(OSError):  # of TLS
            super().handle()

    def do_POST(self):
        with self.server.lock:
            act = self.server.answers.pop(0) if self.server.answers else answer(200)
        with contextlib.suppress(OSError):
            act(self)
        self.close_connection = True

    do_GET = do_PUT = do_POST

    def take(self):
        self.server.taken.append(Request(self.path, self.headers, self.rfile.read(int(self.headers["Content-Length"]))))

    def say(self, status, body, reason=None, **headers):
        self.send_response(status, reason)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answers):
        self.answers, self.taken, self.lock = list(answers), [], threading.Lock()
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.server_port


@contextlib.contextmanager
def receiver(*answers):
    """A server with its url, and `taken`: what it was sent."""
    with Server(answers) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def nobody():
    """The URL of a port that refuses, and that nobody else can get meanwhile."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield "http://127.0.0.1:%d" % held.getsockname()[1]
