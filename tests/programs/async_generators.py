# preload: asyncio contextlib
"""Async generators: async for, aclose, athrow, asend, async comprehensions, async with."""

import asyncio
import contextlib


async def ticks(n):
    try:
        for i in range(n):
            received = yield i
            await asyncio.sleep(0)
            if received:
                yield received
    except KeyError:
        yield "key"
    finally:
        print("ticks end")


@contextlib.asynccontextmanager
async def managed(name):
    print("enter", name)
    try:
        yield name
    finally:
        print("leave", name)


async def main():
    print([i async for i in ticks(3)], {i async for i in ticks(4) if i % 2})
    async for i in ticks(10):
        if i == 2:
            break
    generator = ticks(5)
    print(await anext(generator), await generator.asend("sent"), await generator.athrow(KeyError()))
    await generator.aclose()
    async with managed("one") as one, managed("two") as two:
        print(one, two)
    with contextlib.suppress(ZeroDivisionError):
        async with managed("three"):
            1 / 0


asyncio.run(main())
