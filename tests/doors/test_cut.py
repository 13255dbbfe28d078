#!/usr/bin/env python3
"""A recording that was cut always says so: at each reading after the repair, by each decoder, in each report.

Copies are cut at the end of each of their records and inside it. The events of the complete one show what is
missing: if the copy has fewer, no output may say that nothing was lost; if only what follows the data is gone, none
may say that something was. And one is cut while it is read.
"""

import json
import os
import shutil
import subprocess
import sys

import perffile
import recording

PT = os.path.join(recording.BUILD, "bin", "ocular-pt")
BY_PERF = 4  # how many of the cuts perf reads, too
WHOLE = "Nothing was lost."

WORK = """
import os, sys, threading
def inner(i): return i * i
def work(n): return sum(inner(i) for i in range(n))
threads = [threading.Thread(target=work, args=(400,)) for _ in range(3)]
for t in threads: t.start()
work(400)
for t in threads: t.join()
"""
FLIGHT = WORK + """
import ocular
for label in "abc":
    work(300)
    ocular.take_snapshot(label)
"""
FORKS = FLIGHT + """
if not os.fork():
    work(200)
    ocular.take_snapshot("child")
    os._exit(0)
os.wait()
"""
MANY = """
def call(): pass
for _ in range(400_000): call()
"""
# name, program, options of ocular-record
KINDS = (("plain", WORK, ()), ("flight", FLIGHT, ("--flight", "16K")),
         ("flight of forks", FORKS, ("--flight", "10ms")), ("without a stop", WORK + "os._exit(0)\n", ()))


def read(data, decoder):
    """(losses of the summary that are not 0, console, page, events) of a recording."""
    out = {name: os.path.join(data, name) for name in ("summary", "console", "html", "events")}
    words = [f"{name}={path}" for name, path in out.items() if name != "console"]
    if decoder == "perf":
        console = recording.report(data, *words, "console=always")
    else:
        done = recording.run([PT, *words, "console=always", data], env=recording.plain_environment())
        if done.returncode:
            raise RuntimeError(done.stderr)
        console = done.stdout
    with open(out["summary"], encoding="utf-8") as file:
        losses = {key: count for key, count in json.load(file)["losses"].items() if count}
    with open(out["html"], encoding="utf-8") as file:
        page = file.read()
    with open(out["events"], encoding="utf-8", newline="\n") as file:
        events = sum(line[0] != "#" and "\tGAP\t" not in line for line in file)
    return losses, console, page, events


def places(path):
    """Where to cut: after each record, and in its middle."""
    file = perffile.PerfFile(path)
    records = list(file.records())
    for _, at, size in records:
        yield from (at, at + size // 2)
    yield records[-1][1] + records[-1][2]


def read_cut(whole, size, decoders, folder):
    """(decoder, what read() returns) for a copy that ends at `size`: twice each, after one repair. None: it is refused."""
    data = os.path.join(folder, "cut")
    shutil.rmtree(data, ignore_errors=True)
    shutil.copytree(whole, data)
    os.truncate(os.path.join(data, "perf.data"), size)
    done = recording.run([recording.FSCK, data])
    if done.returncode == 2:
        return None
    for decoder in decoders * 2:
        yield decoder, read(data, decoder)


def check(python, program, options, folder):
    data = os.path.join(folder, "data")
    done = recording.record(data, [python, "-c", program], recording.traced_environment("calls"), *options)
    if done.returncode:
        return [f"exit status {done.returncode}: {done.stderr}"]
    problems, cuts, events = [], 0, 0
    for decoder in "perf", "ocular-pt":
        losses, console, _, events = read(data, decoder)
        if losses or WHOLE not in console:
            problems.append(f"whole, {decoder}: {losses}")
    end = None
    for n, end in enumerate(sizes := list(places(os.path.join(data, "perf.data")))):
        decoders = ("ocular-pt", "perf") if n % (len(sizes) // BY_PERF) == 0 else ("ocular-pt",)
        for decoder, (losses, console, page, count) in read_cut(data, end, decoders, folder):
            cuts += 1
            told = "repaired" in losses and WHOLE not in console and WHOLE not in page
            if count < events and not told:
                problems.append(f"cut to {end}, {decoder}: {count} of {events} events, {losses}")
            if end == sizes[-1] and (losses or count != events):
                problems.append(f"cut behind its data, {decoder}: {count} of {events} events, {losses}")
    return problems + ([] if cuts > 20 else [f"only {cuts} readings"])


def nothing_read(python, program, options, folder):
    """The code tables with another recording's perf.data without a marker: what the tables count is missing."""
    data, other = (os.path.join(folder, name) for name in ("data", "other"))
    for where, text in ((data, program), (other, "pass")):
        done = recording.record(where, [python, "-c", text], recording.traced_environment("calls"), *options)
        if done.returncode:
            return [f"exit status {done.returncode}: {done.stderr}"]
    empty = perffile.PerfFile(os.path.join(other, "perf.data"))
    first = next(at for kind, at, _ in empty.records() if kind == perffile.AUXTRACE)
    empty.bytes = perffile.end_at(empty.bytes, first)
    empty.write(os.path.join(data, "perf.data"))
    problems = []
    for decoder in "perf", "ocular-pt":
        losses, console, page, count = read(data, decoder)
        if count or losses.get("markers", 0) < 500 or "repaired" in losses or WHOLE in console or WHOLE in page:
            problems.append(f"{decoder}: {count} events, {losses}")
    return problems


def while_read(python, folder):
    """Cut when its first events are told: far behind these it ends with a line, and what is told until then is whole."""
    data = os.path.join(folder, "data")
    done = recording.record(data, [python, "-c", MANY], recording.traced_environment("calls"))
    if done.returncode:
        return [f"exit status {done.returncode}: {done.stderr}"]
    with subprocess.Popen([PT, "workers=1", "console=never", "events=/dev/stdout", data], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env=recording.plain_environment()) as reader:
        reader.stdout.readline()
        os.truncate(path := os.path.join(data, "perf.data"), os.path.getsize(path) // 2)
        out, err = reader.communicate()
    said = "ocular-pt: the recording was cut while it was read\n"
    return [] if reader.returncode == 1 and err == said and out.count("\n") > 1000 else [f"exit status {reader.returncode}: {err}"]


def cases(python, _):
    version = recording.version(python)
    yield f"{version} cut while it is read", while_read, python
    for name, *what in KINDS:
        yield f"{version} {name}", check, python, *what
        yield f"{version} {name}, nothing read", nothing_read, python, *what


if __name__ == "__main__":
    sys.exit(recording.run_cases(cases))
