# preload: multiprocessing multiprocessing.popen_spawn_posix multiprocessing.connection runpy
"""multiprocessing by spawn: a new interpreter imports this file as __mp_main__."""

import multiprocessing


def work(n, connection):
    connection.send(sum(i for i in range(n)))
    connection.close()


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe()
    process = context.Process(target=work, args=(25, theirs))
    process.start()
    print(mine.recv())
    process.join()
    print(process.exitcode)
