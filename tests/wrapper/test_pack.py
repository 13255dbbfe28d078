#!/usr/bin/env python3
"""ocular pack and unpack: small, the same bytes, read by every command as the folder is; refusals, losses, and what other tools see."""

import itertools
import json
import math
import os
import pty
import re
import shutil
import subprocess
import sys
import tarfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import recording  # noqa: E402
from tap import Plan  # noqa: E402

MOST = 2.0  # bytes a marker, where the clock moves by STEP ticks at a time
STEP = 26
PIECE = 4 << 20
MEMORY_MOST = 64 << 10  # KB
# By what they do.
PROGRAMS = {
    "a numeric loop": "s = 0.0\nfor i in range(300_000):\n    s += i * 0.5 if i % 7 else -s / 3",
    "json and regular expressions": """
import json, re
rows = [{"id": i, "name": "user %d <u%d@example.org>" % (i, i)} for i in range(200)]
for _ in range(20):
    text = "".join(json.JSONEncoder(indent=1).iterencode(rows))
    [re.match(r"(\\w+) (\\d+)", row["name"]) for row in json.loads(text)]
    re.purge()
    re.compile("|".join("x%d+(y|z)*" % i for i in range(30)))""",
    "asyncio": """
import asyncio
async def worker(queue):
    while await queue.get():
        await asyncio.sleep(0)
async def main():
    queue = asyncio.Queue(50)
    tasks = [asyncio.create_task(worker(queue)) for _ in range(20)]
    for i in range(6000):
        await queue.put(1)
    for _ in tasks:
        await queue.put(0)
    await asyncio.gather(*tasks)
asyncio.run(main())""",
    "recursion": "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(24)",
    "a large program": """
import argparse, ast, inspect, tokenize, io, textwrap
text = inspect.getsource(argparse)
for _ in range(2):
    ast.unparse(ast.parse(text))
    list(tokenize.generate_tokens(io.StringIO(text).readline))""",
}


class Packed:
    """A folder with recordings, and what is made of them."""

    def __init__(self, python, folder):
        self.python, self.folder = python, folder

    def run(self, *words, **options):
        return recording.run([recording.WRAPPER, *words], cwd=self.folder, **options)

    def says(self, status, text, *words, **options):
        """Nothing, or what was said instead: one line with that text on stderr."""
        done = self.run(*words, **options)
        right = done.returncode == status and re.search(text, done.stderr) and done.stderr.count("\n") == 1
        return [] if right else ["%s ended with %d" % (" ".join(words), done.returncode), done.stderr]

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def record(self, name, program):
        done = self.run("record", "-o", name, "--python", self.python, "--", "-c", program, env=recording.plain_environment())
        if done.returncode:
            raise RuntimeError(done.stderr)
        return int(re.search(r"(\d+) markers", done.stderr)[1])

    def make_long(self):
        """Any bytes are packed."""
        os.makedirs(self.path("long"))
        with open(self.path("rec", "perf.data"), "rb") as once, open(self.path("long", "perf.data"), "wb") as file:
            data = once.read()
            while file.tell() < 200 << 20:
                file.write(data)


def contents(folder):
    found = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    return found


def cycles_behind_words(data, most=20_000):
    """Of CYC packets that follow a PTW packet of 8 bytes (Intel SDM, volume 3, "Intel PT packet definitions")."""
    for word in itertools.islice(re.finditer(rb"\x02\x32.{8}(.)", data, re.DOTALL), most):
        at, byte = word.start(1), data[word.start(1)]
        if byte & 3 != 3:
            continue
        cycles, shift, more = byte >> 3, 5, byte & 4
        while more and at + 1 < len(data):
            at += 1
            cycles, shift, more = cycles | data[at] >> 1 << shift, shift + 7, data[at] & 1
        yield cycles


def clock_step(path):
    """By how many ticks the clock moves at a time: nearly all times are a multiple; in payloads there may be what looks like one."""
    with open(path, "rb") as file:
        found = list(filter(None, cycles_behind_words(file.read(1 << 20))))
    return next(step for step in range(STEP, 0, -1) if sum(n % step == 0 for n in found) >= 0.99 * len(found))


def small(p, program):
    markers = p.record("small", program)
    problems = p.says(0, r"^\[ ocular: [\d.]+ MB of [\d.]+ MB in small\.ocular \]$", "pack", "--force", "small", "-o", "small.ocular")
    each = os.path.getsize(p.path("small.ocular")) / markers
    print("# %.2f bytes a marker, of %d" % (each, markers))
    shutil.rmtree(p.path("back"), ignore_errors=True)
    problems += p.says(0, r"^\[ ocular: [\d.]+ MB in back \]$", "unpack", "small.ocular", "back")
    if each > MOST + math.log2(STEP / clock_step(p.path("small", "perf.data"))) / 8:  # a finer clock tells more
        problems.append("%.2f bytes a marker" % each)
    return problems + (["other bytes came back"] if contents(p.path("small")) != contents(p.path("back")) else [])


def same_reports(p):
    """The folder's name is in none of these."""
    problems = []
    for options in (["--summary", "-"], ["--events", "-"], ["--decoder", "perf", "--events", "-"], ["--collapsed", "-"]):
        one, two = (p.run("report", *options, name) for name in ("rec", "rec.ocular"))
        if one.returncode or one.stdout != two.stdout or not one.stdout:
            problems.append("report %s differs: %s" % (" ".join(options), two.stderr))
    return problems


def same_in_diff(p):
    done = p.run("diff", "rec", "rec.ocular")
    return [] if done.returncode == 0 and "rec.ocular" in done.stdout else [done.stdout, done.stderr]


def same_in_view(p):
    """The page is beside the file, and is not made again."""
    page = p.path("rec.ocular.report.html")
    done = p.run("view", "--no-browser", "rec.ocular")
    made = os.stat(page).st_mtime_ns
    again = p.run("view", "--no-browser", "rec.ocular")
    right = not done.returncode and not again.returncode and page in done.stdout and os.stat(page).st_mtime_ns == made
    return [] if right else [done.stdout, done.stderr, again.stderr]


def same_in_fleet(p):
    """By way of the Python package: it is the folder's id."""
    program = "from ocular import tools, fleet_add\nfor name in 'rec', 'rec.ocular':\n  with tools.unpacked(name) as f: print(fleet_add.content_id(f))"
    done = recording.run([p.python, "-c", program], cwd=p.folder, env={**recording.plain_environment(), "PYTHONPATH": os.path.join(recording.BUILD, "python")})
    ids = done.stdout.split()
    return [] if len(ids) == 2 and ids[0] == ids[1] else [done.stdout, done.stderr]


def nothing_left(p):
    """Of what was unpacked for reading."""
    return os.listdir(p.path("tmp"))


def seen_by_tar(p):
    """Names, and a code table in pieces; Python's own module reads it once zstd has."""
    plain = subprocess.run(["zstd", "-dc", p.path("rec.ocular")], stdout=subprocess.PIPE, check=True).stdout
    with open(p.path("rec.tar"), "wb") as file:
        file.write(plain)
    with tarfile.open(p.path("rec.tar")) as tar:
        names = tar.getnames()
        about = json.load(tar.extractfile("about.json"))
        pieces = [(*name.split(".rows/"), tar.extractfile(name).read()) for name in names if name.startswith("codes-")]
    kept = contents(p.path("rec"))
    tables = {}
    for name, _, piece in sorted(pieces):
        tables[name] = tables.get(name, b"") + table_of(piece)
    problems = [name for name, text in tables.items() if text != kept[name]]
    if not tables or names[0] != "about.json" or "def work" not in about["command"][-1] or about["machine"]["host"] != os.uname().nodename:
        problems.append(repr((names, about)))
    if {each["name"]: each["size"] for each in about["files"]} != {name: len(text) for name, text in kept.items()}:
        problems.append("about.json has other files")
    return problems


def signed(n):
    return -(n >> 1) - 1 if n & 1 else n >> 1


def table_of(columns):
    """A piece of a code table: docs/pack.md, once more."""
    whole, *sizes = (int.from_bytes(columns[i:i + 4], "little") for i in range(0, 28, 4))
    parts = [columns[28 + sum(sizes[:i]):28 + sum(sizes[:i + 1])] for i in range(6)]
    opcodes, at, made, added = parts[4], [0] * 6, bytearray(), {}

    def number(i):
        n, at[i] = varint(parts[i], at[i])
        return n

    while len(made) < whole:
        n = number(0)
        made += parts[1][at[1]:at[1] + n]
        at[1] += n
        rows, opcode, offset, line = [], None, 0, 0
        for _ in range(number(0)):
            added[opcode] = added.get(opcode, 0) + signed(number(2))
            offset, line, opcode, target = offset + added[opcode], line + signed(number(3)), opcodes[at[4]], number(5)
            at[4] += 1
            rows.append("[%d,%d,%d,%d]" % (offset, line, opcode, offset + signed(target - 1) if target else -1))
        made += ",".join(rows).encode()
    return bytes(made)


def varint(bytes_, at):
    shift = n = 0
    while True:
        n |= (bytes_[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if not bytes_[at - 1] & 0x80:
            return n, at


def cyc(cycles):
    """Such a packet (Intel's manual)."""
    made = [3 | cycles << 3 & 0xF8]
    cycles >>= 5
    while cycles:
        made[-1] |= 1 if len(made) > 1 else 4
        made.append(cycles << 1 & 0xFE)
        cycles >>= 7
    return bytes(made)


def cyc_end(column, at):
    more = column[at] & 4
    while more:
        at += 1
        more = column[at] & 1
    return at + 1


def cycs_of(column, step):
    """The CYC packets of that column, one by one."""
    at = phase = 0
    while at < len(column):
        number, at = varint(column, at) if step else (0, at)
        if number:
            whole, phase = divmod((number - 1) * step + phase, 8)
            yield cyc(whole)
            continue
        packet, at = column[at:cyc_end(column, at)], cyc_end(column, at)
        yield packet
        if step and len(packet) <= 4:
            cycles = packet[0] >> 3 | sum(byte >> 1 << 5 + 7 * i for i, byte in enumerate(packet[1:]))
            steps = (8 * cycles + step // 2) // step
            least = 8 * cycles - steps * step
            if abs(least) < 8:
                phase = (steps * step + min(max(phase, least), least + 7)) % 8


def piece_of(columns):
    """docs/pack.md, once more."""
    whole, *sizes, step = (int.from_bytes(columns[i:i + 4], "little") for i in range(0, 24, 4))
    parts, at = [], 24
    for size in sizes:
        parts.append(columns[at:at + size])
        at += size
    runs, literals, cycles, words = parts
    cycs = cycs_of(cycles, step)
    made, r, a, w, due, numbers, given = bytearray(), 0, 0, 0, 0, {}, 0
    while len(made) < whole:
        n, r = varint(runs, r)
        made += literals[a:a + n]
        a += n
        if n >= 16:
            numbers, given = {}, 0
        n, r = varint(runs, r)
        size, second, shift = (8, 0x32, 52) if n & 1 else (4, 0x12, 25)
        for _ in range(n >> 1):
            made += next(cycs)
            word = int.from_bytes(words[w:w + size], "little")
            w += size
            seq = (word >> shift) + due & 0x7F
            due = seq + 1
            place = word & ~(0x7F << shift)
            if size == 8 and place in numbers:
                made += bytes((2, 0x12)) + (seq << 25 | 0x16 << 20 | numbers[place]).to_bytes(4, "little")
                continue
            if given and size == 8 and 4 <= place >> 59 <= 22 and len(numbers) < 4096:
                numbers[place] = given
            if size == 8:
                given = place & 0xFFFFF if place >> 48 == 29 << 11 | 1 else 0
            made += bytes((2, second)) + (place | seq << shift).to_bytes(size, "little")
    return bytes(made)


def found_by_the_table(p):
    """The last piece of perf.data, from nothing but the table and its frame."""
    with open(p.path("rec.ocular"), "rb") as file:
        packed = file.read()
    n = int.from_bytes(packed[-9:-5], "little")
    table = packed[-9 - 8 * n:-9]
    if packed[-4:] != (0x8F92EAB1).to_bytes(4, "little") or packed[-9 - 8 * n - 8:][:4] != (0x184D2A5E).to_bytes(4, "little"):
        return ["no table"]
    with open(p.path("rec", "perf.data"), "rb") as file:
        data = file.read()
    files = [name for name in contents(p.path("rec")) if name.startswith("codes-")]
    frames = 1 + sum(max(1, -(-os.path.getsize(p.path("rec", name)) // PIECE)) for name in files)
    last = frames + (len(data) - 1) // PIECE
    begin = sum(int.from_bytes(table[8 * i:8 * i + 4], "little") for i in range(last))
    frame = packed[begin:begin + int.from_bytes(table[8 * last:8 * last + 4], "little")]
    plain = subprocess.run(["zstd", "-dc"], input=frame, stdout=subprocess.PIPE, check=True).stdout
    size = int(plain[124:135], 8)
    problems = [] if plain[:24] == b"perf.data.columns/%06d" % ((len(data) - 1) // PIECE) else [repr(plain[:100])]
    return problems if piece_of(plain[512:512 + size]) == data[(len(data) - 1) // PIECE * PIECE:] and last > frames else problems + ["another piece"]


def refused(p):
    """Nothing is replaced, and nothing is written."""
    os.makedirs(p.path("empty"), exist_ok=True)
    with open(p.path("text.ocular"), "w", encoding="utf-8") as file:
        file.write("PERFILE2")
    before = contents(p.path("rec"))
    problems = p.says(1, "'rec.ocular' is there already: --force replaces it", "pack", "rec")
    problems += p.says(1, "'back' is there already: name another folder, or --force moves it to 'back.old'", "unpack", "rec.ocular", "back")
    problems += p.says(1, "'empty' is not a recording: it has no perf.data", "pack", "empty")
    problems += p.says(1, "No such file", "pack", "nowhere")
    problems += p.says(1, "'text.ocular' is not a packed recording", "unpack", "text.ocular")
    problems += p.says(1, "'text.ocular' is not a packed recording", "report", "text.ocular")
    problems += p.says(2, "'rec.ocular' is not a folder", "pack", "rec.ocular")
    problems += p.says(2, "name the folder to make, too", "unpack", "rec.tar")
    problems += p.says(2, "'rec.ocular' is packed", "report", "--follow", "rec.ocular")
    problems += p.says(2, "one recording at a time", "pack", "rec", "back")
    left = [name for name in os.listdir(p.folder) if name in ("empty.ocular", "nowhere.ocular", "text") or name.endswith(".tmp")]
    return problems + left + (["the recording changed"] if contents(p.path("rec")) != before else [])


def forced(p):
    problems = p.says(0, "MB in rec.ocular", "pack", "--force", "rec") + p.says(0, "MB in back ", "unpack", "--force", "rec.ocular", "back")
    problems += p.says(1, "'back' and 'back.old' are there already", "unpack", "--force", "rec.ocular", "back")
    return problems + ([] if contents(p.path("back")) == contents(p.path("rec")) else ["other bytes"])


def removed(p):
    """Only when asked, and only if all of it is in the file."""
    shutil.copytree(p.path("rec"), p.path("gone"))
    os.symlink("perf.data", p.path("gone", "link"))
    done = p.run("pack", "--remove", "gone")
    kept = os.path.isdir(p.path("gone")) and "was not removed" in done.stderr and done.returncode == 1
    os.unlink(p.path("gone", "link"))
    problems = p.says(0, "MB in gone.ocular", "pack", "--remove", "--force", "gone") + ([] if kept else [done.stderr])
    problems += ["it is still there"] if os.path.exists(p.path("gone")) else []
    problems += p.says(0, "MB in gone ", "unpack", "gone.ocular")
    return problems + ([] if contents(p.path("gone")) == contents(p.path("rec")) else ["other bytes"])


def cut(p):
    """What is left is told, unpacked, and reported."""
    with open(p.path("rec.ocular"), "rb") as whole, open(p.path("cut.ocular"), "wb") as part:
        part.write(whole.read()[:os.path.getsize(p.path("rec.ocular")) * 3 // 4])
    problems = p.says(3, r"^ocular-pack: 'cut.ocular' is cut off: only [\d.]+ of [\d.]+ MB could be unpacked; perf.data ends early$",
                      "unpack", "cut.ocular")
    whole, part = contents(p.path("rec")), contents(p.path("cut"))
    if any(not whole[name].startswith(part[name]) for name in part) or len(part["perf.data"]) % PIECE or not part["perf.data"]:
        problems.append("other bytes")
    done = p.run("report", "cut.ocular")
    if done.returncode or "is cut off" not in done.stderr or "repaired" not in done.stderr or "work" not in done.stdout:
        problems += ["report ended with %d" % done.returncode, done.stderr]
    return problems


APP = "def total(n):\n    s = 0\n    for i in range(n):\n        s += i  # a remark of its own\n    return s\nimport json\njson.dumps([total(20_000)])\n"


def sources(p):
    """The program's own come with it, and are shown where the file is another one or not there; a library's do not."""
    app, remark = p.path("app.py"), "# a remark of its own"
    with open(app, "w", encoding="utf-8") as file:
        file.write(APP)
    p.run("record", "-q", "-o", "own", "--python", p.python, "--", "app.py", env=recording.plain_environment())
    problems = p.says(0, r"MB in own\.ocular, with 1 source file \]", "pack", "own")
    problems += p.says(0, r"MB in none\.ocular \]", "pack", "--no-sources", "own", "-o", "none.ocular")
    os.unlink(app)
    for name, shown in (("own", False), ("none.ocular", False), ("own.ocular", True)):
        text = p.run("report", "--loops", "1", name).stdout
        problems += [] if (remark in text) == shown and "total" in text else [name, text]
    with open(app, "w", encoding="utf-8") as file:
        file.write(APP.replace("of its own", "of another"))
    os.utime(app, (1, 1))
    text = p.run("report", "--loops", "1", "own.ocular").stdout
    problems += [] if remark in text and "of another" not in text else [text]
    p.run("unpack", "-q", "own.ocular", "again")
    kept = contents(p.path("again"))
    if json.loads(kept.pop("sources.jsonl")) != {"file": app, "text": APP} or kept != contents(p.path("own")):
        problems.append("other files came back")
    problems += p.says(0, "MB in again.ocular ", "pack", "again")
    done = p.run("record", "-q", "-o", "again", "--python", p.python, "--", "-c", "pass", env=recording.plain_environment())
    return problems + ([] if done.returncode == 0 and os.path.isdir(p.path("again.old")) else [done.stderr])


PEAK = "import resource, subprocess, sys\nsubprocess.run(sys.argv[1:], check=True)\nprint(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"


def flat_memory(p):
    """Of a recording that has more than that. A small Python asks: a child begins with the peak of its parent."""
    problems = []
    for words in (["pack", "long", "memory.ocular"], ["unpack", "memory.ocular", "memory"]):
        command = [os.path.join(recording.BUILD, "bin/ocular-pack"), words[0], "-q", *words[1:]]
        done = recording.run([sys.executable, "-c", PEAK, *command], cwd=p.folder)
        print("# %s: %s KB" % (words[0], done.stdout.strip()))
        if done.returncode or int(done.stdout) > MEMORY_MOST:
            problems.append("%s: %s KB %s" % (words[0], done.stdout, done.stderr))
    return problems


def shown_on_a_terminal(p):
    """A line that goes when all is done."""
    ours, theirs = pty.openpty()
    text = ""
    with subprocess.Popen([recording.WRAPPER, "pack", "long"], cwd=p.folder, stderr=theirs, stdin=subprocess.DEVNULL) as process:
        os.close(theirs)
        late = threading.Timer(recording.LIMIT, process.kill)
        late.start()
        try:
            while True:
                text += os.read(ours, 4096).decode()
        except OSError:  # nobody writes any more
            pass
        late.cancel()
    os.close(ours)
    right = process.returncode == 0 and re.search(r"\[ ocular: packed [\d.]+ of [\d.]+ MB \]\x1b\[K.*\r\x1b\[K\[ ocular: ", text, re.S)
    return [] if right else ["exit status %d" % process.returncode, repr(text)]


def main():
    recording.need_built()
    python = recording.pythons()[-1]
    with Plan() as plan, recording.scratch() as folder:
        p = Packed(python, folder)
        os.makedirs(p.path("tmp"))
        os.environ["TMPDIR"] = p.path("tmp")
        for name, program in PROGRAMS.items():
            plan.case("%s: small, and the same bytes" % name, small, p, program)
        p.record("rec", "def work(n):\n    for i in range(n):\n        str(i)\nwork(1_200_000)")
        p.make_long()
        plan.case("it packs", p.says, 0, "MB in rec.ocular", "pack", "rec")
        for check in (same_reports, same_in_diff, same_in_view, same_in_fleet, nothing_left, seen_by_tar, found_by_the_table, refused, forced,
                      removed, cut, sources, flat_memory, shown_on_a_terminal, nothing_left):
            plan.case(check.__name__.replace("_", " "), check, p)


if __name__ == "__main__":
    main()
