# preload: asyncio
"""asyncio: gather, cancellation, timeouts, shielded and failing tasks, locks."""

import asyncio


async def worker(name, rounds):
    try:
        for i in range(rounds):
            await asyncio.sleep(0)
        return f"{name} done"
    except asyncio.CancelledError:
        print(name, "cancelled")
        raise
    finally:
        print(name, "ends")


async def failing():
    await asyncio.sleep(0)
    raise ValueError("failed")


async def locked(lock, log, name):
    async with lock:
        log.append(name)
        await asyncio.sleep(0)
        log.append(name.upper())


async def main():
    print(await asyncio.gather(worker("a", 3), worker("b", 1), failing(), return_exceptions=True))
    task = asyncio.create_task(worker("c", 1000))
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        print("c is", task.cancelled())
    try:
        async with asyncio.timeout(0):
            await worker("d", 1000)
    except TimeoutError:
        print("timeout")
    lock, log = asyncio.Lock(), []
    async with asyncio.TaskGroup() as group:
        for name in "xyz":
            group.create_task(locked(lock, log, name))
    print("".join(log))


asyncio.run(main())
