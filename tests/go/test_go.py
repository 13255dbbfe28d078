#!/usr/bin/env python3
"""Programs from the Go module proxy: an OpenTelemetry collector gets Ocular's profiles, and its file and debug exporters have the
summary's sums, for the five programs of tests/wrapper/test_equality.py; google/pprof's top, peek, list and the graph of web.

Building them takes two minutes of CPU the first time, so `make test-go` runs this, and CI does not.
"""

import collections
import contextlib
import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(TESTS, "doors"))
import recording  # noqa: E402
import telemetry  # noqa: E402
from tap import Plan  # noqa: E402

# docs/exports.md names them. Modules of one release of the collector have two numbers.
COLLECTOR = {
    "go.opentelemetry.io/collector/": ("v0.165.0", "otelcol receiver/otlpreceiver exporter/debugexporter service"),
    "go.opentelemetry.io/collector": ("v1.71.0", "/confmap/provider/fileprovider"),
    "github.com/open-telemetry/opentelemetry-collector-contrib/": ("v0.165.1", "exporter/fileexporter"),
}
PPROF = "github.com/google/pprof@v0.0.0-20261105003125-4bf881d7fb0b"
BUILD_LIMIT = 1800  # s
CONFIG = """
receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:%d
exporters:
  debug:
    verbosity: detailed
  file:
    path: %s
service:
  pipelines:
    profiles:
      receivers: [otlp]
      exporters: [debug, file]
"""
NAMES = {"calls": "calls", "wall": "self_ns", "cpu": "self_cpu_ns", "waiting": "self_waiting_ns"}


class NotHere(Exception):
    """Something that is fetched could not be; the text says why."""


def go(folder, *arguments):
    return recording.run(["go", *arguments], cwd=folder, timeout=BUILD_LIMIT, env={**os.environ, "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOWORK": "off"})


def built(name, source, *modules):
    """A program's path. What the proxy does not give is a reason to skip, what does not compile is a failure."""
    folder = os.path.join(recording.BUILD, "go", name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "go.mod"), "w", encoding="utf-8") as file:
        file.write(f"module ocular.test/{name}\n")
    if source:
        shutil.copy(os.path.join(HERE, source), os.path.join(folder, "main.go"))
    done = go(folder, "get", *modules)
    if done.returncode:
        raise NotHere("go get: " + done.stderr.strip().splitlines()[-1])
    done = go(folder, "build", "-o", name, *([] if source else [modules[0].partition("@")[0]]))
    if done.returncode:
        raise RuntimeError(done.stderr)
    return os.path.join(folder, name)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(collector, folder):
    """(its URL, a list that has what it said when it has ended)."""
    port, said = free_port(), []
    with open(os.path.join(folder, "config.yaml"), "w", encoding="utf-8") as file:
        file.write(CONFIG % (port, os.path.join(folder, "out.jsonl")))
    command = [collector, "--config", "file:config.yaml", "--feature-gates=service.profilesSupport"]
    ready = threading.Event()

    def listen(stream):
        for line in stream:
            said.append(line)
            if "Everything is ready" in line:
                ready.set()
        ready.set()
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        thread = threading.Thread(target=listen, args=(process.stderr,))  # the debug exporter says more than a pipe holds
        thread.start()
        try:
            ready.wait()
            if process.poll() is not None:
                raise RuntimeError("".join(said[-5:]))
            yield f"http://127.0.0.1:{port}", said
        finally:
            process.terminate()
            thread.join()


def functions_of(request):
    """{kind: {(file, name, line): sum}} of one request, as the file exporter wrote it."""
    tables = request["dictionary"]
    texts = tables["stringTable"]
    found = {name: collections.Counter() for name in NAMES.values()}
    for resource in request["resourceProfiles"]:
        for scope in resource["scopeProfiles"]:
            for profile in scope["profiles"]:
                kind = NAMES[texts[profile["sampleType"]["typeStrindex"]]]
                for sample in profile.get("samples", ()):
                    location = tables["locationTable"][tables["stackTable"][sample["stackIndex"]]["locationIndices"][0]]
                    function = tables["functionTable"][location["lines"][0]["functionIndex"]]
                    place = texts[function.get("filenameStrindex", 0)], texts[function["nameStrindex"]], int(function.get("startLine", 0))
                    found[kind][place] += sum(map(int, sample["values"]))
    return found


def compare(summary, request):
    """Problems: functions of Python by name, and the sums of all."""
    problems, found = [], functions_of(request)
    rows = summary["functions"]
    for key in NAMES.values():
        wanted = collections.Counter()
        for row in rows:
            wanted[row["file"], row["qualname"], row["firstlineno"]] += row[key]
        ours = collections.Counter({place: n for place, n in found[key].items() if place in wanted})
        if +ours != +wanted:
            problems.append(f"{key}: {dict(ours - wanted)} too much, {dict(wanted - ours)} too little")
        others = [row for kind in ("c_functions", "collections") for row in summary[kind]]
        whole = sum(wanted.values()) + sum(row.get(key, row.get("count") if key == "calls" else 0) for row in others)
        if sum(found[key].values()) != whole:
            problems.append(f"{key}: {sum(found[key].values())} together, not {whole}")
    return problems


def equality():
    spec = importlib.util.spec_from_file_location("equality", os.path.join(TESTS, "wrapper", "test_equality.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PROGRAMS


def ocular(folder, *arguments):
    return recording.run([recording.WRAPPER, *arguments], cwd=folder, env=recording.plain_environment(no_proxy="127.0.0.1"))


def record(python, folder, source, options=()):
    """Its summary; the recording is FOLDER/data."""
    with open(os.path.join(folder, "app.py"), "w", encoding="utf-8") as file:
        file.write(source)
    for words in (("record", "-q", "--python", python, *options, "-o", "data", "--", "app.py"), ("report", "-q", "--summary", "summary", "data")):
        done = ocular(folder, *words)
        if done.returncode:
            raise RuntimeError(done.stderr)
    with open(os.path.join(folder, "summary"), encoding="utf-8") as file:
        return json.load(file)


# Each of two handlers waits in a span of its own.
SPANS = """
import asyncio
from opentelemetry.sdk.trace import Span
async def waits():
    await asyncio.sleep(.001)
async def handler(i):
    span = Span("GET /%d" % i, None, (2 ** 127 + i, 2 ** 63 + i, False))
    span.start()
    await waits()
    span.end()
async def main():
    await asyncio.gather(handler(1), handler(2))
    await waits()
asyncio.run(main())
"""


def linked_calls(request, function):
    """{(trace id, span id): how often it was called in that span}, None: in none."""
    tables, found = request["dictionary"], collections.Counter()
    texts = tables["stringTable"]
    for profile in (p for r in request["resourceProfiles"] for s in r["scopeProfiles"] for p in s["profiles"]):
        for sample in profile.get("samples", ()) if texts[profile["sampleType"]["typeStrindex"]] == "calls" else ():
            location = tables["locationTable"][tables["stackTable"][sample["stackIndex"]]["locationIndices"][0]]
            if texts[tables["functionTable"][location["lines"][0]["functionIndex"]]["nameStrindex"]] == function:
                link = tables["linkTable"][sample["linkIndex"]] if sample.get("linkIndex") else None
                found[link and (link["traceId"], link["spanId"])] += sum(map(int, sample["values"]))
    return dict(found)


def check_collector(python, collector, folder):
    problems, summaries = [], {}
    with running(collector, folder) as (url, said):
        for name, (source, options) in {**equality(), "spans": (SPANS, ())}.items():
            place = os.path.join(folder, re.sub(r"\W", "-", name))
            os.mkdir(place)
            telemetry.make_package(place)
            summaries[name] = record(python, place, source, options)
            done = ocular(place, "report", "-q", "--otlp", url, "data")
            if done.returncode or not re.fullmatch(rf"ocular: sent \d+ bytes of otlp to {url}/v1development/profiles\n", done.stderr):
                problems.append(f"{name}: exit status {done.returncode}, {done.stderr}")
        # Another version of the messages is refused, and the file stays.
        done = ocular(place, "report", "-q", "--otlp", url, "--push-header", "OTLP-Profiles-Development-Version: 2", "data")
        if done.returncode != 1 or not re.search("400 Bad Request: .*development-version.*; it is in 'data.unsent-.*'", done.stderr):
            problems.append(f"another version: exit status {done.returncode}, {done.stderr}")
    with open(os.path.join(folder, "out.jsonl"), encoding="utf-8") as file:
        requests = [json.loads(line) for line in file]
    if len(requests) != len(summaries):
        return [*problems, f"{len(requests)} requests in the file, not {len(summaries)}"]
    for (name, summary), request in zip(summaries.items(), requests):
        problems += [f"{name}: {problem}" for problem in compare(summary, request)]
    calls = linked_calls(requests[-1], "waits")
    if calls != {None: 1, **{(f"{2 ** 127 + i:032x}", f"{2 ** 63 + i:016x}"): 1 for i in (1, 2)}}:
        problems.append(f"links: {calls}")
    # The debug exporter shows each sample.
    shown = sum(map(int, re.findall(r"\bValues: \[(\d+)\]", "".join(said))))
    whole = sum(n for request in requests for sums in functions_of(request).values() for n in sums.values())
    if shown != whole:
        problems.append(f"the debug exporter shows {shown} in all, the file has {whole}")
    return problems


CALLS = """
def leaf(n):
    return n * n
def middle(n):
    for i in range(n):
        leaf(i)
def other():
    leaf(1)
middle(30)
other()
"""


def check_pprof(python, pprof, folder):
    """top, peek, list, and the graph that web draws: of calls, which are known."""
    record(python, folder, CALLS)
    ocular(folder, "report", "-q", "--pprof", "out.pb.gz", "data")
    problems = []

    def wanted(view, *patterns):
        done = recording.run([pprof, "-sample_index=calls", "-nodefraction=0", "-nodecount=10000", view, "out.pb.gz"], cwd=folder)
        missing = [pattern for pattern in patterns if not re.search(pattern, done.stdout, re.MULTILINE)]
        if done.returncode or missing:
            problems.append(f"{view}: exit status {done.returncode}, {missing} not in {done.stdout[:3000]}{done.stderr}")
    wanted("-top", r"^ +31 +\S+% +\S+% +31 +\S+% +leaf$", r"^ +1 +\S+% +\S+% +31 +\S+% +middle$")
    wanted("-peek=^leaf$", r"^ +30 +\S+% +\| +middle$", r"^ +1 +\S+% +\| +other$", r"^ +31 +\S+% +\S+% +31 +\S+% +\| leaf$")
    wanted("-list=^leaf$", r"^ +31 +31 .* 2 *:def leaf\(n\):$", r"^ +\. +\. +3: +return n \* n$")
    wanted("-dot", r'label="leaf\\n31 ', r'label="middle\\n1 ', r'-> N\d+ \[label=" 30"')
    return problems


TASKS = """
import asyncio
def leaf(n):
    return n * n
async def worker(n):
    for i in range(n):
        leaf(i)
        await asyncio.sleep(0)
async def main():
    leaf(1)
    await asyncio.gather(*(asyncio.create_task(worker(n), name=f"worker {n}") for n in (3, 4)))
asyncio.run(main())
"""


def check_tasks(python, pprof, folder):
    """-tagroot=task: each task is a root of its own, and has what was called in it."""
    record(python, folder, TASKS)
    ocular(folder, "report", "-q", "--pprof", "out.pb.gz", "data")
    done = recording.run([pprof, "-sample_index=calls", "-tagroot=task", "-focus=^leaf$", "-traces", "out.pb.gz"], cwd=folder)
    stacks = re.findall(r"^ +(\d+) +leaf\n((?: {5,}\S.*\n)+)", done.stdout, re.MULTILINE)
    found = {stack.splitlines()[-1].strip(): int(calls) for calls, stack in stacks}
    return [] if found == {"Task-1": 1, "worker 3": 3, "worker 4": 4} else [f"{found}: {done.stdout[:3000]}{done.stderr}"]


def modules():
    """What the collector is made of, as go get takes it."""
    return [prefix + name + "@" + version for prefix, (version, names) in COLLECTOR.items() for name in names.split()]


def main():
    options = recording.options().parse_args()
    recording.need_built()
    python = recording.pythons(options)[-1]
    cases = (("a collector of OpenTelemetry's has the summary's sums", check_collector, ("collector", "collector.go", *modules())),
             ("google/pprof's top, peek, list and graph", check_pprof, ("pprof", None, PPROF)),
             ("google/pprof takes a profile apart by task", check_tasks, ("pprof", None, PPROF)))
    with Plan() as plan:
        for name, check, program in cases:
            if not shutil.which("go"):
                plan.skip(name, "no Go here: apt-get install golang, 1.25 or newer")
                continue
            try:
                made = built(*program)
            except NotHere as e:
                plan.skip(name, str(e))
                continue
            with recording.scratch() as folder:
                plan.case(name, check, python, made, folder)


if __name__ == "__main__":
    main()
