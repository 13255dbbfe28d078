"""The program of `make demo`: five bodies under gravity, stepped by the leapfrog method.

Nested loops, methods, a generator, a recursion: small enough to read, long enough to see.
"""

from itertools import combinations

# mass, position, velocity: Sun and outer planets; solar masses, astronomical units, days
BODIES = {
    "Sun": (1.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    "Jupiter": (9.548e-4, (4.841, -1.160, -0.104), (1.660e-3, 7.699e-3, -6.905e-5)),
    "Saturn": (2.859e-4, (8.343, 4.125, -0.403), (-2.767e-3, 4.999e-3, 2.304e-5)),
    "Uranus": (4.366e-5, (12.894, -15.111, -0.223), (2.965e-3, 2.378e-3, -2.966e-5)),
    "Neptune": (5.151e-5, (15.380, -25.919, 0.179), (2.681e-3, 1.628e-3, -9.516e-5)),
}
GRAVITY = 2.959e-4


class Body:
    def __init__(self, name, mass, position, velocity):
        self.name, self.mass = name, mass
        self.position, self.velocity = list(position), list(velocity)

    def drift(self, days):
        for axis in range(3):
            self.position[axis] += self.velocity[axis] * days

    def kinetic(self):
        return self.mass * sum(v * v for v in self.velocity) / 2


def separation(a, b):
    apart = [a.position[axis] - b.position[axis] for axis in range(3)]
    return apart, sum(d * d for d in apart) ** 0.5


def kick(pairs, days):
    for a, b in pairs:
        apart, distance = separation(a, b)
        pull = GRAVITY * days / distance**3
        for axis in range(3):
            a.velocity[axis] -= apart[axis] * b.mass * pull
            b.velocity[axis] += apart[axis] * a.mass * pull


def energy(bodies, pairs):
    potential = sum(GRAVITY * a.mass * b.mass / separation(a, b)[1] for a, b in pairs)
    return sum(body.kinetic() for body in bodies) - potential


def steps(bodies, pairs, count, days):
    for number in range(count):
        kick(pairs, days)
        for body in bodies:
            body.drift(days)
        if number % 50 == 0:
            yield energy(bodies, pairs)


def widest(values):
    """Largest minus smallest, by halving: a recursion."""
    if len(values) == 1:
        return values[0], values[0]
    middle = len(values) // 2
    (low, high), (lower, higher) = widest(values[:middle]), widest(values[middle:])
    return min(low, lower), max(high, higher)


def main():
    bodies = [Body(name, *rest) for name, rest in BODIES.items()]
    pairs = list(combinations(bodies, 2))
    energies = list(steps(bodies, pairs, 1000, 5.0))
    low, high = widest(energies)
    print(f"5000 days, energy {energies[-1]:.6e}, drift {abs((high - low) / energies[0]):.1e}")


if __name__ == "__main__":
    main()
