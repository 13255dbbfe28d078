#!/usr/bin/env python3
"""types.py MYPY: the package under mypy --strict, for each CPython that it runs on; what hints do not say; scripts and tests by their syntax."""

import ast
import glob
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOP = os.path.join(ROOT, "helper-ext")
VERSIONS = ("3.12", "3.13")
BUILD = os.environ.get("OCULAR_BUILD") or os.path.join(ROOT, "build")
number = 0


def ok(name, wrong):
    global number
    number += 1
    print("%s %d - %s" % ("not ok" if wrong else "ok", number, name))
    for line in wrong:
        print("# " + line)
    return not wrong


def mypy(program, version, *what):
    """Its complaints."""
    command = [os.path.abspath(program), "--strict", "--python-version", version,
               "--cache-dir", os.path.join(BUILD, "mypy-cache"), *what]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True)
    return (done.stdout + done.stderr).splitlines() if done.returncode else []


def public(tree):
    """(name, function or class) of what a module offers, methods too."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            yield node.name, node
            if isinstance(node, ast.ClassDef):
                yield from ((node.name + "." + name, method) for name, method in public(node))


def modules():
    for path in sorted(glob.glob(os.path.join(TOP, "ocular/*.py"))):
        with open(path) as source:
            yield os.path.basename(path), ast.parse(source.read())


def without_docstring():
    return ["%s: %s" % (name, each) for name, tree in modules() for each, node in public(tree)
            if name != "__init__.py" and not ast.get_docstring(node)]


def annotations_for_old_pythons():
    """Python 2.7 imports the package and gets an error that it is too old: it has no syntax for annotations."""
    tree = dict(modules())["__init__.py"]
    return ["__init__.py:%d" % node.lineno for node in ast.walk(tree)
            if isinstance(node, ast.AnnAssign) or getattr(node, "annotation", None) or getattr(node, "returns", None)]


def imports_of_typing():
    """At run time: under `if TYPE_CHECKING` they are not."""
    found = []
    for name, tree in modules():
        tests = [test for test in ast.walk(tree) if isinstance(test, ast.If)]
        checked = [node for test in tests if "TYPE_CHECKING" in ast.unparse(test.test) for node in ast.walk(test)]
        found += ["%s:%d" % (name, node.lineno) for node in ast.walk(tree) if node not in checked and
                  (isinstance(node, ast.ImportFrom) and node.module in ("typing", "__future__") or
                   isinstance(node, ast.Import) and any(a.name == "typing" for a in node.names))]
    return found


def is_python(path):
    if path.endswith(".py"):
        return True
    with open(path, "rb") as file:
        line = file.readline()
    return line.startswith(b"#!") and b"python" in line


def not_python():
    """Tests that run seldom (`make test-spark`) may be out of order for long. Traced programs are of one Python each."""
    wrong = []
    for top in ("scripts", "tests", "helper-ext"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for path in (os.path.join(folder, name) for name in sorted(names)):
                if folder.endswith("tests/programs") or not is_python(path):
                    continue
                try:
                    with open(path, encoding="utf-8") as source:
                        ast.parse(source.read())
                except SyntaxError as e:
                    wrong.append("%s:%s: %s" % (os.path.relpath(path, ROOT), e.lineno, e.msg))
    return wrong


WITNESS = """
import ocular
a: bool = ocular.take_snapshot("label", n=1)
ocular.start_tracing(mode=5)
with ocular.tracing(mode="calls"):
    b: str = ocular.is_tracing()
"""


def from_outside(program):
    """A program that uses the package is checked with its hints: two lines of it are wrong."""
    path = os.path.join(BUILD, "mypy-witness.py")
    with open(path, "w") as out:
        out.write(WITNESS)
    lines = sorted({int(line.split(":")[1]) for line in mypy(program, VERSIONS[-1], path) if ": error: " in line})
    return [] if lines == [4, 6] else ["errors in lines %s, not 4 and 6" % lines]


def stub_names():
    with open(os.path.join(TOP, "ocular/_core.pyi")) as source:
        tree = ast.parse(source.read())
    functions = {node.name: ast.unparse(node.args) for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        for each in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(each, ast.FunctionDef) and each.name == "__init__":
                functions[node.name] = ast.unparse(each.args).removeprefix("self, ")
    return functions, {
        node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}


ASK = """if True:
    import inspect
    from ocular import _core
    for name, value in vars(_core).items():
        if not name.startswith("_"):
            print(name, int(callable(value)), int(bool(value.__doc__) or not callable(value)),
                  ",".join(inspect.signature(value).parameters) if callable(value) else "", sep="\\t")
"""


def stub_differs(python):
    """The stub names what the built extension has, with its arguments; and each function of it says what it does."""
    env = {**os.environ, "PYTHONPATH": os.path.join(BUILD, "python")}
    said = subprocess.run([python, "-c", ASK], env=env, capture_output=True, text=True)
    functions, others = stub_names()
    wrong, seen = said.stderr.splitlines(), set()
    for line in said.stdout.splitlines():
        name, is_function, documented, arguments = line.split("\t")
        seen.add(name)
        if name not in (functions if is_function == "1" else others):
            wrong.append("%s is not in _core.pyi" % name)
        elif is_function == "1":
            stub = ast.parse("def f(%s): pass" % functions[name]).body[0].args
            named = [a.arg for a in stub.posonlyargs + stub.args + ([stub.kwarg] if stub.kwarg else [])]
            if named != [a for a in arguments.split(",") if a]:
                wrong.append("%s has (%s), the stub (%s)" % (name, arguments, ", ".join(named)))
        if documented == "0":
            wrong.append("%s has no docstring" % name)
    return wrong + ["%s is only in _core.pyi" % name for name in sorted({*functions, *others} - seen)]


def main(program):
    find = os.path.join(ROOT, "scripts/find-pythons")
    pythons = subprocess.run([find], capture_output=True, text=True).stdout.split()
    results = [ok("mypy --strict, Python %s" % version, mypy(program, version, "-p", "ocular")) for version in VERSIONS]
    results.append(ok("hints reach who uses the package", from_outside(program)))
    results.append(ok("what is public has a docstring", without_docstring()))
    results.append(ok("typing is not imported at run time", imports_of_typing()))
    results.append(ok("old Pythons can read __init__.py", annotations_for_old_pythons()))
    results.append(ok("scripts and tests are Python", not_python()))
    results += [ok("_core and its stub agree, %s" % python, stub_differs(python)) for python in pythons]
    print("1..%d" % number)
    return not all(results)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
