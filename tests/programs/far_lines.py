"""Lines beyond 65535, and beyond what 20 bits hold."""

SOURCE = """
def walk(n):
    total = 0
    for i in range(n):
        if i % 2:
            total += i
        else:
            total -= 1
    return total
"""

for first in (1, 250, 65_530, 66_000, 1_048_570, 1_048_576, 5_000_000, 2**30):
    namespace = {}
    exec(SOURCE, namespace)
    walk = namespace["walk"]
    walk.__code__ = walk.__code__.replace(co_firstlineno=first)
    print(first, walk(7))

namespace = {}
exec("\n" * 70_000 + SOURCE, namespace)
print(namespace["walk"](8), namespace["walk"].__code__.co_firstlineno)
