# preload: typing
"""PEP 695: type parameters, aliases, lazily evaluated bounds: hidden functions of their own."""

type Pair[T] = tuple[T, T]


def first[T: (int, str)](items: list[T]) -> T:
    return items[0]


class Stack[T]:
    def __init__(self) -> None:
        self.items: list[T] = []

    def push[U](self, item: T, other: U = None) -> U:
        self.items.append(item)
        return other


print(Pair.__value__, first([1, 2]), Stack[int]().push(1, "u"), first.__type_params__[0].__constraints__)
