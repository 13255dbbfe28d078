"""An event loop of its own making, with tasks, queues, cancellation and groups: asyncio without a clock."""
import collections


class Future:
    def __init__(self):
        self.done, self.value, self.waiters = False, None, []

    def set(self, value):
        self.done, self.value = True, value
        ready.extend(self.waiters)

    def __await__(self):
        while not self.done:
            yield self
        return self.value


class Task(Future):
    def __init__(self, coroutine):
        super().__init__()
        self.coroutine, self.error = coroutine, None
        ready.append(self)

    def step(self):
        try:
            waited = self.coroutine.throw(self.error) if self.error else self.coroutine.send(None)
        except StopIteration as stop:
            self.set(stop.value)
        except KeyboardInterrupt:
            self.set("cancelled")
        else:
            waited.waiters.append(self)

    def cancel(self):
        self.error = KeyboardInterrupt()
        ready.append(self)


ready = collections.deque()


async def worker(name, queue, out):
    async for item in take(queue):
        out.append((name, item))
    return len(out)


async def take(queue):
    while queue:
        future = Future()
        ready.append(Task(later(future, queue.popleft())))
        yield await future


async def later(future, value):
    future.set(value)


async def main():
    queue, out = collections.deque(range(30)), []
    workers = [Task(worker(n, queue, out)) for n in "abc"]
    stuck = Task(worker_forever())
    counts = [await w for w in workers]
    stuck.cancel()
    return counts, sorted(out)[:4], await stuck


async def worker_forever():
    try:
        await Future()
    finally:
        ready.append(Task(later(Future(), 1)))


top = Task(main())
while ready:
    task = ready.popleft()
    if not task.done:
        task.step()
print(top.value)
