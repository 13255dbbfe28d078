# preload: contextlib
"""try/finally/with: returns and breaks through them, suppressed and replaced exceptions."""

import contextlib


class Manager:
    def __init__(self, name, swallow=False):
        self.name, self.swallow = name, swallow

    def __enter__(self):
        print("enter", self.name)
        return self

    def __exit__(self, kind, error, traceback):
        print("exit", self.name, kind and kind.__name__)
        return self.swallow


def return_through():
    try:
        with Manager("a"):
            try:
                return "value"
            finally:
                print("inner")
    finally:
        print("outer")


def break_through():
    for i in range(5):
        with Manager(i):
            try:
                if i == 1:
                    continue
                if i == 2:
                    break
            finally:
                print("finally", i)
    return i


def swallowed():
    with Manager("out", swallow=True), Manager("in"):
        raise ValueError("swallowed")
    return "after"


def replaced():
    try:
        try:
            1 / 0
        finally:
            raise KeyError("replaced")
    except KeyError as error:
        return type(error.__context__).__name__


@contextlib.contextmanager
def generator_manager():
    try:
        yield 5
    except LookupError:
        print("lookup")
    else:
        print("fine")


def stacked():
    with contextlib.ExitStack() as stack:
        for name in "xyz":
            stack.enter_context(Manager(name, swallow=name == "y"))
        stack.callback(print, "callback")
        raise OSError("stacked")


print(return_through(), break_through(), swallowed(), replaced())
for raising in (False, True):
    with generator_manager() as five:
        if raising:
            raise IndexError(five)
stacked()
with contextlib.suppress(OSError), contextlib.closing(open(__file__)):
    raise OSError
