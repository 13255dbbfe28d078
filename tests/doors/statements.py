"""Which loop of the source a back-edge repeats: by the statement that the jump and its target are written in.

Uses the syntax tree and each instruction's position in the source (line and column, PEP 657), and
nothing of Ocular, which has lines only. `loops_of(tree, code)` is {offset of a back-edge: the node of its loop: For,
AsyncFor, While or comprehension; None: it repeats nothing}. If positions do not decide, the offset is missing.
"""

import ast
import collections
import dis
import itertools
import sys
import types
import zlib

# Their position is the whole statement or comprehension, or since 3.13 usually what is iterated over.
FOR_ITERS = ("FOR_ITER", "GET_ANEXT")
JUMP_BACKWARD, CACHE = dis.opmap["JUMP_BACKWARD"], dis.opmap["CACHE"]
RELATIVE = set(dis.hasjrel)
BACKWARD = {number for name, number in dis.opmap.items() if name.startswith(("JUMP_BACKWARD", "END_ASYNC_FOR"))}
MOST_CACHES = 12  # more than any jump has
# Up to 3.13 the test of a `while` is compiled twice: a jump from its body to its test may lead to either.
TWO_TESTS = sys.version_info < (3, 14)


def span(node):
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def within(place, node):
    if place[0] is None:
        return False
    line, column, end_line, end_column = span(node)
    return (line, column) <= place[:2] and place[2:] <= (end_line, end_column)


def in_body(place, loop):
    return any(within(place, statement) for statement in loop.body)


def line_of(loop):
    return loop.target.lineno if isinstance(loop, ast.comprehension) else loop.lineno


# No loop is in them, and more than half of what nodes have is such.
LEAVES = {ast.Name, ast.Constant, ast.alias, int, str, bool, type(None), *(
    kind for base in (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
    for kind in base.__subclasses__())}
# Other ones matter only for what is in them, unless they have generators.
SEEN = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Continue, ast.For, ast.AsyncFor, ast.While


class Tree:
    """The loops of a module, and the loop of each `continue`."""

    def __init__(self, source):
        self.whiles, self.iterated, self.continues = [], collections.defaultdict(list), {}
        self.around = []
        self.visit(ast.parse(source))

    def visit(self, node):
        if not isinstance(node, SEEN) and not getattr(node, "generators", None):
            self.visit_parts(node.__dict__.values())
            return
        around = self.around
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.around = []
        if isinstance(node, ast.Continue):
            self.continues[span(node)] = self.around[-1]
        if isinstance(node, (ast.For, ast.AsyncFor)):
            self.iterated[span(node)].append(node)
            self.iterated[span(node.iter)].append(node)
        for loop in getattr(node, "generators", ()):
            self.iterated[span(node)].append(loop)
            self.iterated[span(loop.iter)].append(loop)
        if isinstance(node, ast.While):
            self.whiles.append(node)
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            self.visit_loop(node)
        else:
            self.visit_parts(node.__dict__.values())
        self.around = around

    def visit_parts(self, parts):
        """generic_visit() of a node whose parts these are, in a third of the time."""
        for part in parts:
            if type(part) is list:
                self.visit_parts(part)
            elif type(part) not in LEAVES:
                self.visit(part)

    def visit_loop(self, node):
        self.visit_parts([*node.orelse, node.test if isinstance(node, ast.While) else node.iter])
        self.around = [*self.around, node]
        self.visit_parts(node.body)


def may_jump_back(code):
    """False: it has no JUMP_BACKWARD, as most code, and need not be disassembled, which takes the most time by far."""
    return JUMP_BACKWARD in code.co_code[::2]


Instruction = collections.namedtuple("Instruction", "offset opcode opname argval positions")


def instructions_of(code):
    """dis.get_instructions(), in a third of the time: only jumps have an argval, and each place is a tuple."""
    units, extended = list(zip(itertools.count(0, 2), code.co_code[::2], code.co_code[1::2], code.co_positions())), 0
    for at, (offset, number, arg, place) in enumerate(units):
        if number == CACHE:
            continue
        arg, target = extended | arg, None
        extended = arg << 8 if number == dis.EXTENDED_ARG else 0
        if number in RELATIVE:
            rest = units[at + 1:at + 1 + MOST_CACHES]
            behind = next((unit[0] for unit in rest if unit[1] != CACHE), len(code.co_code))
            target = behind + (-2 * arg if number in BACKWARD else 2 * arg)
        yield Instruction(offset, number, dis.opname[number], target, place)


class Jumps:
    """The back-edges of one code object."""

    def __init__(self, tree, code):
        self.tree = tree
        self.instructions = list(instructions_of(code))
        self.index = {i.offset: at for at, i in enumerate(self.instructions)}

    def place(self, at):
        line, end_line, column, end_column = self.instructions[at].positions
        return line, column, end_line, end_column

    def target(self, at):
        to = self.index[self.instructions[at].argval]
        while self.instructions[to].opname == "EXTENDED_ARG":
            to += 1
        return to

    def stored(self, to):
        """The position of the first store behind a FOR_ITER, or behind the END_SEND of a GET_ANEXT."""
        while self.instructions[to].opname == "GET_ANEXT" or self.instructions[to].opname not in ("FOR_ITER", "END_SEND"):
            to += 1
        return self.place(to + 1)

    def of_iterator(self, to):
        found = self.tree.iterated.get(self.place(to), [])
        if len(found) > 1:  # a comprehension of several: by what it assigns to
            found = [loop for loop in found if within(self.stored(to), loop.target)]
        return found[0] if found else "unknown"

    def of_while(self, at, to):
        here, there = self.place(at), self.place(to)
        if here in self.tree.continues:
            return self.tree.continues[here]
        found = [w for w in self.tree.whiles if within(here, w.test) and (in_body(there, w) or within(there, w.test))]
        if not found:  # the body's last statement, or a `continue` that was joined with the test in front of it
            found = [w for w in self.tree.whiles if in_body(here, w) and within(there, w.test)]
            found = [w for w in found if not (TWO_TESTS and to and in_body(self.place(to - 1), w))]
        return min(found, key=lambda w: w.end_lineno - w.lineno) if found else None

    def all(self):
        for at, i in enumerate(self.instructions):
            if i.opname == "JUMP_BACKWARD":
                to = self.target(at)
                iterator = self.instructions[to].opname in FOR_ITERS
                loop = self.of_iterator(to) if iterator else self.of_while(at, to)
                if loop != "unknown":
                    yield i.offset, loop


def loops_of(tree, code):
    return dict(Jumps(tree, code).all()) if may_jump_back(code) else {}


def codes_of(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)


def main(*paths):
    """The loops of all these files, in the form that counter.py reads: {(file, qualname, first line, checksum): {offset: (line, number)}}."""
    told = {}
    for path in paths:
        with open(path, "rb") as file:
            source = file.read()
        tree, numbers = Tree(source), {}
        for code in codes_of(compile(source, path, "exec", dont_inherit=True)):
            key = path, code.co_qualname, code.co_firstlineno, zlib.crc32(code.co_code)
            told[key] = {at: loop and (line_of(loop), numbers.setdefault(loop, len(numbers)))
                         for at, loop in loops_of(tree, code).items()}
    print(repr(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
