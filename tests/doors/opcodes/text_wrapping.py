"""Wrapping, pretty printing, and formatting."""
import pprint
import textwrap

text = "It was the best of times, it was the worst of times. " * 4
print(textwrap.fill(text, 30)[:60], textwrap.shorten(text, 25), textwrap.dedent("   a\n    b\n"))
pprint.pprint({"a": list(range(30)), "b": {"c": (1, 2), "d": {"e": "f" * 60}}}, width=40)
print(textwrap.indent(text, "> ")[:10], f"{3.14159:>10.3f}|{'x':^7}|{255:#x}|{'y'!r}")

# A form that appends in place is given up where it does not fit, and then runs no second instruction.


def joined(parts, start):
    whole = start
    for part in parts:
        whole += part
    return whole


class Log:
    def append(self, item):
        return joined([str(item)] * 2, "")


def collect(out, items):
    for item in items:
        out.append(item)


print(joined(["a"] * 40, ""), joined([b"b"] * 3, b""), joined([1] * 5, 2), joined(["c"] * 5, ""))
for out in ([], Log(), [], Log()):
    collect(out, range(40))
