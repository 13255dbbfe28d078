"""List, set, dict comprehensions and generator expressions, nested and filtered."""

matrix = [[row * 4 + column for column in range(4)] for row in range(4)]
print([[row[i] for row in matrix] for i in range(4)])
print(sorted({x % 7 for row in matrix for x in row if x % 2}))
print({str(k): [v for v in range(k) if v & 1] for k in range(5)})
print(sum(x * y for x in range(6) for y in (z for z in range(x) if z)))
print([last := x for x in "abc"], last)
print([f() for f in [lambda i=i: i * i for i in range(5)]])


class Scope:
    names = [n for n in "xyz"]
    pairs = [(a, b) for a in range(2) for b in range(2)]


print(Scope.names, Scope.pairs, any(n == "y" for n in Scope.names), all(a == b for a, b in Scope.pairs))
