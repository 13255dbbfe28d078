# preload: multiprocessing multiprocessing.popen_fork multiprocessing.connection multiprocessing.queues
"""multiprocessing by fork: processes, a pipe, a queue, an exit code."""

import multiprocessing
import warnings

warnings.simplefilter("ignore")
context = multiprocessing.get_context("fork")


def work(n, connection):
    connection.send(sum(i for i in range(n)))
    connection.close()


def leave(code):
    raise SystemExit(code)


if __name__ == "__main__":
    for n in (10, 20):
        mine, theirs = context.Pipe()
        process = context.Process(target=work, args=(n, theirs))
        process.start()
        print(mine.recv())
        process.join()
        print(process.exitcode)
    process = context.Process(target=leave, args=(9,))
    process.start()
    process.join()
    print(process.exitcode)
