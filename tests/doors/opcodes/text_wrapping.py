"""Wrapping, pretty printing, and formatting."""
import pprint
import textwrap

text = "It was the best of times, it was the worst of times. " * 4
print(textwrap.fill(text, 30)[:60], textwrap.shorten(text, 25), textwrap.dedent("   a\n    b\n"))
pprint.pprint({"a": list(range(30)), "b": {"c": (1, 2), "d": {"e": "f" * 60}}}, width=40)
print(textwrap.indent(text, "> ")[:10], f"{3.14159:>10.3f}|{'x':^7}|{255:#x}|{'y'!r}")
