# cython: language_level=3, binding=True
# Each kind of function that Cython makes.

cpdef int twice(int n):
    return 2 * n


def each(f, xs):
    return [f(x) for x in xs]


def fails():
    raise ValueError


def generator(n):
    for i in range(n):
        yield i


cdef class Counter:
    cdef int n

    def add(self, int by=1):
        self.n += by

    def __call__(self):
        return self.n

    @staticmethod
    def zero():
        return 0

    @classmethod
    def made(cls):
        return cls()


class Plain:
    def method(self):
        return 1
