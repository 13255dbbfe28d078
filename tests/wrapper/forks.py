"""Python code in forks of a process that has imported what it needs: that takes longer than most of what is asked of DuckDB, and s3fs twice as long.

Each piece of code has a process, environment, current folder, input and output of its own, as a command has.
"""

import functools
import io
import json
import os
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "doors"))
import recording  # noqa: E402

MOST = 1 << 17  # bytes of a request
COMMAND = "import sys; from ocular import fleet; sys.exit(fleet.main(sys.argv[1:]))"
PACKAGE = os.path.join(recording.BUILD, "python")
# What of these is not there, the code itself will miss. None of them starts a thread, as pyarrow does: a fork would not have it.
SERVER = """
import contextlib, importlib, json, os, signal, socket, sys, traceback
sys.path.insert(0, sys.argv[1])
for name in ("ocular.fleet", "duckdb", "numpy", "s3fs"):
    with contextlib.suppress(ImportError):
        importlib.import_module(name)

def answer(code, words, folder, environment):
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["-c", *words]
    try:
        exec(code, {"__name__": "__main__"})
    except SystemExit as e:
        return e.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0

asks = socket.socket(fileno=os.dup(0))
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    request, numbers, *_ = socket.recv_fds(asks, %d, 4)
    if not request:
        break
    if not os.fork():
        asks.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for n in range(3):
            os.dup2(numbers[n], n)
        status = answer(*json.loads(request))
        sys.stdout.flush()
        sys.stderr.flush()
        with contextlib.suppress(BrokenPipeError):  # nobody asks any more
            os.write(numbers[3], b"%%d" %% status)
        os._exit(0)
    for number in numbers:
        os.close(number)
""" % MOST


@functools.cache
def server(python):
    """Where it is asked; it ends when this process has."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        subprocess.Popen([python, "-c", SERVER, PACKAGE], stdin=its, env=recording.plain_environment(OPENBLAS_NUM_THREADS="1"))
    return ours


def begin(python, code, words, folder, environment, *files):
    """A file with its exit status, once it has ended. files: its standard input, output and error."""
    ended, write = os.pipe()
    try:
        socket.send_fds(server(python), [json.dumps([code, words, folder, environment]).encode()], [*(file.fileno() for file in files), write])
    finally:
        os.close(write)
    return open(ended, encoding="ascii")


def run(python, code, words, folder, environment, given=b""):
    """As recording.run()."""
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said:
        source.write(given)
        source.seek(0)
        with begin(python, code, words, folder, environment, source, out, said) as ended:
            status = ended.read()
        texts = []
        for file in (out, said):
            file.seek(0)
            texts.append(io.TextIOWrapper(file, errors="backslashreplace", newline="").read())
    return subprocess.CompletedProcess(words, int(status or -1), *texts)


class Session:
    """Lines in, lines out."""

    def __init__(self, python, code, folder, environment):
        here, its_input = (os.fdopen(each, mode) for each, mode in zip(os.pipe()[::-1], ("w", "r")))
        its_output, there = (os.fdopen(each, mode) for each, mode in zip(os.pipe()[::-1], ("w", "r")))
        with its_input, its_output:
            self.ended = begin(python, code, [], folder, environment, its_input, its_output, sys.stderr)
        self.input, self.output = here, there

    def ask(self, line):
        self.input.write(line + "\n")
        self.input.flush()
        return self.output.readline()
