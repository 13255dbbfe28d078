"""yield from through several levels, and a pipeline of generators."""


class Node:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.value
        if self.right:
            yield from self.right


def build(low, high):
    if low >= high:
        return None
    middle = (low + high) // 2
    return Node(middle, build(low, middle), build(middle + 1, high))


def windows(items, size):
    window = []
    for item in items:
        window.append(item)
        if len(window) == size:
            yield tuple(window)
            del window[0]


def squares(items):
    yield from (item * item for item in items)


print(sum(sum(w) for w in windows(squares(build(0, 60)), 3)))
print([a for a, _ in zip(build(0, 30), range(5))])
