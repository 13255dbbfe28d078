#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One thread of ocular-pt decodes while another one analyses, or each of several does both for some of the processes: no data race, under
ThreadSanitizer, with all kinds of words, and where code tables are missing, so that code objects are made while reading. `make sanitize`
builds that ocular-pt."""

import glob
import os

import recording

READER = os.path.join(recording.BUILD, "tsan-reader", "bin", "ocular-pt")
PROGRAM = """
import sys, threading, time, os
sys.path.insert(0, FOLDER)
import ocular, json, queue, gc
lock = threading.Lock()
def fails(n):
    if n: fails(n - 1)
    else: raise ValueError
def work(n):
    for i in range(200):
        with ocular.span("work", n=i) if i < 9 else lock:
            try: fails(3)
            except ValueError: ocular.counter("n", i)
        if i % 50 == 0: gc.collect()
threads = [threading.Thread(target=work, args=(n,), name=f"worker-{n}") for n in range(3)]
for t in threads: t.start()
for t in threads: t.join()
if not os.fork():
    work(0)
    os._exit(0)
os.wait()
"""
OUTPUTS = ("console=always", "summary={}", "html={}", "perfetto={}", "events={}", "pstats={}")
TOTALS = ("console=always", "for_fleet=yes", "summary={}", "opcode_pstats={}", "html={}", "pstats={}", "callgrind={}", "workers=4")


def read(record, folder, outputs, more):
    words = [word.format(os.path.join(folder, word.split("=")[0])) for word in outputs]
    environment = recording.plain_environment(TSAN_OPTIONS="exitcode=66")
    done = recording.run([READER, *words, *more, record], env=environment)
    return [f"exit status {done.returncode}: {done.stderr[:3000]}"] * bool(done.returncode)


def test_reader(python, tables, outputs, more, folder):
    record, path = os.path.join(folder, "rec"), os.path.join(folder, "app.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROGRAM.replace("FOLDER", repr(os.path.join(recording.BUILD, "python"))))
    done = recording.record(record, [python, path], recording.traced_environment("adaptive", OCULAR_ALSO="exceptions c_calls"))
    if done.returncode:
        return [done.stderr]
    for table in glob.glob(os.path.join(record, "codes-*")):
        if not tables:
            os.unlink(table)
    return read(os.path.join(record, "perf.data"), folder, outputs, more)


def cases(python, _):
    version = recording.version(python)
    yield f"{version} all kinds of words", test_reader, python, True, OUTPUTS, ()
    yield f"{version} threads by their names", test_reader, python, True, OUTPUTS, ("thread=worker-*", "by=thread")
    yield f"{version} no code tables", test_reader, python, False, OUTPUTS, ()
    yield f"{version} several workers", test_reader, python, True, TOTALS, ()
    yield f"{version} several workers, no code tables", test_reader, python, False, TOTALS, ()


if __name__ == "__main__":
    recording.run_cases(cases)
