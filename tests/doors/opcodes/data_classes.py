"""Classes whose methods are made by exec."""
import dataclasses
import enum
import typing


class Color(enum.Flag):
    RED = enum.auto()
    BLUE = enum.auto()


@dataclasses.dataclass(order=True, frozen=True)
class Point:
    x: int
    y: int = 0
    tags: tuple = dataclasses.field(default=(), compare=False)


@dataclasses.dataclass
class Shape:
    points: typing.List[Point] = dataclasses.field(default_factory=list)
    color: Color = Color.RED | Color.BLUE

    def __post_init__(self):
        self.points = sorted(self.points)


shapes = [Shape([Point(i % 3, i % 5) for i in range(n)]) for n in range(8)]
print(shapes[3], dataclasses.asdict(shapes[2]), dataclasses.replace(Point(1), y=4), list(Color.RED | Color.BLUE))
try:
    Point(1).x = 2
except dataclasses.FrozenInstanceError as error:
    print(error)
