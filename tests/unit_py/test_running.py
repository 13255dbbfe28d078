# SPDX-License-Identifier: MIT
"""Callbacks of generators know their thread's state without asking CPython for it. That agrees with what CPython says in each
thread, interpreter and fork; where it cannot be found, they ask, and write the same words.

The first tests look into running.c (running_probe.c). In the others a library before CPython's counts how often it is asked
(running_counter.c).
"""

import contextlib
import importlib.util
import os
import subprocess
import sys
import sysconfig
import tempfile
import threading

import rec

HERE = os.path.join(rec.ROOT, "tests", "unit_py")
EXT = os.path.join(rec.ROOT, "helper-ext")
ASK = "PyThreadState_GetUnchecked" if sys.version_info >= (3, 13) else "_PyThreadState_UncheckedGet"

# Generators by turns and one alone, in threads and in another interpreter.
PROGRAM = """
import os, threading
def g_count(n):
    for i in range(n):
        yield i
def f_turns(n):
    for pair in zip(g_count(n), g_count(n)):
        pass
    for i in g_count(n):
        pass
def f_all():
    f_turns(2000)
    for i in range(3):
        t = threading.Thread(target=f_turns, args=(2000,))
        t.start()
        t.join()
if __name__ == "__main__":
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    f_all()
    other = interpreters.create()
    interpreters.run_string(other, "import sys; sys.path[:0] = [%r]; import program; program.f_all()" % os.path.dirname(__file__))
    interpreters.destroy(other)
"""
YIELDS = 2 * 4 * 3 * 2000


def compiled(path, *arguments):
    include = sysconfig.get_path("include")
    done = subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", "-pthread", "-Wall", "-Wextra", "-Werror",
                           "-Wno-unused-parameter", "-Wno-missing-field-initializers", "-I" + EXT, "-isystem", include, "-o", path,
                           *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return path


_probe = []


def probe():
    """The module, once."""
    if not _probe:
        with tempfile.TemporaryDirectory(prefix="ocular-unit-") as temp:
            path = compiled(temp + "/running_probe.so", HERE + "/running_probe.c", EXT + "/ext/image.c")
            spec = importlib.util.spec_from_file_location("running_probe", path)
            _probe.append(importlib.util.module_from_spec(spec))
            spec.loader.exec_module(_probe[0])
    return _probe[0]


def in_threads(function, n=8):
    """What it returns in each of that many threads, all of which are there at once."""
    found, together = [], threading.Barrier(n)

    def work():
        together.wait(60)
        found.append(function())
        together.wait(60)
    threads = [threading.Thread(target=work) for _ in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return found


def met():
    """Where the thread's word is: unknown until it has asked, and always the same from then on."""
    p = probe()
    first = p.word()
    assert p.meet()
    where = {p.word() for _ in range(20000)}
    return first, *where


def test_word_is_found():
    p = probe()
    assert p.find()
    rec.equal(p.word(), None)
    assert p.meet() and p.word()


def test_each_thread_has_its_own():
    p = probe()
    assert p.find() and p.meet()
    found = in_threads(met)
    assert all(len(x) == 2 and x[0] is None and x[1] for x in found), found
    rec.equal(len({p.word(), *(x[1] for x in found)}), 9)


def test_another_interpreter():
    p = probe()
    assert p.find() and p.meet() and p.in_another_interpreter()


def test_threads_that_python_does_not_know():
    p = probe()
    assert p.find() and p.in_a_visitor()


def test_fork():
    p = probe()
    assert p.find() and p.meet()
    word = p.word()
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            assert p.word() == word and p.meet() and p.word() == word
            (first, other), = in_threads(met, 1)
            assert first is None and other not in (None, word)
            os._exit(7)
        os._exit(1)
    rec.equal(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)


def test_only_one_word_will_do():
    found = probe().find_elsewhere()
    rec.equal({name for name, was in found.items() if was}, {"one", "one follows, others stay"})
    assert len(found) > 2


def test_unknown_word_is_asked_for():
    p = probe()
    p.find_elsewhere()  # the last one is not found
    assert p.meet()
    rec.equal([p.word(), in_threads(met)], [None, [(None, None)] * 8])


def test_word_that_is_not_right_is_given_up():
    p = probe()
    assert p.find()
    p.misplace()
    assert p.meet()
    rec.equal([p.word(), in_threads(met)], [None, [(None, None)] * 8])


def counted(temp, *defines):
    """How often CPython was asked, and the events of the program's generators with their objects."""
    library, numbers = compiled(temp + "/counter.so", "-DASK=" + ASK, *defines, HERE + "/running_counter.c"), temp + "/numbers"
    with rec.recording(PROGRAM, mode="calls", LD_PRELOAD=library, COUNTED=numbers) as r:
        rec.equal([r.code, r.err], [0, ""])
        with open(numbers) as f:
            asked = sum(map(int, f))
        return asked, [(e.tid, e.name, e.offset, e.object) for e in r.events("g_count")]


def by_thread(events):
    """Threads by their order instead of their numbers."""
    order = {tid: i for i, tid in enumerate(dict.fromkeys(e[0] for e in events))}
    return [(order[tid], *event) for tid, *event in events]


def test_asking_gives_the_same_words():
    """And is not needed."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as f:
        if "/libpython3" not in f.read():
            raise rec.Skip("no library comes before a CPython that is not one itself")
    with tempfile.TemporaryDirectory(prefix="ocular-unit-") as temp:
        seldom, events = counted(temp)
    with tempfile.TemporaryDirectory(prefix="ocular-unit-") as temp:
        often, others = counted(temp, "-DHIDDEN")
    rec.equal(sum(e[1] == "PY_YIELD" for e in events), YIELDS)
    assert 0 < seldom < YIELDS / 10 and often > YIELDS, (seldom, often)
    assert all(e[3] for e in events), "an object that is not known"
    assert by_thread(events) == by_thread(others), "other words"


if __name__ == "__main__":
    rec.run(globals())
