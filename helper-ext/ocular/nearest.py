# SPDX-License-Identifier: MIT
"""What may have been meant by a pattern that matched nothing: similar names in this interpreter.

None of the program's code runs: names are read from the dictionaries of modules and classes. Nothing is imported either,
because imports look beside the program first.
"""

import os
import sys

TYPE_CHECKING = False  # typing is not imported into programs
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType
    from typing import Any

MOST = 3
ModuleT, FunctionT = type(sys), type(lambda: None)
ALIKE = 0.6  # on difflib's scale


def _main_alias() -> str:
    """The name of __main__ if it were imported (as in ext/codes.c). It has no __file__ after its end."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return spec.name.removesuffix(".__main__") if spec else os.path.basename(sys.argv[0]).removesuffix(".py")


def _namespace(of: object) -> "dict[str, Any]":
    return dict(type.__getattribute__(of, "__dict__") if isinstance(of, type) else vars(of))


def defined(module: "ModuleType", wanted: type, depth: int = 3) -> list[str]:
    """Qualified names of objects of types `wanted` defined in the module, in classes too."""
    def walk(of: object, prefix: str, depth: int) -> "Iterator[str]":
        for name, value in _namespace(of).items():
            value = getattr(value, "__func__", value) if isinstance(value, (classmethod, staticmethod)) else value
            value = value.fget if isinstance(value, property) else value
            if not isinstance(value, (type, FunctionT)) or value.__module__ != module.__name__:
                continue
            if isinstance(value, wanted):
                yield prefix + name
            if isinstance(value, type) and depth:
                yield from walk(value, prefix + name + ".", depth - 1)
    return list(walk(module, "", depth))


def _alike(a: str, b: str) -> float:
    """The share of both that is their longest common subsequence."""
    if 2 * min(len(a), len(b)) < ALIKE * (len(a) + len(b)):  # it cannot be larger
        return 0
    row = [0] * (len(b) + 1)
    for x in a:
        left = corner = 0
        for i, y in enumerate(b, 1):
            left, corner, row[i] = (best := corner + 1 if x == y else max(left, row[i])), row[i], best
    return 2 * row[-1] / (len(a) + len(b))


def _close(name: str, names: "Iterable[str]") -> list[str]:
    shares = [(_alike(name, other), other) for other in dict.fromkeys(names)]
    return [other for share, other in sorted(shares, key=lambda each: -each[0])[:MOST] if share >= ALIKE]


def _modules() -> "dict[str, ModuleType]":
    return {name: module for name, module in list(sys.modules.items()) if isinstance(module, ModuleT)}


def _like_member(pattern: str, wanted: type) -> list[str]:
    """MODULE:QUALNAME: names of that module, or of the main one; or of modules with a similar name."""
    module, _, qualname = pattern.rpartition(":")
    modules = _modules()
    if module == _main_alias():
        modules[module] = modules["__main__"]
    near = [module] if module in modules else [*_close(module, modules), "__main__"]
    members = [(q, name + ":" + q) for name in near for q in defined(modules[name], wanted)]
    close = [qualname] if qualname in dict(members) else _close(qualname, [q for q, _ in members])
    return list(dict.fromkeys(full for like in close for q, full in members if q == like))[:MOST]


def _like_file(pattern: str) -> list[str]:
    files = [os.path.basename(getattr(m, "__file__", None) or "") for m in _modules().values()]
    return _close(os.path.basename(pattern).replace("*", "") or pattern, filter(None, files))


def _like_module(pattern: str) -> list[str]:
    modules = [name for name in _modules()] + [_main_alias()]
    last = pattern.rpartition(".")[2]
    return ([n for n in modules if n.rpartition(".")[2] == last] or _close(pattern, modules))[:MOST]


def names(kind: str, pattern: str) -> list[str]:
    """Up to MOST names, the nearest first, in the form of `pattern`; the kind is that of the option, without dashes."""
    try:
        if kind in ("include", "exclude"):
            return _like_file(pattern) if "/" in pattern or pattern.endswith(".py") else _like_module(pattern)
        wanted = FunctionT if kind == "trigger" else type
        return [n.removeprefix("builtins:") for n in _like_member(pattern, wanted)]
    except Exception:  # a program may put anything into its modules
        return []
