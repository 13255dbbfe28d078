"""match: values, sequences, mappings, classes, guards, or-patterns, nested captures."""


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


def describe(thing):
    match thing:
        case 0 | 1:
            return "bit"
        case int(n) if n < 0:
            return f"negative {n}"
        case int() | float():
            return "number"
        case "quit" | "exit":
            return "command"
        case str() as text if text.startswith("go "):
            return f"go to {text[3:]}"
        case []:
            return "empty"
        case [x]:
            return f"one {describe(x)}"
        case [first, *_, last] if first == last:
            return f"ring of {first}"
        case [Point(0, 0), *rest]:
            return f"origin and {len(rest)}"
        case {"kind": "leaf", "value": value, **rest}:
            return f"leaf {value} {sorted(rest)}"
        case {"kind": "node", "children": [*children]}:
            return [describe(child) for child in children]
        case Point(x=0, y=y):
            return f"on axis {y}"
        case Point(x, y):
            return f"point {x},{y}"
        case None:
            return "none"
        case _:
            return "other"


for thing in (0, -3, 2.5, "exit", "go home", "x", [], [[-1]], (1, 2, 1), [Point(0, 0), 1, 2], [1, 2],
              {"kind": "leaf", "value": 3, "extra": 1}, {"kind": "node", "children": [0, {"kind": "leaf", "value": 1}]},
              Point(0, 9), Point(1, 2), None, {}, b""):
    print(describe(thing))
