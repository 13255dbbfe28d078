#!/usr/bin/env python3
"""How much the witnesses of identity and of tasks compared, and how much of it was right, by program and Python, as Markdown.

    for test in identity truth tasks; do tests/doors/test_$test.py; done | tests/doors/counts.py

Seeds, and the modes of test_truth.py, are added up.
"""

import re
import sys

COUNTS = re.compile("resumptions compared ([0-9]+), right ([0-9]+)")
RESULT = re.compile(r"(?:not )?ok [0-9]+ - (3\.[0-9]+t?) (?:(?:calls|adaptive|lines|precise|full) )?(.*?)(?:, (?:seed )?[0-9]+)?$")


def read(lines):
    """{program: {version: [compared, right]}}, in the order of the tests."""
    found, waiting = {}, []
    for line in lines:
        counts, result = COUNTS.search(line), RESULT.match(line.rstrip("\n"))
        if counts:
            waiting.append([int(n) for n in counts.groups()])
        if result and waiting:
            row = found.setdefault(result[2], {}).setdefault(result[1], [0, 0])
            for compared, right in waiting:
                row[0] += compared
                row[1] += right
        if result:
            waiting = []
    return found


def main():
    found = {program: row for program, row in read(sys.stdin).items() if any(compared for compared, _ in row.values())}
    versions = sorted({version for row in found.values() for version in row}, key=lambda text: int(text[2:].rstrip("t")))
    print("| program |", " | ".join(versions), "|\n|---|" + "---|" * len(versions))
    for program, row in found.items():
        print(f"| {program} |", " | ".join("{:,} / {:,}".format(*row[v]) if v in row else "" for v in versions), "|")


if __name__ == "__main__":
    main()
