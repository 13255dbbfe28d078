#!/usr/bin/env python3
"""Profiles that are sent: what a receiver got has the summary's sums, and what it did not take stays, complete, where it is said to
be. Each answer of a receiver: tests/unit_py/test_push.py. A collector of OpenTelemetry's: tests/collector/test_collector.py.
"""

import contextlib
import gzip
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(TESTS, "golden"))
sys.path.insert(0, os.path.join(TESTS, "doors"))
import otlp_profile  # noqa: E402
import receiver  # noqa: E402
import recording  # noqa: E402
import test_exports  # noqa: E402
from receiver import answer  # noqa: E402
from tap import Plan  # noqa: E402

PROGRAM = """
import sys, threading
def job(n):
    return sum(i * i for i in range(n))
threads = [threading.Thread(target=job, args=(300,)) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
open("ran", "w").close()
sys.exit(int(sys.argv[1]))
"""
NAMES = {"calls": "calls", "wall": "self_ns", "cpu": "self_cpu_ns", "waiting": "self_waiting_ns"}
EITHER = "--otlp", "--pprof", "--collapsed"


class Case:
    """A recording, and the command."""

    def __init__(self, python, folder):
        self.python, self.folder, self.problems = python, folder, []
        self.data = os.path.join(folder, "app.data")
        with open(os.path.join(folder, "shop app.py"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        done = self.ocular("record", "-q", "--python", python, "-o", self.data, "--", "shop app.py", "0")
        if done.returncode:
            raise RuntimeError(done.stderr)
        self.ocular("report", "-q", "--summary", "summary.json", self.data)
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            self.summary = json.load(file)
        every = [row for kind in ("functions", "c_functions", "collections") for row in self.summary[kind]]
        self.sums = {name: sum(row.get(name, 0) for row in every) for name in NAMES.values()}
        self.sums["calls"] += sum(row["count"] for row in self.summary["collections"])

    def ocular(self, *arguments, **env):
        return recording.run([recording.WRAPPER, *arguments], cwd=self.folder, env=recording.plain_environment(no_proxy="127.0.0.1", **env))

    def report(self, *arguments, **env):
        return self.ocular("report", "-q", *arguments, self.data, **env)

    def equal(self, what, found, wanted):
        if found != wanted:
            self.problems.append(f"{what}: {found!r}, not {wanted!r}")

    def said(self, what, done, status, *patterns):
        """Exit status and whole lines on stderr."""
        lines = done.stderr.splitlines()
        if done.returncode != status or len(lines) != len(patterns) or not all(map(re.fullmatch, patterns, lines)):
            self.problems.append(f"{what}: exit status {done.returncode}, {done.stderr!r}; wanted {status}, {patterns}")

    def left(self):
        """Files that were not sent, with their paths."""
        return [os.path.join(self.folder, name) for name in sorted(os.listdir(self.folder)) if "unsent" in name]

    def remove_left(self):
        """All of them, of which the test knows."""
        for path in self.left():
            os.unlink(path)

    def check_sums(self, what, kind, path):
        if kind == "otlp":
            found = {key: sum(costs.values()) for key, costs in otlp_profile.costs(path).items()}
        elif kind == "pprof":
            rows, types = test_exports.pprof(path)
            found = {NAMES[name]: sum(values[n] for values in rows.values()) for n, name in enumerate(types)}
        else:
            with open(path, "rb") as file:
                found = {"self_ns": sum(int(line.rsplit(b" ", 1)[1]) for line in file)}
        self.equal(f"{what}: sums", found, {key: self.sums[key] for key in found})
        self.equal(f"{what}: kinds of sums", len(found), 1 if kind == "collapsed" else 4)

    def check_body(self, kind, request):
        path = os.path.join(self.folder, "got")
        with open(path, "wb") as file:
            file.write(request.body)
        self.check_sums(f"what the receiver of {kind} got", kind, path)


def query(request):
    parts = urllib.parse.urlsplit(request.path)
    return parts.path, dict(urllib.parse.parse_qsl(parts.query))


def check_otlp(case):
    with receiver.receiver(answer(200, **{"Content-Type": "application/x-protobuf"})) as server:
        done = case.report("--otlp", server.url)
    case.said("otlp", done, 0, f"ocular: sent [0-9]+ bytes of otlp to {server.url}/v1development/profiles")
    request, = server.taken
    case.equal("path", request.path, "/v1development/profiles")
    case.equal("left", case.left(), [])
    case.check_body("otlp", request)


def check_ingest(case):
    """Pyroscope's: name, and from when until when, are the recording's."""
    with open(next(entry.path for entry in os.scandir(case.data) if entry.name.startswith("codes-")), encoding="utf-8") as file:
        begun = json.loads(file.readline())["clock"]["realtime_ns"] // 10**9
    lasted = (case.summary["trace"]["end_ns"] - case.summary["trace"]["start_ns"]) / 1e9
    for kind, more in (("pprof", {"name": "shop_app.py", "format": "pprof"}),
                       ("collapsed", {"name": "shop_app.py.wall", "format": "folded", "units": "samples", "aggregationType": "sum",
                                      "sampleRate": "1000000000"})):
        with receiver.receiver() as server:
            done = case.report("--" + kind, server.url)
        case.said(kind, done, 0, f"ocular: sent [0-9]+ bytes of {kind} to {server.url}/ingest")
        request, = server.taken
        path, told = query(request)
        until = int(told.pop("until"))
        case.equal(f"{kind}: query", (path, told), ("/ingest", {"from": str(begun), "spyName": "ocular", **more}))
        if not begun + lasted <= until <= os.stat(os.path.join(case.data, "perf.data")).st_mtime + 2:
            case.problems.append(f"{kind}: until {until}, from {begun}, which lasted {lasted}")
        case.equal("left", case.left(), [])
        case.check_body(kind, request)


def check_own_query(case):
    with receiver.receiver() as server:
        case.report("--pprof", server.url + "/a/ingest?name=shop%7Benv%3Dtest%7D&from=1")
    path, told = query(server.taken[0])
    case.equal("what the URL says", (path, told["name"], told["from"]), ("/a/ingest", "shop{env=test}", "1"))


def check_kept(case):
    """--push sends what is written anyway, and leaves it."""
    with receiver.receiver() as server:
        done = case.report("--otlp", "a.otlp", "--pprof", "a.pb.gz", "--collapsed", "a.folded", "--firefox", "a.json", "--push", server.url)
    case.said("--push", done, 0, *[f"ocular: sent [0-9]+ bytes of {kind} to {server.url}/.*" for kind in ("collapsed", "pprof", "otlp")])
    for kind, name, request in zip(("collapsed", "pprof", "otlp"), ("a.folded", "a.pb.gz", "a.otlp"), server.taken):
        with open(os.path.join(case.folder, name), "rb") as file:
            kept = file.read()
        case.equal(f"{name} as it was sent", gzip.decompress(request.body) == kept if kind == "otlp" else request.body == kept, True)
        case.check_sums(name, kind, os.path.join(case.folder, name))
    case.equal("requests", len(server.taken), 3)


def check_alone(case):
    for path, wanted in (("", "/v1development/profiles"), ("/ingest", "/ingest"), ("/x/ingest?name=a", "/x/ingest"), ("/x", "/x")):
        with receiver.receiver() as server:
            case.report("--push", server.url + path)
        case.equal(f"--push URL{path}", [query(request)[0] for request in server.taken], [wanted])
        case.check_body("pprof" if "ingest" in path else "otlp", server.taken[0])


def check_not_taken(case):
    """The file is complete, and sent by hand it would be what was sent."""
    for kind in ("otlp", "pprof", "collapsed"):
        with receiver.receiver(answer(400, b"no room")) as server:
            done = case.report("--" + kind, server.url)
        case.said(kind, done, 1, rf"ocular: cannot send {kind} to {server.url}/\S+: 400 Bad Request: no room; it is in '{case.data}.unsent-[0-9]+-1\..*'")
        path, = case.left()
        case.equal("named", path in done.stderr, True)
        with open(path, "rb") as file:
            case.equal("kept as it was sent", file.read() == server.taken[0].body, True)
        case.check_sums(path, kind, path)
        os.unlink(path)


def check_one_of_two(case):
    """What becomes of one is not the other's."""
    with receiver.receiver() as server, receiver.nobody() as url:
        done = case.report("--collapsed", url, "--otlp", server.url, "--push-tries", "1")
    case.said("two", done, 1, "ocular: cannot send collapsed to .*: Connection refused; it is in '.*'", "ocular: sent .* of otlp to .*")
    case.equal("left", [path.rsplit(".", 1)[1] for path in case.left()], ["folded"])
    case.remove_left()


def check_again(case):
    with receiver.receiver(answer(503, **{"Retry-After": "0"}), answer(429, **{"Retry-After": "0"})) as server:
        done = case.report("--otlp", server.url)
    case.said("again", done, 0, "ocular: sent .* to .*; an earlier try may have been taken, too, and then it is there twice")
    case.equal("tries", len(server.taken), 3)
    case.equal("left", case.left(), [])
    case.check_body("otlp", server.taken[2])


def check_packed(case):
    """There is no folder that could keep it."""
    case.ocular("pack", "-q", "-o", "p.ocular", case.data)
    with receiver.receiver(answer(200), answer(404)) as server:
        done = case.ocular("report", "-q", "--otlp", server.url, "p.ocular")
        case.said("packed", done, 0, "ocular: sent .*")
        case.equal("left", case.left(), [])
        done = case.ocular("report", "-q", "--otlp", server.url, "p.ocular")
    case.said("packed, refused", done, 1, "ocular: cannot send otlp to .*: 404 Not Found; it is in 'p.ocular.unsent-.*'")
    path, = case.left()
    case.check_sums("packed", "otlp", path)
    os.unlink(path)


def check_run(case):
    """The program's exit status counts; the report's, if that is 0. What is wrong is said before the program runs."""
    for status, reply, wanted in ((0, 200, 0), (0, 400, 1), (3, 400, 3)):
        with receiver.receiver(answer(reply)) as server:
            done = case.ocular("run", "-q", "--python", case.python, "-o", "run.data", "--otlp", server.url, "--", "shop app.py", str(status))
        case.equal(f"run, {status} and {reply}", (done.returncode, len(server.taken)), (wanted, 1))
    case.equal("left by three recordings of one name", len(case.left()), 2)
    case.remove_left()
    ran = os.path.join(case.folder, "ran")
    for words in (("--otlp", "http://a b"), ("--push", "ftp://a"), ("--firefox", "http://a"), ("--otlp", "http://a", "--push-header", "secret"),
                  ("--otlp", "http://a", "--push-tries", "0"), ("--otlp", "http://a", "--push-timeout", "soon"), ("--push-tries", "3"),
                  ("--otlp", "-", "--push", "http://a"), ("--otlp", "http://a/ingest"), ("--collapsed", "http://a/v1development/profiles"),
                  ("--otlp", "a.otlp", "--pprof", "a.pb.gz", "--push", "http://a/x/ingest/")):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(ran)
        done = case.ocular("run", "-q", "--python", case.python, "-o", "run.data", *words, "--", "shop app.py", "0")
        case.said(words, done, 2, "ocular: .*")
        case.equal(f"{words}: secret told, ran", ("secret" in done.stderr, os.path.exists(ran)), (False, False))


def arguments_of_senders():
    """Command lines of all that sends now, which others can see."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as file:
            found.append(file.read())
    return [words for words in found if b"ocular.push" in words]


def check_headers(case):
    """From a file, the environment and the command line; others cannot see them."""
    seen = []

    def look(handler):
        seen.extend(arguments_of_senders())
        receiver.echo(400)(handler)
    with open(os.path.join(case.folder, "token"), "w", encoding="utf-8") as file:
        file.write("# ours\nAuthorization: Bearer filesecret\n")
    with receiver.receiver(look) as server:
        url = server.url.replace("//", "//user:urlsecret@")
        done = case.report("--otlp", url, "--push-header", "@token", "--push-header", "X-B: wordsecret", OCULAR_PUSH_HEADERS="X-A: envsecret\nX-B: other")
    case.said("headers", done, 1, f"ocular: cannot send otlp to {server.url}/v1development/profiles: 400 Bad Request: .*")
    told = server.taken[0].headers
    case.equal("headers", [told[name] for name in ("Authorization", "X-A", "X-B")], ["Bearer filesecret", "envsecret", "wordsecret"])
    case.equal("senders seen", [b"secret" in words for words in seen], [False] * max(1, len(seen)))
    case.equal("secret in what is said", [word for word in ("filesecret", "envsecret", "wordsecret", "urlsecret") if word in done.stderr], [])
    case.remove_left()


def check_interrupted(case):
    """Ctrl-C while nobody answers."""
    sender = []

    def stop(handler):
        handler.take()
        os.killpg(sender[0].pid, signal.SIGINT)
        handler.rfile.read(1)
    with receiver.receiver(stop) as server:
        command = [recording.WRAPPER, "report", "-q", "--otlp", server.url, case.data]
        # The server's thread waits for `sender` no longer than starting Python takes.
        sender.append(subprocess.Popen(command, cwd=case.folder, start_new_session=True, stderr=subprocess.PIPE, text=True,
                                       env=recording.plain_environment(no_proxy="127.0.0.1")))
        said = sender[0].communicate(timeout=recording.LIMIT)[1]
    case.equal("exit status", sender[0].returncode in (130, -signal.SIGINT), True)
    path, = case.left()
    case.equal("said", said, f"ocular: interrupted; what was not sent is in '{path}'\n")
    case.check_sums("interrupted", "otlp", path)
    os.unlink(path)


def check_tls(case):
    """A certificate that nobody vouches for is refused, at the first try."""
    key, certificate = os.path.join(case.folder, "key.pem"), os.path.join(case.folder, "cert.pem")
    done = recording.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
                          "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"])
    if done.returncode:
        raise RuntimeError(done.stderr)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with receiver.receiver() as server:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        url = server.url.replace("http:", "https:")
        done = case.report("--otlp", url)
        case.said("not trusted", done, 1, f"ocular: cannot send otlp to {url}/v1development/profiles: its certificate is not trusted: .*; it is in '.*'")
        case.equal("sent to nobody knows whom", server.taken, [])
        case.said("trusted", case.report("--otlp", url, SSL_CERT_FILE=certificate), 0, f"ocular: sent .* to {url}/.*")
        case.check_body("otlp", server.taken[0])
    case.remove_left()


CHECKS = {
    "OTLP": check_otlp, "Pyroscope's /ingest": check_ingest, "what the URL says counts": check_own_query, "--push keeps the files": check_kept,
    "--push alone": check_alone, "what is not taken stays": check_not_taken, "one of two": check_one_of_two, "tried again": check_again,
    "of a packed recording": check_packed, "ocular run": check_run,
    "headers": check_headers, "interrupted": check_interrupted, "TLS": check_tls,
}


def main():
    options = recording.options()
    options.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains it")
    options = options.parse_args()
    recording.need_built()
    with recording.scratch() as folder, Plan() as plan:
        case = Case(recording.pythons(options)[-1], folder)
        for name, check in CHECKS.items():
            if options.only not in name:
                continue
            if name == "TLS" and not shutil.which("openssl"):
                plan.missing(name, "openssl")
                continue
            case.problems = problems = []

            def run(check=check, problems=problems):
                check(case)
                return problems
            plan.case(name, run)


if __name__ == "__main__":
    main()
