#!/usr/bin/env python3
"""The note of a repair: each later report of that file mentions it, by both decoders, and of no other file.

An intact recording is reported as intact, whatever was done with it; if there is no note, the code tables say how much
was written, and which files there were.
"""

import os
import shutil
import sys

import perffile
import recording
from good import PROGRAM, ocular, refused

sys.path.insert(0, os.path.join(recording.ROOT, "tests", "recordings"))
import test_recordings as earlier  # noqa: E402

HEADER = 8  # bytes of a record without contents
CUTS = 3  # boundaries, evenly spread, and as many places between two
FLIGHT = PROGRAM + "import ocular\nfor i in range(3):\n    run(300)\n    ocular.take_snapshot(f'number {i}')\n"
ENDS_BY_SIGTERM = PROGRAM + "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n"
FORKS = PROGRAM + "import os\nfor _ in range(2):\n    if not os.fork():\n        run(400)\n        os._exit(0)\n    os.wait()\n"
STEADY = "import time\ndef f():\n    pass\nfor _ in range(4):\n    for i in range(20_000):\n        f()\n    time.sleep(0.1)\n"


def made(source, *options):
    def make(python, folder):
        data = os.path.join(folder, "data")
        recording.record(data, [python, "-c", source], recording.traced_environment("adaptive"), *options)
        return data
    return make


def unpacked(name):
    def make(_, folder):
        data = os.path.join(folder, "data")
        earlier.unpack(name, data)
        os.unlink(os.path.join(data, "events.txt"))
        return data
    return make


KINDS = {
    "plain": (made(PROGRAM), True),
    "ended by SIGTERM": (made(ENDS_BY_SIGTERM), True),
    "with forks that leave at once": (made(FORKS), True),
    "flight": (made(FLIGHT, "--flight", "1s"), True),
    "flight, of which only the end was taken": (made(PROGRAM, "--flight", "1s"), True),
    "kept to its end": (made(STEADY, "--keep-last", "1M"), True),
    "stopped at its size": (made(STEADY, "--max-size", "512K"), True),
    "PTWRITE": (unpacked("v1/ptwrite"), True),
    "PTWRITE in flight": (unpacked("v1/middle"), True),
    "emulated": (unpacked("v1/emulated"), False),  # which only perf reads, by walking code: not here
}


def records(content):
    """Where each record begins, and the end."""
    found = list(perffile.records(content))
    return [at for _, at, _ in found] + [found[-1][1] + found[-1][2]]


def lasting(content):
    """Records' boundaries without the end of the last one if that is only a header."""
    found = records(content)
    return found[:-1] if found[-1] - found[-2] == HEADER else found


def places(content):
    """Boundaries after the first record, which says that it is a trace, and the middles of what follows them."""
    found = lasting(content)[1:]
    some = {*found[:-1:max(1, (len(found) - 2) // CUTS)], found[-2]}
    return sorted({*some, *((a + b) // 2 for a, b in zip(found, found[1:]) if a in some), found[-1] - 1})


def put(data, content):
    with open(os.path.join(data, "perf.data"), "wb") as file:
        file.write(content)


def content_of(data):
    with open(os.path.join(data, "perf.data"), "rb") as file:
        return file.read()


def told(path, decoder):
    """(the console's and the page's text on losses, the summary's losses that are not 0), or an error's text."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    page, summary = os.path.join(folder, "page.html"), os.path.join(folder, "summary.json")
    done = ocular("report", path, "--decoder", decoder, "--html", page, "--summary", summary)
    if done.returncode:
        raise RuntimeError(f"{decoder}: {done.stderr}")
    with open(page, encoding="utf-8") as html, open(summary, encoding="utf-8") as file:
        losses = {key: n for key, n in recording.json.load(file)["losses"].items() if n}
        return done.stdout, html.read(), losses


def decoders(both):
    return ("perf", "libipt") if both else ("perf",)


def says_that_it_is_cut(path, both, where, times=2):
    """The same at each of several readings."""
    problems = []
    for decoder in decoders(both) * times:
        console, page, losses = told(path, decoder)
        for name, text in ("console", console), ("page", page):
            if "Nothing was lost" in text or "incomplete and was repaired" not in text:
                problems.append(f"{where}, {decoder}: the {name} does not tell")
        if losses.get("repaired") != 1:
            problems.append(f"{where}, {decoder}: the summary says {losses}")
    return problems


def is_whole(path, both, where, known):
    """Reported as before anything was done with it, and its file not changed."""
    problems = []
    for decoder in decoders(both):
        console, page, losses = told(path, decoder)
        if losses != known.get(decoder, losses) or {"repaired", "missing_files"} & losses.keys():
            problems.append(f"{where}, {decoder}: {losses}, not {known}")
        if not losses and not ("Nothing was lost." in console and "Nothing was lost." in page):
            problems.append(f"{where}, {decoder}: whole, but the console or the page does not say so")
        known[decoder] = losses
    return problems


def cut_anywhere(python, make, both, folder):
    data = make(python, folder)
    content, known = content_of(data), {}
    problems = is_whole(data, both, "whole", known)
    if content_of(data) != content:
        problems.append("reading it has changed it")
    for size in places(content):
        put(data, content[:size])
        problems += says_that_it_is_cut(data, both, f"cut to {size} of {len(content)}")
    put(data, content)
    return problems + is_whole(data, both, "a whole file in place of the one that was cut", known)


def cut_behind_its_data(python, make, both, folder):
    """Other data of perf's after that are gone, but no event is."""
    data = make(python, folder)
    content, known = content_of(data), {}
    problems = is_whole(data, both, "whole", known)
    end = lasting(content)[-1]
    for size in (end, end + 1, (end + len(content)) // 2, len(content) - 1):
        put(data, content[:size])
        problems += is_whole(data, both, f"cut to {size}", known)
    return problems


def never_closed(python, folder):
    """As perf leaves it when it is killed: the size is written last of all."""
    data = made(FLIGHT, "--flight", "1s")(python, folder)
    content = bytearray(content_of(data))
    end = records(content)[-1]
    content[perffile.DATA_SIZE:perffile.DATA_SIZE + 8] = bytes(8)
    put(data, content[:end])
    return says_that_it_is_cut(data, True, "not closed")


def note_stays(python, folder):
    """The note stays with the file, wherever it goes and whatever happens to it."""
    data = made(FLIGHT, "--flight", "1s")(python, folder)
    content = content_of(data)
    bounds = records(content)
    put(data, content[:bounds[-3]])
    path, moved = os.path.join(data, "perf.data"), os.path.join(data, "moved")
    problems = says_that_it_is_cut(data, True, "at first", 1)
    os.rename(path, moved)
    problems += says_that_it_is_cut(moved, True, "renamed", 1)
    os.rename(moved, path)
    shutil.copytree(data, data + ".copy", ignore=shutil.ignore_patterns("codes-*"))
    problems += says_that_it_is_cut(data + ".copy", True, "without its code table", 1)
    repaired = content_of(data)
    for size in range(bounds[-3], len(repaired)):
        put(data, repaired[:size])
        problems += says_that_it_is_cut(data, False, f"the note itself cut to {size}", 1)
    put(data, repaired[:bounds[3]])
    return problems + says_that_it_is_cut(data, True, "cut again", 1)


def mended_by_others(python, make, folder):
    """The header covers what is there and there is no note: the code tables say how much was written."""
    data = make(python, folder)
    content = content_of(data)
    whole = sum(sum(e.event != "GAP" for e in stream) for stream in recording.events(data).values())
    problems, less = [], 0
    for end in records(content)[1:-1]:
        put(data, perffile.end_at(content, end))
        came = sum(sum(e.event != "GAP" for e in stream) for stream in recording.events(data).values())
        less += came < whole
        for decoder in "perf", "libipt":
            console, page, losses = told(data, decoder)
            missing = losses.get("markers", 0)
            if missing < whole - came or came < whole and "Nothing was lost" in console + page:
                problems.append(f"{end}, {decoder}: {whole - came} events of {whole} are gone, told are {losses}")
    return problems + ([] if less else ["nothing was cut"])


def nothing_to_read(python, folder):
    """Files without even the record that they are a trace are refused."""
    data = made(PROGRAM)(python, folder)
    content = content_of(data)
    problems = []
    for size in (0, 50, 104, records(content)[0]):
        put(data, content[:size])
        for decoder in "perf", "libipt":
            problems += [f"{size}: {line}" for line in refused(ocular("report", data, "--decoder", decoder))]
    return problems


PIECES = ("--switch-output", "128K", "--ring-records", "2048")


def pieces_of(data):
    return sorted(name for name in os.listdir(data) if name.startswith("perf.data."))


def piece_missing(python, folder):
    """Each of the others says so, and is not reported as cut."""
    data = made(STEADY, *PIECES)(python, folder)
    names = [*pieces_of(data), "perf.data"]
    problems = [] if len(names) > 3 else [f"only {names}"]
    for name in names:
        problems += is_whole(os.path.join(data, name), True, name, {})
    for gone in names[0], names[1], names[-1]:
        os.rename(os.path.join(data, gone), os.path.join(folder, "gone"))
        for name in {names[1], names[2], names[-1]} - {gone}:
            for decoder in "perf", "libipt":
                console, page, losses = told(os.path.join(data, name), decoder)
                if losses != {"missing_files": 1} or "Nothing was lost" in console + page:
                    problems.append(f"{name} without {gone}, {decoder}: {losses}")
        os.rename(os.path.join(folder, "gone"), os.path.join(data, gone))
    return problems


def piece_cut(python, folder):
    """The report of that file says so, those of the others do not."""
    data = made(STEADY, *PIECES)(python, folder)
    name = pieces_of(data)[1]
    path = os.path.join(data, name)
    size = os.path.getsize(path)
    os.truncate(path, size // 2)
    problems = says_that_it_is_cut(path, True, name, 1)
    for other in {*pieces_of(data), "perf.data"} - {name}:
        problems += is_whole(os.path.join(data, other), True, other, {})
    return problems


def pieces_let_go(python, folder):
    """By --switch-max-files: none of them is missing."""
    data = made(STEADY, *PIECES, "--switch-max-files", "3")(python, folder)
    names = [*pieces_of(data), "perf.data"]
    problems = [] if len(names) == 3 else [f"{names}"]
    for name in names:
        problems += is_whole(os.path.join(data, name), True, name, {})
    os.unlink(os.path.join(data, names[0]))
    losses = told(data, "perf")[2]
    return problems + ([] if losses == {"missing_files": 1} else [f"without the oldest: {losses}"])


CASES = {
    **{f"cut, {name}": (cut_anywhere, *kind) for name, kind in KINDS.items()},
    **{f"cut behind its data, {name}": (cut_behind_its_data, *KINDS[name]) for name in ("plain", "flight", "PTWRITE")},
    **{f"mended without a note, {name}": (mended_by_others, KINDS[name][0])
       for name in ("plain", "ended by SIGTERM", "with forks that leave at once", "flight")},
    "never closed": (never_closed,),
    "the note stays": (note_stays,),
    "nothing to read": (nothing_to_read,),
    "a piece is missing": (piece_missing,),
    "a piece is cut": (piece_cut,),
    "pieces that were let go": (pieces_let_go,),
}


def cases(python, _):
    version = recording.version(python)
    for name, (function, *arguments) in CASES.items():
        yield f"{version} {name}", function, python, *arguments


if __name__ == "__main__":
    recording.run_cases(cases)
