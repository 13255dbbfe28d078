"""Compiling and running patterns: the compiler of re is Python."""
import re

WORDS = re.compile(r"(?P<first>[a-z]+)(?:-(?P<rest>\w+))*\s*", re.I)
text = "alpha beta-gamma delta-1-2 Epsilon, zeta\n" * 5
print([m.group("first", "rest") for m in WORDS.finditer(text)][:6])
print(re.sub(r"(\w)(\w*)", lambda m: m[2] + m[1], text)[:40], re.split(r"[,\s]+", text)[:4])
for pattern in (r"(a|b)*c{2,5}?$", r"(?<=x)y(?!z)", r"[^\W\d_]+|\d+\.\d*", r"(?i:abc)(?s:.)\1" if 0 else r"(abc)\1"):
    print(pattern, bool(re.search(pattern, "xy abcabc acc 12.5")))
