# SPDX-License-Identifier: MIT
"""Which backend is chosen and why; and that the words of PTWRITE are the words of the rings, one by one."""

import os
import re
import subprocess
import sys
import sysconfig
import tempfile

import rec

sys.path.insert(0, os.path.join(rec.ROOT, "tests/unit/helper-ext/record"))
import ptread  # noqa: E402

CATCH = os.path.join(rec.BUILD, "tests", "ptwrite-catch.so")
PMU_TYPE = 8
BRANCHES, PTW, PTW_BRANCHES, OLD, NOTHING = 0x2001, 0x1003, 0x3003, 0x0400, 0x0001

PROGRAM = """
def tree(n):
    if n:
        yield from tree(n - 1)
        yield n
        yield from tree(n - 1)
def main():
    for i in range(200):
        try:
            sum(tree(i % 4))
            if i % 7 == 0:
                raise KeyError(i)
        except KeyError:
            pass
main()
"""
FAR = "\n" * 1_100_000 + "def far():\n    while True:\n" + "        x = 1\n" * 400 + "        break\nfar()\n"


def fake_pmu(folder, ptwrite="1\n"):
    os.makedirs(folder + "/caps")
    for name, text in (("type", "%d\n" % PMU_TYPE), ("caps/ptwrite", ptwrite)):
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)
    return folder


def fake_perf_data(path, config, kind=PMU_TYPE):
    """The header that perf writes first: a software event, then intel_pt's."""
    def number(value, size):
        return value.to_bytes(size, "little")
    attrs = b"".join(number(t, 4) + number(136, 4) + number(c, 8) + bytes(136) for t, c in ((1, 9), (kind, config)))
    sections = ((104, len(attrs)), (104 + len(attrs), 0), (0, 0))
    with open(path, "wb") as f:
        f.write(b"PERFILE2" + number(104, 8) + number(152, 8) +
                b"".join(number(a, 8) + number(b, 8) for a, b in sections) + bytes(32) + attrs)


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OCULAR", "PTWRITE", "LD_PRELOAD"))}
    return dict(kept, PYTHONPATH=os.path.join(rec.BUILD, "python"), **more)


def under_perf(temp, command, config, env):
    """Run command as a child of a process called perf that has a perf.data open. config None: no perf."""
    perf = os.path.join(temp, "perf")
    fake_perf_data(temp + "/made.data", config if config is not None else 0)
    with open(perf, "w") as f:
        f.write("#!%s\nimport subprocess, sys\nf = open(sys.argv[1])\n"
                "sys.exit(subprocess.run(sys.argv[2:]).returncode)\n" % sys.executable)
    os.chmod(perf, 0o755)
    prefix = [perf, temp + "/made.data"] if config is not None else []
    return subprocess.run(prefix + command, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)


ASK = "import ocular.backends as b; c = b.choose(%r); print(c.name, c.why, c.folder(), sep='\\n')"

# wanted, config of the perf that records (None: none does), the processor, expected name, words of why
CHOICES = (
    ("auto", None, "ptwrite", "software", "ocular record"),
    ("auto", PTW, "ptwrite", "ptwrite", "perf records PTWRITE packets"),
    ("auto", PTW_BRANCHES, "ptwrite", "ptwrite", "PTWRITE"),
    ("auto", BRANCHES, "ptwrite", "emulated", "ask for -e intel_pt/ptw"),
    ("auto", OLD, "pt", "emulated", "perf records branches"),
    ("auto", PTW_BRANCHES, "pt", "emulated", "has no PTWRITE"),
    ("auto", PTW, "pt", None, "neither PTWRITE packets nor branches"),
    ("auto", NOTHING, "ptwrite", None, "ask for -e intel_pt/ptw,cyc,branch=0/u"),
    ("ptwrite", None, "ptwrite", "ptwrite", "asked for"),
    ("ptwrite", PTW, "pt", None, "without PTWRITE: use --backend emulated"),
    ("ptwrite", None, "none", None, "no Intel PT"),
    ("emulated", None, "none", "emulated", "asked for"),
    ("software", PTW, "ptwrite", "software", "asked for"),
    ("magic", None, "none", None, "unknown backend 'magic'"),
)


def test_the_choice():
    for wanted, config, processor, name, why in CHOICES:
        with tempfile.TemporaryDirectory() as temp:
            env = environment(OCULAR_PT_PMU=fake_pmu(temp + "/pmu"))
            if processor != "none":
                env["LD_PRELOAD"] = CATCH
            if processor == "pt":
                env["PTWRITE_CATCH_CPUID"] = "pt"
            done = under_perf(temp, [sys.executable, "-c", ASK % wanted], config, env)
            what = "%s %s %s: %s%s" % (wanted, config, processor, done.stdout, done.stderr)
            if name:
                chosen, said, folder = done.stdout.splitlines()
                rec.equal(chosen, name, what)
                assert why in said, what
                rec.equal(folder == temp, config is not None and wanted != "software", what)
            else:
                assert done.returncode and why in done.stderr.splitlines()[-1], what


def test_another_perf_is_not_ours():
    """A perf.data without Intel PT, and a machine without the PMU."""
    with tempfile.TemporaryDirectory() as temp:
        pmu = fake_pmu(temp + "/pmu")
        env = environment(OCULAR_PT_PMU=pmu, LD_PRELOAD=CATCH)
        with open(pmu + "/type", "w") as f:
            f.write("9\n")
        done = under_perf(temp, [sys.executable, "-c", ASK % "auto"], PTW, env)
        rec.equal(done.stdout.splitlines()[0], "software", done.stderr)
        env["OCULAR_PT_PMU"] = temp + "/none"
        done = under_perf(temp, [sys.executable, "-c", ASK % "auto"], PTW, env)
        rec.equal(done.stdout.splitlines()[:2], ["software", "no Intel PT here"], done.stderr)


def caught(temp, source, *options, backend="ptwrite"):
    """({tid: words}, Recording) of source run with PTWRITEs caught."""
    with open(temp + "/program.py", "w") as f:
        f.write(source)
    env = environment(LD_PRELOAD=CATCH, PTWRITE_CATCH=temp + "/words", PYTHONHASHSEED="0",
                      PYTHONWARNINGS="ignore")
    done = subprocess.run([sys.executable, "-m", "ocular", "-o", temp + "/rec", "--backend", backend, *options,
                           temp + "/program.py"], env=env, capture_output=True, text=True)
    rec.equal((done.returncode, done.stderr), (0, ""))
    words = {}
    with open(temp + "/words", "rb") as f:
        data = f.read()
    for at in range(0, len(data), 16):
        tid, word = (int.from_bytes(data[at + n:at + n + 8], "little") for n in (0, 8))
        words.setdefault(tid, []).append(word)
    return words, rec.Recording(temp + "/rec", done)


def is_scratch(word):
    return word >> 59 == 31 and word >> 28 & 0xffffff == 0x4f434c


def whole(words):
    """What a thread wrote, without numbers, and without the words of calibration before it."""
    return [ptread.marker(0, w) for _, w in ptread.whole((0, w) for w in words if not is_scratch(w))]


def test_the_words_are_those_of_the_rings():
    for source, mode in ((PROGRAM, "adaptive"), (PROGRAM, "full"), (FAR, "full")):
        with tempfile.TemporaryDirectory() as temp:
            streams, r = caught(temp, source, "--mode", mode)
            words, = streams.values()
            env = environment(PYTHONHASHSEED="0")
            subprocess.run([sys.executable, "-m", "ocular", "-o", temp + "/soft", "--mode", mode, "--backend",
                            "software", temp + "/program.py"], env=env, capture_output=True, check=True)
            rings = ptread.queues(temp + "/soft/perf.data")[0]
            written = whole(words)
            rec.equal([ptread.check_sequence(m) for m in (written, rings.words)], [0, 0])
            # Without the numbers of the sequence, and without words about CPU times: some are the recorder's.
            rec.equal([(m.op, m.low52) for m in written if m.op != ptread.EXTENSION], [(m.op, m.low52) for m in rings.markers])
            rec.equal(r.lines("header")[0]["backend"], "ptwrite")
            (row,), = (s["markers"] for s in r.lines("stop"))
            numbers = sum(ptread.numbered(w) > 0 for w in words)
            rec.equal(row[1], len(written) - numbers)
            rec.equal(all(is_scratch(w) for w in words[:len(words) - len(written)]), True)
            short = sum(w < 1 << 32 for w in words)
            assert source == FAR or short > len(written) / 2 > numbers > 0, (short, numbers, len(written))


def test_threads_and_forks_begin_streams_of_their_own():
    with tempfile.TemporaryDirectory() as temp:
        words, r = caught(temp, """
import os, threading
def work(n):
    for i in range(n):
        pass
threads = [threading.Thread(target=work, args=(100 + i,)) for i in range(4)]
for t in threads: t.start()
for t in threads: t.join()
pid = os.fork()
work(50)
if pid:
    os.waitpid(pid, 0)
""")
        rec.equal(len(words), 6)
        told = {tid: n for s in r.lines("stop") for tid, n in s["markers"]}
        for tid, stream in words.items():
            written = whole(stream)
            rec.equal(written[0].op, 1)
            rec.equal(ptread.check_sequence(written), 0)
            rec.equal(told[tid], len(written) - sum(ptread.numbered(w) > 0 for w in stream))


def test_the_callback_has_one_instruction_for_it():
    """RDTSC, two stores and the release of the rings are one PTWRITE, of 32 bits; nothing is called on the way."""
    path = os.path.join(rec.BUILD, "obj", sysconfig.get_config_var("SOABI"), "helper-ext/ext/emit_ptwrite.o")
    code = subprocess.run(["objdump", "-d", "--disassemble=plain_offset", path], capture_output=True, text=True).stdout
    lines = [line for line in code.splitlines() if line.startswith(" ")]
    written = [line.split()[-1] for line in lines if "ptwrite" in line]
    assert len(written) == 1 and re.fullmatch(r"%e..|%r\d+d", written[0]), code
    assert not any("call" in line or "rdtsc" in line for line in lines), code


if __name__ == "__main__":
    rec.run(globals())
