"""Five programs to slow down: what Python services and tools spend their time on.

    python workloads.py NAME TOOL [SCALE [THREADS]]    runs one and prints the seconds it took; in each of so many
                                                       threads: and the processor time of a thread (mean)
    python workloads.py --list

TOOL: plain, empty-calls, empty-adaptive (sys.monitoring with callbacks that do nothing: the floor), cprofile, viztracer,
trace0 (leaves trace0.pb here). Ocular traces from outside, with TOOL plain.
"""
import ast
import inspect
import json
import json.decoder
import json.scanner
import sys
import threading
import time


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


class Cell:
    def __init__(self, value):
        self.value = value

    def step(self, other):
        self.value = (self.value * 31 + other.get()) % 1009

    def get(self):
        return self.value


def methods(rounds):
    cells = [Cell(i) for i in range(64)]
    for _ in range(rounds):
        for left, right in zip(cells, cells[1:]):
            left.step(right)
    return sum(c.get() for c in cells)


def walk(tree):
    if tree:
        yield from walk(tree[0])
        yield tree[1]
        yield from walk(tree[2])


def grow(depth):
    return (grow(depth - 1), depth, grow(depth - 1)) if depth else None


def generators(rounds):
    tree = grow(9)
    return sum(sum(walk(tree)) for _ in range(rounds))


def python_decoder():
    decoder = json.decoder.JSONDecoder()
    decoder.parse_string = json.decoder.py_scanstring
    decoder.scan_once = json.scanner.py_make_scanner(decoder)
    return decoder


def json_python(rounds):
    """json's own pure-Python scanner: calls, regular expressions, closures."""
    decoder = python_decoder()
    text = json.dumps([{"id": i, "name": "n%d" % i, "tags": ["a", "b"], "ok": True} for i in range(200)])
    return sum(len(decoder.decode(text)) for _ in range(rounds))


def unparse(rounds):
    tree = ast.parse(inspect.getsource(inspect))
    return sum(len(ast.unparse(tree)) for _ in range(rounds))


def pieces():
    """{name: the same in 20 to 100 us, generators in 400, as a function of whatever}."""
    cells, tree = [Cell(i) for i in range(24)], grow(9)
    decode, text = python_decoder().decode, json.dumps({"id": 1, "name": "n", "tags": ["a", "b"], "ok": True})
    small = ast.parse("def f(a, b=1):\n    return a + b")

    def step(_):
        for left, right in zip(cells, cells[1:]):
            left.step(right)

    return {"recursion": lambda _: fib(11), "methods": step, "generators": lambda _: sum(walk(tree)),
            "json": lambda _: decode(text), "unparse": lambda _: ast.unparse(small)}


# name: (function, argument for about an eighth of a second untraced)
WORKLOADS = {
    "recursion": (fib, 29),
    "methods": (methods, 10000),
    "generators": (generators, 500),
    "json": (json_python, 50),
    "unparse": (unparse, 4),
}


def empty(events):
    import ocular_empty
    mon = sys.monitoring
    mon.use_tool_id(4, "empty")
    for name in events:
        mon.register_callback(4, getattr(mon.events, name), ocular_empty.callback())
    mon.set_events(4, sum(getattr(mon.events, name) for name in events))
    return lambda: mon.set_events(4, 0)


def cprofile():
    import cProfile
    p = cProfile.Profile()
    p.enable()
    return p.disable


def viztracer():
    from viztracer import VizTracer
    v = VizTracer(verbose=0, tracer_entries=10_000_000)
    v.start()
    return v.stop


def trace0():
    from trace0 import Tracer
    t = Tracer("trace0.pb")
    t.__enter__()
    return lambda: t.__exit__(None, None, None)


CALLS = "PY_START PY_RESUME PY_THROW PY_RETURN PY_YIELD PY_UNWIND".split()
TOOLS = {
    "plain": lambda: lambda: None,
    "empty-calls": lambda: empty(CALLS),
    "empty-adaptive": lambda: empty(CALLS + ["JUMP"]),
    "cprofile": cprofile,
    "viztracer": viztracer,
    "trace0": trace0,
}


def together(body, argument, threads):
    """Mean processor time of the threads."""
    used = []

    def one():
        begin = time.thread_time()
        body(argument)
        used.append(time.thread_time() - begin)

    pool = [threading.Thread(target=one) for _ in range(threads)]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()
    return sum(used) / threads


def main(argv):
    if argv == ["--list"]:
        print(*WORKLOADS)
        return
    body, argument = WORKLOADS[argv[0]]
    if len(argv) > 2:
        argument = int(argv[2])
    stop = TOOLS[argv[1]]()
    begin = time.perf_counter()
    used = together(body, argument, int(argv[3])) if len(argv) > 3 else body(argument)
    seconds = time.perf_counter() - begin
    stop()
    print(seconds, *[used] * (len(argv) > 3))


if __name__ == "__main__":
    main(sys.argv[1:])
