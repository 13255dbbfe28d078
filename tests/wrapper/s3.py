"""An S3 server on this machine, with a bucket, for tests; and one in front of it, at which a process dies."""

import contextlib
import fcntl
import os
import re
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "doors"))
import recording  # noqa: E402

GATEWAY = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"  # keeps objects as files of a folder
BUILD_LIMIT = 1800  # s: two minutes of CPU time
MOTO = """
import sys, time
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(*server.get_host_and_port(), flush=True)
sys.stdin.read()
"""
MAKE = "import s3fs, sys; s3fs.S3FileSystem().mkdir(sys.argv[1])"
# Paths below a bucket's prefix, and each one's hash and time.
LIST = """
import json, s3fs, sys
fs = s3fs.S3FileSystem(use_listings_cache=False)
print(json.dumps({path: [about["ETag"], str(about["LastModified"])] for path, about in fs.find(sys.argv[1], detail=True).items()}))
"""
COPY = "import s3fs, sys; fs = s3fs.S3FileSystem(use_listings_cache=False); getattr(fs, sys.argv[1])(*sys.argv[2:])"


def settings(port):
    """Of the libraries: this server, and nothing of whoever runs the test."""
    return {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def gateway():
    """Its program, built once."""
    folder = os.path.join(recording.BUILD, GATEWAY.replace("/", "-"))
    program = os.path.join(folder, "versitygw")
    os.makedirs(folder, exist_ok=True)
    with open(folder + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(program):
            done = recording.run(["go", "install", GATEWAY], timeout=BUILD_LIMIT, env={
                **os.environ, "GOBIN": folder, "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOWORK": "off"})
            if done.returncode:
                raise RuntimeError(f"{GATEWAY}: {done.stderr[-500:]}")
    return program


@contextlib.contextmanager
def _moto(python, folder):
    process = subprocess.Popen([python, "-c", MOTO], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               env=recording.plain_environment())
    try:
        yield next(int(found[1]) for line in process.stdout if (found := re.fullmatch(r"127\.0\.0\.1 (\d+)\n", line)))
    finally:
        process.kill()
        process.communicate()


@contextlib.contextmanager
def _versity(python, folder):
    port, folders = free_port(), [os.path.join(folder, ".s3", name) for name in ("objects", "about")]
    for each in folders:
        os.makedirs(each)
    process = subprocess.Popen([gateway(), "--port", f"127.0.0.1:{port}", "posix", "--sidecar", folders[1], folders[0]],
                               env={**os.environ, "ROOT_ACCESS_KEY": "somebody", "ROOT_SECRET_KEY": "secret"},
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + recording.LIMIT
        while time.monotonic() < end:
            with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield port
    finally:
        process.kill()
        process.communicate()
        shutil.rmtree(os.path.join(folder, ".s3"), ignore_errors=True)


class Server:
    """Use as a context manager."""

    def __init__(self, python, folder, is_gateway):
        self.python, self.folder, self.kind = python, folder, _versity if is_gateway else _moto

    def __enter__(self):
        self.running = contextlib.ExitStack()
        self.port = self.running.enter_context(self.kind(self.python, self.folder))
        return self

    def __exit__(self, *_):
        self.running.close()

    def run(self, code, *words):
        done = recording.run([self.python, "-c", code, *words], env=recording.plain_environment(**settings(self.port)))
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout

    def make(self, bucket):
        self.run(MAKE, bucket)
        return bucket

    def copy(self, how, *words):
        """One of s3fs's: get_file, put_file, rm."""
        self.run(COPY, how, *words)


class Deadly(socketserver.ThreadingTCPServer):
    """Hands everything on to the server, until the nth file is on its way: of that it hands on only the beginning, and ends `victim`'s group."""

    daemon_threads = True

    def __init__(self, server, nth):
        self.server_port, self.nth, self.seen, self.lock, self.victim = server.port, nth, 0, threading.Lock(), None
        super().__init__(("127.0.0.1", 0), _Handler)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def kills(self):
        """Counts a file; True: it was the nth, and nobody is alive who could send the rest."""
        with self.lock:
            self.seen += 1
            if self.seen != self.nth:
                return False
        while self.victim is None:
            time.sleep(0.001)
        os.killpg(self.victim.pid, signal.SIGKILL)
        return True

    def run(self, command, **kw):
        """Its wait status, when it has ended or was killed."""
        kw["env"] = {**kw["env"], **settings(self.server_address[1])}
        self.victim = subprocess.Popen(command, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, **kw)
        self.victim.wait(recording.LIMIT)
        self.shutdown()
        self.server_close()
        return self.victim.returncode


class _Handler(socketserver.BaseRequestHandler):
    """One connection."""

    def handle(self):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.server.server_port)) as there:
            back = threading.Thread(target=self.back, args=(there,), daemon=True)
            back.start()
            while data := self.request.recv(1 << 16):
                if data.startswith(b"PUT /") and self.server.kills():
                    there.sendall(data[:len(data) // 2])
                    break
                there.sendall(data)
            there.shutdown(socket.SHUT_WR)
            back.join(1)

    def back(self, there):
        with contextlib.suppress(OSError):
            while data := there.recv(1 << 16):
                self.request.sendall(data)
            self.request.shutdown(socket.SHUT_WR)
