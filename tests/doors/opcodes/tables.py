"""CSV, heaps, bisection, ordered and default dictionaries, counters, chains."""
import bisect
import collections
import csv
import functools
import heapq
import io
import itertools

rows = list(csv.DictReader(io.StringIO("name,n\n" + "".join("%s,%d\n" % (c, i) for i, c in enumerate("badcfeg")))))
heap = []
for row in rows:
    heapq.heappush(heap, (row["name"], int(row["n"])))
print([heapq.heappop(heap) for _ in range(3)], heapq.nlargest(2, range(9), key=lambda n: n % 5))
groups = collections.defaultdict(list)
for key, group in itertools.groupby(sorted(rows, key=lambda r: int(r["n"]) % 3), key=lambda r: int(r["n"]) % 3):
    groups[key].extend(r["name"] for r in group)
count = collections.Counter("mississippi") + collections.Counter(a=1)
chain = collections.ChainMap({"a": 1}, {"a": 2, "b": 3})


@functools.lru_cache(maxsize=None)
def ways(n):
    return 1 if n < 2 else ways(n - 1) + ways(n - 2)


@functools.total_ordering
class Version(tuple):
    def __lt__(self, other):
        return tuple.__lt__(self, other)


print(dict(groups), count.most_common(2), dict(chain), ways(30), bisect.bisect([1, 3, 5], 4), Version((1, 2)) >= Version((1,)))
