"""Generators: run out, closed, thrown into, delegated to, dropped, and returning values."""


def count(n):
    try:
        for i in range(n):
            received = yield i
            if received:
                yield received
    finally:
        print("count ends")


def stubborn():
    while True:
        try:
            yield "waiting"
        except ValueError as error:
            yield f"caught {error}"


def middle():
    result = yield from inner()
    yield result * 2


def inner():
    got = yield 1
    try:
        yield got
    except KeyError:
        yield "key"
    return 21


print(list(count(3)))

closed = count(10)
print(next(closed), next(closed), closed.send("sent"))
closed.close()
closed.close()

thrown = stubborn()
print(next(thrown), thrown.throw(ValueError("a")), next(thrown), thrown.throw(ValueError("b")))
try:
    thrown.throw(RuntimeError("out"))
except RuntimeError as error:
    print("threw", error)

delegating = middle()
print(next(delegating), delegating.send("x"), delegating.throw(KeyError()), next(delegating))

dropped = count(5)
print(next(dropped))
del dropped

unstarted = count(5)
unstarted.close()
del unstarted

fresh = count(5)
try:
    fresh.throw(LookupError("at start"))
except LookupError as error:
    print("threw", error)


def refuses():
    try:
        yield
    except GeneratorExit:
        yield "no"


refusing = refuses()
next(refusing)
try:
    refusing.close()
except RuntimeError as error:
    print(error)
