"""Sequence matching."""
import difflib

a = "the quick brown fox jumps over the lazy dog".split() * 3
b = "the quick red fox leaps over the very lazy dog".split() * 3
matcher = difflib.SequenceMatcher(None, a, b)
print(round(matcher.ratio(), 3), matcher.get_opcodes()[:3])
print("\n".join(difflib.unified_diff(a, b, lineterm="", n=1))[:80], difflib.get_close_matches("appel", ["ape", "apple"]))
