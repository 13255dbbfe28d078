#!/usr/bin/env python3
"""Sampled C functions: their shares are those of a library that divides its work in known parts, and perf's.

    test_native.py [--python PY]... [--only TEXT]

Samples are random: what is compared may differ by five standard deviations, and 2 %.
"""

import json
import math
import os
import shutil
import struct
import subprocess

import recording
import seccomp

HZ = 999
# Each step waits for the result of the one before, so both loops take the same time a step wherever the compiler puts them; with
# a counter in memory one of them may take three times as long as the other.
LIBRARY = r"""
#define LOOP(n) \
	unsigned long x = 1; \
	for (long i = 0; i < (n); i++) { x = x * 6364136223846793005ul + 1; __asm__ volatile("" : "+r"(x)); } \
	volatile unsigned long result __attribute__((unused)) = x; /* so that each function has a frame */
static __attribute__((noinline)) void spin(long n) { LOOP(n) }
__attribute__((noinline)) void thirty(long n) { LOOP(3 * n) __asm__ volatile(""); }
__attribute__((noinline)) void seventy(long n) { spin(7 * n); __asm__ volatile(""); }
void split(long n) { for (int i = 0; i < 10; i++) { thirty(n); seventy(n); __asm__ volatile(""); } }
"""
HEAD = """
import ctypes, os, sys, threading, time
split = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "library.so")).split
split.argtypes = [ctypes.c_long]
def work(n=%d):
    split(n)
"""
N = 3_000_000  # some 0.4 s
PLAIN = (HEAD % N) + "work()\n"


def build(folder, *flags):
    source = os.path.join(folder, "library.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(LIBRARY)
    library = os.path.join(folder, "library.so")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", *flags, source, "-o", library], check=True)
    return library


def recorded(python, folder, source, *options, native=str(HZ), **kw):
    """(CompletedProcess, summary)"""
    path = os.path.join(folder, "program.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    record = os.path.join(folder, "rec")
    done = recording.record(record, [python, path], recording.traced_environment("adaptive"), "--native", native,
                            *options, **kw)
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr}")
    return done, recording.summary(record)


def rows(found, qualname="work"):
    """{symbol: row} of a Python function, those of all its processes added up."""
    all_rows = {}
    for row in found["native"]:
        if row["qualname"] == qualname:
            at = all_rows.setdefault(row["symbol"], {**row, "samples": 0, "self_samples": 0})
            at["samples"] += row["samples"]
            at["self_samples"] += row["self_samples"]
    return all_rows


def total(found, qualname="work"):
    return sum({(r["pid"], r["line"]): r["of_samples"] for r in found["native"] if r["qualname"] == qualname}.values())


def is_share(what, part, whole, true):
    """A problem, unless `part` of `whole` samples may be that share."""
    slack = 5 * math.sqrt(max(true * (1 - true), 0.01) * max(whole, 1)) + 0.02 * whole
    return [] if whole >= 50 and abs(part - true * whole) <= slack else [f"{what}: {part} of {whole}, not {true:.0%}"]


def parts(found, leaf="spin", qualname="work"):
    """Is the work divided as the library does?"""
    of, n = rows(found, qualname), total(found, qualname)
    count = lambda symbol, key: of.get(symbol, {key: 0})[key]
    problems = is_share("thirty", count("thirty", "samples"), n, 0.3)
    problems += is_share("thirty itself", count("thirty", "self_samples"), n, 0.3)
    problems += is_share("seventy", count("seventy", "samples"), n, 0.7)
    problems += is_share("seventy itself", count("seventy", "self_samples"), n, 0)
    problems += is_share("what seventy calls", count(leaf, "self_samples"), n, 0.7) if leaf else []
    problems += is_share("split", count("split", "samples"), n, 1)
    return problems + is_share("the interpreter", count("_PyEval_EvalFrameDefault", "samples"), n, 0)


def as_many_as_expected(found):
    """One a period of CPU time; the kernel's own part of it has none, nor what a hypervisor took."""
    expected = found["trace"]["cpu_ns"] * HZ / 1e9
    samples = found["sampling"]["samples"] + found["sampling"]["lost"]
    return [] if 0.8 * expected - 5 <= samples <= 1.01 * expected + 5 else [f"{samples} samples of {expected:.0f}"]


def test_shares(python, folder, *options):
    build(folder)
    _, found = recorded(python, folder, PLAIN, *options)
    return parts(found) + as_many_as_expected(found)


def test_both_decoders(python, folder):
    build(folder)
    _, found = recorded(python, folder, PLAIN)
    done = recording.run([os.path.join(recording.BUILD, "bin", "ocular-pt"), "summary=-", "console=never",
                          os.path.join(folder, "rec", "perf.data")])
    other = json.loads(done.stdout)
    return [f"{key} differs" for key in ("native", "sampling") if other[key] != found[key]]


def test_stripped(python, folder):
    """A function without a name is known by its place."""
    subprocess.run(["strip", build(folder)], check=True)
    _, found = recorded(python, folder, PLAIN)
    nameless = [name for name in rows(found) if name.startswith("library.so+0x")]
    return parts(found, nameless[0]) if len(nameless) == 1 else [f"{nameless} of {list(rows(found))}"]


def test_frame_pointers(python, folder):
    """Where there are no tables."""
    build(folder, "-fno-asynchronous-unwind-tables", "-fno-exceptions", "-fno-omit-frame-pointer",
          "-mno-omit-leaf-frame-pointer", "-Wl,--no-eh-frame-hdr")
    _, found = recorded(python, folder, PLAIN)
    return parts(found)


def test_linkers(python, folder):
    """They put the tables in different places."""
    problems = []
    for linker in "gold", "lld":
        if shutil.which("ld." + linker):
            build(folder, "-fuse-ld=" + linker)
            problems += [f"{linker}: {p}" for p in parts(recorded(python, folder, PLAIN)[1])]
    return problems


def test_neither(python, folder):
    """Then only the innermost function is told: nothing is guessed."""
    build(folder, "-fno-asynchronous-unwind-tables", "-fomit-frame-pointer", "-Wl,--no-eh-frame-hdr")
    _, found = recorded(python, folder, PLAIN)
    of, n = rows(found), total(found)
    told = {"thirty": 0.3, "spin": 0.7}
    return [p for name, share in told.items()
            for p in is_share(name, of.get(name, {"self_samples": 0})["self_samples"], n, share)]


def test_threads_and_processes(python, folder):
    """Threads that start later, forks, exec'ed children; a library that is loaded after all began."""
    build(folder)
    source = """
import ctypes, os, sys, threading
sum(range(3000000))
split = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "library.so")).split
split.argtypes = [ctypes.c_long]
def in_thread(): split(%d)
def in_child(): split(%d)
def in_image(): split(%d)
if len(sys.argv) > 1:
    in_image()
    sys.exit()
thread = threading.Thread(target=in_thread)
thread.start(), thread.join()
if not os.fork():
    in_child()
    os.execv(sys.executable, [sys.executable, __file__, "again"])
os.wait()
""" % (N, N, N)
    _, found = recorded(python, folder, source)
    return [f"{name}: {p}" for name in ("in_thread", "in_child", "in_image") for p in parts(found, qualname=name)]


def test_unknown(python, folder):
    """Code that is in no file."""
    source = """
import ctypes, mmap
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(bytes.fromhex("b900e1f505" "ffc9" "75fc" "c3"))  # mov ecx, 100000000; dec ecx; jnz; ret
code = ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
def work():
    for i in range(6): code()
work()
"""
    _, found = recorded(python, folder, source)
    return is_share("[unknown]", rows(found).get("[unknown]", {"self_samples": 0})["self_samples"], total(found), 1)


def test_library(python, folder):
    """zlib.compress is deflate, and sorted is not."""
    source = """
import os, zlib
data = os.urandom(1 << 19) + bytes(1 << 19)
def work():
    for i in range(12): zlib.compress(data)
def other():
    return sorted(range(400000), key=lambda i: i * 7919 % 100003)
work(), other()
"""
    _, found = recorded(python, folder, source)
    problems = is_share("deflate", rows(found).get("deflate", {"samples": 0})["samples"], total(found), 0.99)
    return problems + (["deflate in other()"] if "deflate" in rows(found, "other") else [])


def test_perf(python, folder):
    """perf record of the same program, untraced, finds the same."""
    build(folder)
    _, found = recorded(python, folder, PLAIN)
    data = os.path.join(folder, "perf.data")
    done = recording.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-c", "1001001", "-o", data, "--", python,
                          os.path.join(folder, "program.py")], env=recording.plain_environment())
    if done.returncode:
        return [done.stderr]
    text = recording.run(["perf", "script", "-i", data, "-F", "ip,sym"]).stdout.split()
    n = sum(text.count(name) for name in ("thirty", "spin", "seventy", "split"))
    of = rows(found)
    return [p for name in ("thirty", "spin")
            for p in is_share(f"{name}, as perf has {text.count(name)} of {n}", of[name]["self_samples"], total(found),
                              text.count(name) / max(n, 1))]


def test_forbidden(python, folder):
    """One line, and everything else as ever."""
    build(folder)
    done, found = recorded(python, folder, PLAIN, preexec_fn=seccomp.forbids(seccomp.EPERM, seccomp.PERF_EVENT_OPEN))
    said = [line for line in done.stderr.splitlines() if "--native" in line]
    console = recording.report(os.path.join(folder, "rec"), "console=always", "color=never")
    problems = [] if len(said) == 1 else [f"stderr: {done.stderr!r}"]
    problems += [] if "\nNone: perf_event_open: Operation not permitted\n" in console else [console]
    if found["native"] or found["sampling"]["error"] != "Operation not permitted":
        problems.append(f"{found['native']} {found['sampling']}")
    return problems + ([] if any(f["qualname"] == "work" for f in found["functions"]) else ["work is not told"])


def found_totals(folder):
    """How many the recorder took."""
    for name in os.listdir(folder):
        if name.startswith("codes-"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                return [json.loads(line) for line in file if line.startswith('{"kind":"native",')][-1]["samples"]


def test_pieces(python, folder):
    """What was sampled in an older file is in that one; each is read alone."""
    build(folder)
    source = HEAD % (N // 4) + "for i in range(4):\n    work()\n    for i in range(20000): str(i)\n"
    _, found = recorded(python, folder, source, "--switch-output", "200K")
    older = [name for name in os.listdir(os.path.join(folder, "rec")) if name.startswith("perf.data.")]
    n = found["sampling"]["samples"]
    for name in older:
        os.replace(os.path.join(folder, "rec", name), os.path.join(folder, "rec", "perf.data"))
        n += recording.summary(os.path.join(folder, "rec"))["sampling"]["samples"]
    said = found_totals(os.path.join(folder, "rec"))
    problems = [] if older else ["one file only"]
    return problems + ([] if n == said >= 50 else [f"{n} of {said} in {len(older) + 1} files"])


def test_flight(python, folder):
    done = recording.record(os.path.join(folder, "rec"), [python, "-c", ""], recording.traced_environment("adaptive"),
                            "--native", "999", "--flight", "1s")
    return [] if done.returncode == 2 and "--native and --flight cannot be combined" in done.stderr else [done.stderr]


def test_duty(python, folder):
    """Between windows nothing is sampled."""
    build(folder)
    source = HEAD % (N // 50) + "for i in range(200): work()\n"
    _, found = recorded(python, folder, source, "--duty", "25%", "--duty-window", "20ms")
    cpu = sum(f["self_cpu_ns"] for f in found["functions"] if f["qualname"] == "work") / found["trace"]["cpu_ns"]
    problems = is_share("work", total(found), found["sampling"]["samples"], cpu)
    expected = found["duty"]["traced_ns"] * HZ / 1e9
    samples = found["sampling"]["samples"]
    return problems + ([] if samples <= 1.2 * expected + 10 else [f"{samples} samples of {expected:.0f}"])


CASES = {
    "shares of 30 and 70": (test_shares,),
    "both decoders": (test_both_decoders,),
    "a stripped library": (test_stripped,),
    "frame pointers": (test_frame_pointers,),
    "other linkers": (test_linkers,),
    "neither tables nor frame pointers": (test_neither,),
    "threads and processes": (test_threads_and_processes,),
    "code of no file": (test_unknown,),
    "zlib": (test_library,),
    "perf record": (test_perf,),
    "perf_event_open is forbidden": (test_forbidden,),
    "pieces": (test_pieces,),
    "flight": (test_flight,),
    "duty": (test_duty,),
}


def may_sample():
    """Does this machine's kernel let us sample ourselves?"""
    attr = struct.pack("=IIQQQQQ", 1, 128, 0, 1000000, 1, 0, 3 << 5).ljust(128, b"\0")  # cpu-clock, without the kernel
    fd = seccomp.libc.syscall(seccomp.PERF_EVENT_OPEN, attr, 0, -1, -1, 0)
    if fd >= 0:
        os.close(fd)
    return fd >= 0


def cases(python, options):
    version = recording.version(python)
    allowed = may_sample()
    if not allowed:
        print("# perf_event_open is forbidden here: without the cases that sample", flush=True)
    for name, (function, *arguments) in CASES.items():
        if not allowed and function not in (test_forbidden, test_flight):
            continue
        yield f"{version}: {name}", function, python, *arguments


if __name__ == "__main__":
    recording.run_cases(cases)
