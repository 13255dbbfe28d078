"""Run by test_loops.py under the Python to test: FOLDER FILE...: a code table and events of all code with back-edges.

FOLDER/codes-1.jsonl has each code object under a qualname of its own, FOLDER/events.txt each of its back-edges once,
FOLDER/truth.txt what the source says: {qualname: {line: [loops on it, back-edges]}}. Code whose positions do
not decide the loop of some back-edge is left out, and counted; these counts are printed.
"""

import collections
import gc
import importlib.machinery
import json
import opcode
import os
import sys
import warnings

import statements


def row(i):
    return [i.offset, i.positions[0] or -1, i.opcode, -1 if i.argval is None else i.argval]


def truth_of(loops):
    edges, nodes = collections.Counter(), collections.defaultdict(set)
    for loop in filter(None, loops.values()):
        edges[statements.line_of(loop)] += 1
        nodes[statements.line_of(loop)].add(loop)
    return {line: [len(nodes[line]), n] for line, n in edges.items()}


def files(paths):
    """(path, tree, [code object with a jump back]) of files that have any."""
    for path in paths:
        with open(path, "rb") as file:
            source = file.read()
        try:
            # Of a .pyc, where there is one: to compile took half of the time. main() sees to it that none is written.
            code = importlib.machinery.SourceFileLoader("any", path).get_code("any")
        except (SyntaxError, ValueError):
            continue
        found = list(filter(statements.may_jump_back, statements.codes_of(code)))
        if found:
            yield path, statements.Tree(source), found


def main(folder, *paths):
    gc.disable()  # a syntax tree is many objects and no circle
    sys.dont_write_bytecode = True  # beside files of the Python that is here
    warnings.simplefilter("ignore")
    names = [None] * 256
    for name, number in opcode.opmap.items():
        if number < 256:
            names[number] = name
    counts, truth, at, time = collections.Counter(), {}, 0, 1000
    with open(os.path.join(folder, "codes-1.jsonl"), "w") as table, open(os.path.join(folder, "events.txt"), "w") as log:
        table.write(json.dumps({"kind": "header", "ocular": 1, "opnames": names, "python": sys.version}) + "\n")
        log.write("# ocular events 1\n")
        for path, tree, codes in files(paths):
            counts["whiles"] += len(tree.whiles)
            for part in codes:
                jumps = statements.Jumps(tree, part)
                instructions, loops = jumps.instructions, dict(jumps.all())
                back = [i for i in instructions if i.opname == "JUMP_BACKWARD"]
                counts["undecidable"] += len(back) - len(loops)
                if not back or len(loops) < len(back):
                    continue
                at += 1
                name = f"{at} {os.path.basename(path)} {part.co_qualname}"
                table.write(json.dumps({"kind": "code", "id": at, "file": path, "qualname": name, "firstlineno": 1,
                                        "instructions": list(map(row, instructions))}) + "\n")
                for event in (["PY_START", 0, ""], *(["JUMP", i.offset, i.argval] for i in back), ["PY_RETURN", 0, ""]):
                    log.write(f"{time}\t1\t1\t{event[0]}\t{path}\t{name}\t1\t{event[1]}\t{event[2]}\n")
                    time += 10
                truth[name] = truth_of(loops)
                counts["loops"] += sum(n for n, _ in truth[name].values())
                counts["none"] += sum(loop is None for loop in loops.values())
                counts["edges"] += len(back)
    with open(os.path.join(folder, "truth.txt"), "w") as file:
        file.write(repr(truth))
    print(dict(counts))


if __name__ == "__main__":
    main(*sys.argv[1:])
