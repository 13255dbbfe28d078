# SPDX-License-Identifier: MIT
"""What @traced makes of a function: one of the same kind, so that whoever asks what it is (asyncio, frameworks) is told the same.

The kind is in the flags of the code object: inspect would tell, but takes ten times as long to import as all of this.
"""

import functools
import types

from .session import tracing

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator
    from typing import Any
    from contextlib import AbstractContextManager
    from . import _core
    from .session import F, Options
    Block = Callable[[], AbstractContextManager[object]]

# Of code objects (inspect.CO_*).
GENERATOR, COROUTINE, ITERABLE_COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x100, 0x200


def wrap(function: "F", options: "Options") -> "F":
    """The function, each call of which is a block of tracing(**options). TypeError if it is none."""
    return _wrap("@traced", function, lambda: tracing(**options))


def within(span: "_core.span", function: "F") -> "F":
    """The function, each call of which is in a span like that one."""
    return _wrap("a span", function, span._anew)


def _wrap(what: str, function: "F", block: "Block") -> "F":
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_wrap(what, function.__func__, block))  # type: ignore[return-value]
    if not callable(function) or isinstance(function, type):
        raise TypeError("ocular: %s is for functions, not for %r" % (what, function))
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    for flag, make in KINDS.items():
        if flags & flag:
            return functools.wraps(function)(make(function, block))  # type: ignore[return-value]
    return functools.wraps(function)(_function(function, block))  # type: ignore[return-value]


def _function(function: "Callable[..., Any]", block: "Block") -> "Callable[..., Any]":
    def call(*args: "Any", **kwargs: "Any") -> "Any":
        with block():
            return function(*args, **kwargs)
    return call


def _generator(function: "Callable[..., Any]", block: "Block") -> "Callable[..., Any]":
    def call(*args: "Any", **kwargs: "Any") -> "Generator[Any, Any, Any]":
        with block():
            return (yield from function(*args, **kwargs))
    return call


def _iterable_coroutine(function: "Callable[..., Any]", block: "Block") -> "Callable[..., Any]":
    """Of @types.coroutine: a generator that can be awaited."""
    return types.coroutine(_generator(function, block))


def _coroutine(function: "Callable[..., Any]", block: "Block") -> "Callable[..., Any]":
    async def call(*args: "Any", **kwargs: "Any") -> "Any":
        with block():
            return await function(*args, **kwargs)
    return call


def _async_generator(function: "Callable[..., Any]", block: "Block") -> "Callable[..., Any]":
    """Hands on what is sent and thrown, which `async for` would not."""
    async def call(*args: "Any", **kwargs: "Any") -> "AsyncGenerator[Any, Any]":
        with block():
            inner = function(*args, **kwargs)
            step = inner.__anext__()
            while True:
                try:
                    value = await step
                except StopAsyncIteration:
                    return
                try:
                    sent = yield value
                except GeneratorExit:
                    await inner.aclose()
                    raise
                except BaseException as e:
                    step = inner.athrow(e)
                else:
                    step = inner.asend(sent)
    return call


# A generator that can be awaited has both flags.
KINDS = {ITERABLE_COROUTINE: _iterable_coroutine, GENERATOR: _generator, COROUTINE: _coroutine, ASYNC_GENERATOR: _async_generator}
