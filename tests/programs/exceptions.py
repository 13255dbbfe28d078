"""Exceptions through several frames, chained, re-raised, replaced, grouped."""


def level(n, error):
    if not n:
        raise error
    return level(n - 1, error) + 1


def chained():
    try:
        level(3, KeyError("deep"))
    except KeyError as error:
        raise ValueError("outer") from error


def reraised():
    try:
        level(2, TypeError("again"))
    except TypeError:
        raise


def replaced():
    try:
        level(1, OSError(1))
    except OSError:
        {}["missing"]


def in_c():
    return sorted([3, 1, 2], key=lambda n: level(2, ZeroDivisionError(n)))


def grouped():
    try:
        raise ExceptionGroup("group", [ValueError(1), ExceptionGroup("in", [TypeError(2), ValueError(3)]), OSError(4)])
    except* ValueError as group:
        print("values", len(group.exceptions))
    except* TypeError as group:
        print("types", len(group.exceptions))


def noted():
    error = RuntimeError("noted")
    error.add_note("here")
    raise error


for function in (chained, reraised, replaced, in_c, grouped, noted):
    try:
        function()
    except BaseException as error:
        depth, tb = 0, error.__traceback__
        while tb:
            depth, tb = depth + 1, tb.tb_next
        print(function.__name__, type(error).__name__, error, depth, type(error.__context__).__name__)
    else:
        print(function.__name__, "passes")

for bad in ("1 +", "[].missing", "int('x')", "undefined", "1 / 0", "assert_ = (); assert_[0]"):
    try:
        exec(bad)
    except Exception as error:
        print(type(error).__name__)
