"""A second independent witness: counts what it sees of chosen files, as plain Python would.

It knows nothing of Ocular. Calls, recursive calls and resumptions are counted by cProfile's definitions on a
stack of its own; loop trips from JUMP events, or, if those are off, from one instruction to the next of the
same frame, each for the `while` or `for` of the source that contains the jump (statements.py); entries of loops by
the ways through the bytecode, exception handlers among them; opcodes and what
followed them on the thread from INSTRUCTION events, by offset.

At exit the counts become one Python literal, counts-PID.txt in $TRUTH_DIR:
[(file, qualname, first line, {"events": {name: n}, "calls", "recursive", "resumes", "loops": {line: trips},
  "known": lines of loops whose ways are known, "entries": {line: n}, "heads": {line: heads}, of loops with one each,
  "opcodes": {offset: n}, "names": {offset: name}, "ends": {head: last offset of its body},
  "pairs": {(offset, next name): n}})]
"""

import atexit
import collections
import dis
import functools
import os
import sys
import threading
import zlib

import tracer

TOOL = 1
# CO_GENERATOR, CO_COROUTINE, CO_ITERABLE_COROUTINE, CO_ASYNC_GENERATOR; the import of inspect is the program's own.
SUSPENDS = 0x20 | 0x80 | 0x100 | 0x200
BEGIN = ("PY_START", "PY_RESUME", "PY_THROW")
END = ("PY_RETURN", "PY_YIELD", "PY_UNWIND")


def escaped(name):
    """What UTF-8 cannot hold becomes backslash escapes, as docs/marker.md says."""
    return name.encode("utf-8", "backslashreplace").decode()


def predecessors(code, instructions):
    """{offset: offsets of what may run before it in this frame}, including edges into exception handlers."""
    before = {i.offset: set() for i in instructions}
    entries = dis.Bytecode(code).exception_entries
    for i, after in zip(instructions, [*instructions[1:], None]):
        if i.opcode in dis.hasjrel:
            before[i.argval].add(i.offset)
        leaves = i.opname.startswith(("JUMP_", "RETURN_", "RAISE", "RERAISE")) and i.opname != "RETURN_GENERATOR"
        if after and not leaves:
            before[after.offset].add(i.offset)
        for entry in entries:
            if entry.start <= i.offset < entry.end:
                before[entry.target].add(i.offset)
    return before


def natural_loop(head, sources, before, first):
    """The offsets from which a jump back to head is reached. None: it is reached past head, which is not a loop's."""
    inside, new = {head}, list(sources)
    while new:
        at = new.pop()
        if at not in inside:
            inside.add(at)
            new += before[at]
    return inside if head == first or first not in inside else None


@functools.cache
def all_loops():
    """What statements.py found beforehand: it imports modules whose import by the program is to be counted."""
    path = os.environ.get("TRUTH_LOOPS")
    if not path:
        return {}
    with open(path, encoding="utf-8") as file:
        return eval(file.read())


def loops_of(code):
    """{offset of a back-edge: (line, number) of its loop, or None: it repeats nothing}."""
    return all_loops().get((code.co_filename, code.co_qualname, code.co_firstlineno, zlib.crc32(code.co_code)), {})


class Code:
    """The counts of one code object; it is kept alive, so that its id stays its own."""

    def __init__(self, code):
        self.code = code
        self.events = collections.Counter()
        self.calls = self.recursive = self.resumes = 0
        self.loops = collections.Counter()
        self.entries = collections.Counter()
        self.opcodes = collections.Counter()
        self.pairs = collections.Counter()
        instructions = [i for i in dis.get_instructions(code) if i.opname != "CACHE"]
        self.names = {i.offset: i.opname for i in instructions}
        self.back = {i.offset: i.argval for i in instructions if i.opname == "JUMP_BACKWARD"}
        self.of = loops_of(code)
        self.insides = self.natural_loops(code, instructions)
        self.entry = next((i.offset for i in instructions if i.opname == "RESUME"), -1)

    def natural_loops(self, code, instructions):
        """{loop: offsets} of the loops that are entered only at their head."""
        before = predecessors(code, instructions)
        insides = {}
        for loop in set(filter(None, self.of.values())):
            sources = [at for at in self.back if self.of.get(at) is loop]
            insides[loop] = natural_loop(min(self.back[at] for at in sources), sources, before, 0)
        return {loop: inside for loop, inside in insides.items() if inside}

    def lines(self, of_loops):
        counts = collections.Counter()
        for loop, n in of_loops.items():
            counts[loop[0]] += n
        return dict(counts)

    def single_heads(self):
        """{line: head} of lines with one loop, whose back-edges all lead to one place where no other's do."""
        targets, lines = collections.defaultdict(set), collections.defaultdict(set)
        for at, loop in self.of.items():
            targets[self.back[at]].add(loop)
            lines[loop and loop[0]].add(self.back[at])
        return {line: min(heads) for line, heads in lines.items()
                if line and len(heads) == 1 and len(targets[min(heads)]) == 1}

    def body_end(self, head):
        """The last back-edge before the first exception handler behind the head, or of all if none is before it."""
        sources = [at for at, to in self.back.items() if to == head]
        handler = min((at for at, name in self.names.items() if name == "PUSH_EXC_INFO" and at > head), default=None)
        return max([at for at in sources if handler is None or at < handler] or sources)

    def row(self):
        ends = {head: self.body_end(head) for head in set(self.back.values())}
        return (escaped(self.code.co_filename), escaped(self.code.co_qualname), self.code.co_firstlineno, {
            "events": dict(self.events), "calls": self.calls, "recursive": self.recursive,
            "resumes": self.resumes, "loops": self.lines(self.loops),
            "known": [loop[0] for loop in self.insides], "heads": self.single_heads(),
            "entries": self.lines(self.entries), "opcodes": dict(self.opcodes),
            "names": self.names, "ends": ends, "pairs": dict(self.pairs)})


class Thread(threading.local):
    """The state of one thread: a stack of [Code, offset of the frame's last instruction, heads of its open loops], and
    its last instruction."""

    def __init__(self):
        self.stack = []
        self.last = None


class Counter:
    def __init__(self, mode, files):
        self.files, self.jumps = files, "JUMP" in tracer.events_of(mode)
        self.backward_only = mode == "adaptive"
        self.codes = {}
        self.wanted = {}
        self.thread = Thread()
        self.open = {}  # loops of suspended generators, by their frame objects, which they keep as long as they live
        self.lock = threading.Lock()

    def wants(self, file):
        if file not in self.wanted:
            self.wanted[file] = any(file == f or file.startswith(f + "/") for f in self.files)
        return self.wanted[file]

    def see(self, name, code, where, destination, frame):
        if not self.wants(code.co_filename) or self.backward_only and destination and destination > where:
            return
        with self.lock:
            self.count(name, code, where, destination, frame)

    def count(self, name, code, where, destination, frame):
        at = self.codes.get(id(code))
        if not at:
            at = self.codes[id(code)] = Code(code)
        at.events[name] += 1
        stack = self.thread.stack
        if name in BEGIN:
            self.begin(at, name, stack)
            if frame:
                kept = self.open.pop(frame, set())
                stack[-1][2] = kept if name != "PY_START" else set()
        elif name == "INSTRUCTION":
            self.instruction(at, where, stack)
        elif name in END and any(frame[0] is at for frame in stack):
            while (left := stack.pop())[0] is not at:
                pass
            if frame and name == "PY_YIELD":
                self.open[frame] = left[2]
        elif name == "JUMP" and destination <= where:
            self.trip(at, where, stack)

    @staticmethod
    def pass_by(at, where, stack):
        """Running outside of a loop leaves it. Returns the heads of the open loops."""
        if not stack or stack[-1][0] is not at:
            return set()
        stack[-1][2] = {loop for loop in stack[-1][2] if where in at.insides[loop]}
        return stack[-1][2]

    def trip(self, at, source, stack):
        loop = at.of[source]
        is_open = self.pass_by(at, source, stack)
        if loop:
            at.loops[loop] += 1
        if loop in at.insides and loop not in is_open:
            at.entries[loop] += 1
            is_open.add(loop)

    @staticmethod
    def begin(at, name, stack):
        if name == "PY_START":
            at.calls += 1
            at.recursive += any(frame[0] is at for frame in stack)
        else:
            at.resumes += 1
        stack.append([at, None, set()])

    def instruction(self, at, where, stack):
        at.opcodes[where] += 1
        last, self.thread.last = self.thread.last, (at, where)
        if last:
            last[0].pairs[last[1], at.names[where]] += 1
        # what comes before RESUME comes before the PY_START of its frame
        if not stack or stack[-1][0] is not at or where <= at.entry:
            return
        before, stack[-1][1] = stack[-1][1], where
        if not self.jumps and at.back.get(before) == where:
            self.trip(at, before, stack)
        self.pass_by(at, where, stack)

    def callback(self, name):
        has_destination = name in tracer.WITH_DESTINATION

        def called(code, where, *rest):
            frame = id(sys._getframe(1)) if code.co_flags & SUSPENDS else None
            self.see(name, code, where, rest[0] if has_destination else None, frame)

        return called


def start(mode, folder, files):
    """Counts the events of `mode` in `files`, paths of files or folders, until the interpreter exits."""
    monitoring, names = sys.monitoring, tracer.events_of(mode)
    counter = Counter(mode, files)

    def stop():
        monitoring.set_events(TOOL, 0)
        with open(os.path.join(folder, f"counts-{os.getpid()}.txt"), "w", encoding="utf-8") as file:
            file.write(repr([code.row() for code in counter.codes.values()]))

    atexit.register(stop)
    monitoring.use_tool_id(TOOL, "counter")
    for name in names:
        monitoring.register_callback(TOOL, getattr(monitoring.events, name), counter.callback(name))
    monitoring.set_events(TOOL, sum(getattr(monitoring.events, name) for name in names))
    monitoring.restart_events()  # see tracer.start
