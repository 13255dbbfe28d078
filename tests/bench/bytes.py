# SPDX-License-Identifier: MIT
"""Bytes of perf.data an event, of five programs, as `bench.py --only bytes` prints them.

    bytes.py NAME    runs one of them
"""
import asyncio
import json
import sys

import workloads


def dumps():
    value = {"users": [{"id": i, "name": "n%d" % i, "tags": ["a", "b"], "ok": True} for i in range(100)]}
    for _ in range(40):
        json.dumps(value)


async def client(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for i in range(100):
        writer.write(b"%d\n" % i)
        await writer.drain()
        await reader.readline()
    writer.close()
    await writer.wait_closed()


async def echo(reader, writer):
    while line := await reader.readline():
        writer.write(line)
        await writer.drain()
    writer.close()


async def clients():
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    await asyncio.gather(*(client(port) for _ in range(20)))
    server.close()


def black():
    """Of its own source; not compiled."""
    import black as package
    with open(package.__file__.replace("__init__", "linegen"), encoding="utf-8") as file:
        package.format_str(file.read()[:24_000].rpartition("\n\n\n")[0], mode=package.Mode())


# name: what runs, and the package that it needs
PROGRAMS = {
    "recursion": (lambda: workloads.fib(27), None),
    "generators": (lambda: workloads.generators(60), None),
    "asyncio": (lambda: asyncio.run(clients()), None),
    "black": (black, "black==25.11.0"),
    "json.dumps": (dumps, None),
}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]][0]()
