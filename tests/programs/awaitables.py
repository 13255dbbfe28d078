# preload: types warnings
"""Coroutines driven by hand: __await__, send, throw, close, types.coroutine, never awaited."""

import types
import warnings

warnings.simplefilter("ignore")


class Ready:
    def __init__(self, value):
        self.value = value

    def __await__(self):
        received = yield self.value
        return received


@types.coroutine
def old_style(value):
    return (yield value) + 1


async def add(a, b):
    return await Ready(a) + await old_style(b)


async def guarded():
    try:
        await Ready("wait")
    except ValueError:
        return "caught"
    finally:
        print("guarded ends")


coroutine = add(1, 2)
print(coroutine.send(None), coroutine.send(10))
try:
    coroutine.send(20)
except StopIteration as stop:
    print("result", stop.value)

coroutine = guarded()
coroutine.send(None)
try:
    coroutine.throw(ValueError)
except StopIteration as stop:
    print(stop.value)

coroutine = guarded()
coroutine.send(None)
coroutine.close()
del coroutine
never = guarded()
del never
