"""The rest of the language: unpacking, walrus, chained comparison, del, global, slices, f-strings."""


def signature(a, /, b, *c, d=4, **e):
    return a, b, c, d, sorted(e)


def short(a, b, c):
    return a and b or c, a < b < c, not a, a if b else c, a is b, a in (b, c)


def unpack():
    (a, [b, *c]), d = (1, [2, 3, 4]), 5
    a, b = b, a
    x = y = [a, b]
    x[0], x[1:] = d, c
    del y[0], a
    return x, [*x, *c], {**{"k": 1}, "m": d}


def annotated(n: int = 3) -> "str":
    m: int = n
    k: list
    return f"{m!r:>4} {m=} {'nested ' + f'{n:0{m}d}'}"


def early(items):
    return [y for x in items if (y := x * 2) > 2], y


def swap_globals():
    global flag
    flag = not flag
    return flag


def big(*args):
    return len(args)


flag = False
print(signature(1, 2, 3, 4, d=5, z=6, y=7), signature(*range(4), **{"d": 1}))
print([short(a, b, 1) for a in (0, 1) for b in (0, 2)])
print(unpack(), annotated(), early([1, 2, 3]), swap_globals(), swap_globals())
print(big(*[0] * 300), big(*(), *[1], *"ab"), (lambda *, k: k)(k=1), [1, 2, 3][::-1], "%s" % "old")
assert flag is False, "unreachable"
try:
    assert not print(end=""), "message"
    assert flag, f"{flag}"
except AssertionError as error:
    print("assert", error)
