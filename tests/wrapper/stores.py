"""Servers on this machine that have a fleet store: S3's, Google's, Azure's, HDFS; and one in front of them, at which a process dies."""

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
from typing import NamedTuple

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "doors"))
import forks  # noqa: E402
import hadoop  # noqa: E402
import recording  # noqa: E402

GATEWAY = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"  # keeps objects as files of a folder
GCS = "github.com/fsouza/fake-gcs-server@v1.56.1"
AZURITE = "azurite@3.37.0"  # of npm
HADOOP = "3.5.0"
BUILD_LIMIT = 1800  # s: two minutes of CPU time
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="  # which Azurite has for everybody
MOTO = """
import sys, time
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(*server.get_host_and_port(), flush=True)
sys.stdin.read()
"""
MAKE = "import fsspec, sys; fs, path = fsspec.url_to_fs(sys.argv[1]); fs.mkdir(path)"
# Paths below a bucket's prefix, and each one's hash and time.
LIST = """
import fsspec, json, sys
fs, path = fsspec.url_to_fs(sys.argv[1])
print(json.dumps({fs.unstrip_protocol(name): [str(about.get(what)) for what in ("ETag", "etag", "size", "LastModified", "updated", "last_modified", "modification_time")]
                  for name, about in fs.find(path, detail=True).items()}))
"""
PUT = "import fsspec, sys; fs, path = fsspec.url_to_fs(sys.argv[1]); fs.makedirs(path.rpartition('/')[0], exist_ok=True); fs.put_file(sys.argv[2], path)"
REMOVE = "import fsspec, sys; fs, path = fsspec.url_to_fs(sys.argv[1]); fs.rm_file(path)"


def _s3(port):
    return {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull}


def _google(port):
    """GCSFS_...: whether it asks which kind of bucket it is, by an API that the server does not have."""
    return {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{port}", "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false"}


def _azure(port):
    place = f"http://127.0.0.1:{port}/devstoreaccount1"
    return {"AZURE_STORAGE_CONNECTION_STRING": f"DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey={KEY};BlobEndpoint={place};"}


def _nothing(port):
    """The address has the port."""
    return {}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def built(package, program, *command):
    """Its program, made once in a folder, where the command runs."""
    folder = os.path.join(recording.BUILD, package.replace("/", "-"))
    program = os.path.join(folder, program)
    os.makedirs(folder, exist_ok=True)
    with open(folder + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(program):
            done = recording.run([*command, package], timeout=BUILD_LIMIT, cwd=folder, env={
                **os.environ, "GOBIN": folder, "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOWORK": "off"})
            if done.returncode:
                raise RuntimeError(f"{package}: {done.stderr[-500:]}")
    return program


@contextlib.contextmanager
def _running(command, port, **more):
    """Until it is not needed any more; it listens there."""
    process = subprocess.Popen(command, env={**os.environ, **more}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
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
    try:
        with _running([built(GATEWAY, "versitygw", "go", "install"), "--port", f"127.0.0.1:{port}", "posix", "--sidecar", folders[1], folders[0]], port,
                      ROOT_ACCESS_KEY="somebody", ROOT_SECRET_KEY="secret"):
            yield port
    finally:
        shutil.rmtree(os.path.join(folder, ".s3"), ignore_errors=True)


def _fake_gcs(python, folder):
    port = free_port()
    return _running([built(GCS, "fake-gcs-server", "go", "install"), "-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory",
                     "-external-url", f"http://127.0.0.1:{port}"], port)


def _azurite(python, folder):
    port = free_port()
    program = built(AZURITE, "node_modules/.bin/azurite-blob", "npm", "install", "--no-audit", "--no-fund", "--prefix", ".")
    return _running([program, "--blobHost", "127.0.0.1", "--blobPort", str(port), "--inMemoryPersistence", "--silent", "--skipApiVersionCheck",
                     "--disableTelemetry"], port)


@contextlib.contextmanager
def _hdfs(python, folder):
    paths = hadoop.jars(HADOOP, *hadoop.HDFS)
    if not paths:
        raise RuntimeError("no Maven, or it is offline")
    port, made = free_port(), os.path.join(folder, ".hdfs")
    os.mkdir(made)
    with hadoop.hdfs(made, port, paths):
        yield port
    shutil.rmtree(made, ignore_errors=True)


class Kind(NamedTuple):
    """Of a server: how it starts, what the libraries are told, what an address begins with; how a write begins that Deadly counts, by its groups
    once, and how many there are for each file; what is said of a bucket that is not there, and without a library; who has no right, and what is
    said then."""

    start: object
    settings: object
    address: str
    writes: bytes = rb"PUT /"
    each: int = 1
    no_bucket: str = ""
    no_library: str = ""
    nobody: tuple = ({}, "")


S3_NOBODY = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, "Unable to locate credentials"
S3_TEXTS = "bucket does not exist", "fleet-s3", S3_NOBODY
KINDS = {
    "moto": Kind(_moto, _s3, "s3://", rb"PUT /", 1, *S3_TEXTS),
    "versitygw": Kind(_versity, _s3, "s3://", rb"PUT /", 1, *S3_TEXTS),
    "fake-gcs-server": Kind(_fake_gcs, _google, "gs://", rb"POST /upload/", 1, "there is no bucket 'not-there'", "fleet-gs"),
    "azurite": Kind(_azurite, _azure, "abfs://", rb"PUT /", 1, "container does not exist", "fleet-abfs",
                    ({"AZURE_STORAGE_CONNECTION_STRING": ""}, "cannot use 'abfs://")),
    # Of remote calls: a file is complete, and has its name. The first one is sent again until the data's server has told of the last block.
    "hdfs": Kind(_hdfs, _nothing, "hdfs://127.0.0.1:{}/", rb"(?s).*(complete|rename2)[^/]*([\x20-\x7e]+)", 2, "", "fleet-hdfs"),
}


class Server:
    """Use as a context manager."""

    def __init__(self, python, folder, kind):
        self.python, self.folder, self.kind = python, folder, KINDS[kind]

    def __enter__(self):
        self.running = contextlib.ExitStack()
        self.port = self.running.enter_context(self.kind.start(self.python, self.folder))
        return self

    def settings(self):
        """Of the libraries: this server, and nothing of whoever runs the test."""
        return self.kind.settings(self.port)

    def __exit__(self, *_):
        self.running.close()

    def run(self, code, *words):
        done = forks.run(self.python, code, words, self.folder, recording.plain_environment(**self.settings()))
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout

    def make(self, bucket):
        """Its address."""
        address = self.kind.address.format(self.port) + bucket
        self.run(MAKE, address)
        return address

    def put(self, address, path):
        """A file of this machine's."""
        self.run(PUT, address, path)

    def remove(self, address):
        """A file."""
        self.run(REMOVE, address)


class Deadly(socketserver.ThreadingTCPServer):
    """Hands everything on to the server, until the nth file is on its way: of that it hands on only the beginning, and ends `victim`'s group."""

    daemon_threads = True

    def __init__(self, server, nth):
        self.server, self.nth, self.seen, self.known, self.lock, self.victim = server, nth, 0, set(), threading.Lock(), None
        super().__init__(("127.0.0.1", 0), _Handler)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def kills(self, data):
        """Counts a file; True: it was the nth, and nobody is alive who could send the rest."""
        write = re.match(self.server.kind.writes, data)
        with self.lock:
            if not write or write.groups() in self.known:
                return False
            self.known.update({write.groups()} - {()})
            self.seen += 1
            if self.seen != self.nth:
                return False
        while self.victim is None:
            time.sleep(0.001)
        os.killpg(self.victim.pid, signal.SIGKILL)
        return True

    def run(self, command, **kw):
        """Its wait status, when it has ended or was killed."""
        port = self.server_address[1]
        kw["env"] = {**kw["env"], **self.server.kind.settings(port)}
        self.victim = subprocess.Popen([word.replace(f":{self.server.port}/", f":{port}/") for word in command], start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, **kw)
        self.victim.wait(recording.LIMIT)
        self.shutdown()
        self.server_close()
        return self.victim.returncode


class _Handler(socketserver.BaseRequestHandler):
    """One connection."""

    def handle(self):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.server.server.port)) as there:
            back = threading.Thread(target=self.back, args=(there,), daemon=True)
            back.start()
            while data := self.request.recv(1 << 16):
                if self.server.kills(data):
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
