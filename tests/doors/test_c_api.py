#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Spans, instants and counters of an extension in C (ocular.h): what it counts and times itself, in the events, the summary, speedscope's
file and on the timeline; nothing while nobody records, on threads without the GIL, and where ocular is not installed."""

import json
import os

import recording

INCLUDE = os.path.join(recording.BUILD, "python", "ocular", "include")
EXTENSION = r"""
#include "ocular.h"
#include <pthread.h>
#include <time.h>

static struct ocular_name *outer, *inner, *half, *level, *unseen, *failing;

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void spin(long long ns)
{
	for (long long end = now() + ns; now() < end;)
		;
}

/* Returns the ns around the outer ones and inside of them, and the same of the inner ones. */
static PyObject *work(PyObject *self, PyObject *callback)
{
	long long sums[4] = { 0 }, at[8];

	for (int i = 0; i < 20; i++) {
		at[0] = now();
		ocular_begin(outer, 0);
		at[1] = now();
		at[2] = now();
		ocular_begin(inner, i);
		at[3] = now();
		spin(100000);
		at[4] = now();
		ocular_end(inner, i);
		at[5] = now();
		ocular_instant(half);
		ocular_counter(level, i / 4.0);
		Py_XDECREF(PyObject_CallNoArgs(callback));
		at[6] = now();
		ocular_end(outer, 0);
		at[7] = now();
		for (int n = 0; n < 4; n++)
			sums[n] += at[7 - n] - at[n];
	}
	return Py_BuildValue("((LL)(LL))", sums[1], sums[0], sums[3], sums[2]);
}

static void *beside(void *unused)
{
	ocular_begin(unseen, 0);
	ocular_instant(unseen);
	ocular_counter(unseen, 1);
	ocular_end(unseen, 0);
	return unused;
}

/* A thread that Python does not know, and this one without the GIL. */
static PyObject *without_gil(PyObject *self, PyObject *unused)
{
	pthread_t t;

	Py_BEGIN_ALLOW_THREADS
	beside(NULL);
	if (!pthread_create(&t, NULL, beside, NULL))
		pthread_join(t, NULL);
	Py_END_ALLOW_THREADS
	Py_RETURN_NONE;
}

static PyObject *fail(PyObject *self, PyObject *unused)
{
	ocular_begin(failing, 0);
	PyErr_SetString(PyExc_KeyError, "its own");
	ocular_instant(ocular_name("said with an exception"));
	ocular_end(failing, 0);
	return NULL;
}

static PyMethodDef methods[] = {
	{ "work", work, METH_O, NULL },
	{ "without_gil", without_gil, METH_NOARGS, NULL },
	{ "fail", fail, METH_NOARGS, NULL },
	{ NULL },
};
static struct PyModuleDef definition = { PyModuleDef_HEAD_INIT, .m_name = "said", .m_methods = methods };

PyMODINIT_FUNC PyInit_said(void)
{
	outer = ocular_name("outer");
	inner = ocular_name("inn\xc3\xa9r");
	half = ocular_name("half");
	level = ocular_name("level");
	unseen = ocular_name("unseen");
	failing = ocular_name("failing");
	return ocular_name("half") == half ? PyModule_Create(&definition) : NULL;
}
"""
PROGRAM = """
import json, sys
sys.path[:0] = PATHS
import said
def callback(): pass
def all_of_it():
    told = said.work(callback)
    said.without_gil()
    try: said.fail()
    except KeyError as e: assert e.args == ("its own",), e
    else: assert False
    return told
"""
MAIN = PROGRAM + "json.dump(all_of_it(), sys.stdout)\n"
# In two sessions, and outside of them; a name has another id in each.
SESSIONS = PROGRAM + """
import ocular
for n in "12":
    all_of_it()
    ocular.start_tracing(output=OUTPUT + n, mode="calls", perfetto=None, console=False)
    all_of_it()
    ocular.stop_tracing()
all_of_it()
"""
COUNTS = {"outer": 20, "innér": 20, "failing": 1}


def build(python, folder):
    """The extension, from the header alone."""
    include = recording.run([python, "-c", "import sysconfig; print(sysconfig.get_path('include'))"]).stdout.strip()
    with open(os.path.join(folder, "said.c"), "w", encoding="utf-8") as file:
        file.write(EXTENSION)
    done = recording.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-missing-field-initializers", "-shared",
                          "-fPIC", "-pthread", "-I" + INCLUDE, "-isystem", include, "-o", os.path.join(folder, "said.so"),
                          os.path.join(folder, "said.c")])
    if done.returncode:
        raise RuntimeError(done.stderr)


def test_cxx(python, folder):
    """The header alone is C++, too; all of its functions are called."""
    include = recording.run([python, "-c", "import sysconfig; print(sysconfig.get_path('include'))"]).stdout.strip()
    path = os.path.join(folder, "said.cc")
    with open(path, "w", encoding="utf-8") as file:
        file.write('#include "ocular.h"\n#include <vector>\nvoid all() {\n\tstruct ocular_name *n = ocular_name("n");\n'
                   "\tocular_begin(n, 1);\n\tocular_instant(n);\n\tocular_counter(n, 1.5);\n\tocular_end(n, 1);\n}\n")
    done = recording.run(["c++", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-std=c++17", "-I" + INCLUDE, "-isystem", include, path])
    return [done.stderr] * bool(done.returncode)


def source(text, folder, *paths):
    path = os.path.join(folder, "app.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("PATHS", repr([folder, *paths])).replace("OUTPUT", repr(folder + "/rec")))
    return path


def counts(folder):
    return {row["name"]: row["count"] for row in recording.summary(folder)["spans"]}


def words(folder):
    """LABEL words of the events: how many of what."""
    found = [0, 0, 0, 0]
    recording.report(folder, f"events={folder}/text")
    with open(folder + "/text", encoding="utf-8") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if fields[3:4] == ["EXTENSION"] and fields[7] == "7":
                found[int(fields[8]) >> 44 & 15] += 1
    return found


def test_recorded(python, folder):
    build(python, folder)
    program = source(MAIN, folder, os.path.join(recording.BUILD, "python"))
    done = recording.record(folder + "/rec", [python, program], recording.traced_environment("calls"))
    if done.returncode:
        return [done.stderr]
    told = dict(zip(COUNTS, json.loads(done.stdout)))
    rows = {row["name"]: row for row in recording.summary(folder + "/rec")["spans"]}
    problems = [f"{counts(folder + '/rec')}"] * (counts(folder + "/rec") != COUNTS)
    # Ocular's clock may differ by a thousandth.
    problems += [f"{name}: {rows[name]}, {least} ns inside of them, {most} around them" for name, (least, most) in told.items()
                 if not .999 * least <= rows[name]["total_ns"] <= 1.001 * most or rows[name]["unfinished"]]
    # instants: `half`, and one with an exception
    return problems + [f"{words(folder + '/rec')}"] * (words(folder + "/rec") != [21, 41, 41, 20]) + shown(folder, rows)


def shown(folder, rows):
    """The summary's times again: slices of the timeline, and speedscope's frames, which have all of a path at once."""
    recording.report(folder + "/rec", f"perfetto={folder}/trace.json", f"speedscope={folder}/speedscope.json")
    with open(folder + "/trace.json", encoding="utf-8") as file:
        events = json.load(file)
    stack, slices, inside = [], {}, set()
    for e in events:
        if e["ph"] == "B":
            inside.add((stack[-1]["name"] if stack else None, e["name"]))
            stack.append(e)
        elif e["ph"] == "E":
            begin = stack.pop()
            slices[begin["name"]] = slices.get(begin["name"], 0) + round(1000 * (e["ts"] - begin["ts"]))
    with open(folder + "/speedscope.json", encoding="utf-8") as file:
        scope = json.load(file)
    names, frames = [frame["name"] for frame in scope["shared"]["frames"]], {}
    for e in scope["profiles"][-1]["events"]:  # the thread's: spans are in none by time on a CPU
        sign = 1 if e["type"] == "C" else -1
        frames[names[e["frame"]]] = frames.get(names[e["frame"]], 0) + sign * e["at"]
    wanted = {("all_of_it", "outer"), ("outer", "innér"), ("outer", "callback"), ("all_of_it", "failing")}
    problems = [f"not nested: {wanted - inside}"] * bool(wanted - inside)
    values = [e["args"]["value"] for e in events if e["ph"] == "C" and e["name"] == "level"]
    marks = sum(e["ph"] == "i" and e["name"] == "half" for e in events)
    problems += [f"{marks} marks, {values}"] * (marks != 20 or values != [i / 4 for i in range(20)])
    return problems + [f"{name}: {row['total_ns']} ns, timeline {slices.get(name)}, speedscope {frames.get(name)}"
                       for name, row in rows.items() if not row["total_ns"] == slices.get(name) == frames.get(name)]


def test_sessions(python, folder):
    build(python, folder)
    program = source(SESSIONS, folder, os.path.join(recording.BUILD, "python"))
    done = recording.run([python, program], env=recording.plain_environment())
    if done.returncode:
        return [done.stderr]
    told = [counts(folder + "/rec" + n) for n in "12"]
    return [f"{told}"] * (told != [COUNTS] * 2)


def test_alone(python, folder):
    """Where there is no ocular."""
    build(python, folder)
    done = recording.run([python, "-S", source(MAIN, folder)], env=recording.plain_environment())
    return [done.stderr] * bool(done.returncode)


def cases(python, _):
    version = recording.version(python) + "t" * recording.is_free(python)
    yield f"{version} recorded", test_recorded, python
    yield f"{version} sessions", test_sessions, python
    yield f"{version} in C++", test_cxx, python
    yield f"{version} without ocular", test_alone, python


if __name__ == "__main__":
    recording.run_cases(cases)
