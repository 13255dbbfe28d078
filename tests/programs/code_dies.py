"""Code objects that die, and others that get their addresses; --few of them where a compiler takes long."""

import sys

turns = 300 if "--few" in sys.argv else 1000
addresses = set()
total = 0
for i in range(turns):
    namespace = {}
    exec(f"def f{i % 5}(n):\n    t = {i}\n    for x in range(n):\n        t += x\n    return t", namespace)
    function = namespace[f"f{i % 5}"]
    total += function(i % 4)
    addresses.add(id(function.__code__))
    del namespace, function
print(total)

for i in range(100):
    total += (lambda x, i=i: eval(f"x + {i}"))(1)
print(total)


def outer(n):
    def local(m):
        return m + n
    return local(1)


code = None
for i in range(50):
    code = outer.__code__.replace(co_firstlineno=100 + i, co_name=f"outer{i}")
    outer.__code__ = code
    total += outer(i)
print(total)
assert len(addresses) < turns  # last: where something keeps all code, as it may, the rest runs, too
