#!/usr/bin/env python3
"""README holds: its program gives its transcript, but for times and cycles, and what it points to is there."""

import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OCULAR = os.path.join(ROOT, "scripts/ocular")

with open(os.path.join(ROOT, "README.md")) as text:
    README = text.read()
TRANSCRIPT = re.search(r"```\n\$ ocular run primes\.py\n(.*?)```", README, re.S)[1].splitlines()
PROGRAM = re.search(r"```python\n(def is_prime.*?)```", README, re.S)[1]


def shape(line):
    """A line without what differs from run to run: numbers, where the recording is, how columns are filled."""
    line = re.sub(r"in \S+/ocular\.data", "in ocular.data", line)
    return re.sub(r"\d[\d.]*[kMG]?(%| (ns|us|ms|s)\b)?", "N", re.sub(r" +", " ", line)).strip()


def output():
    python = subprocess.run([os.path.join(ROOT, "scripts/find-pythons")], capture_output=True, text=True).stdout.split()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "primes.py"), "w") as program:
            program.write(PROGRAM)
        return subprocess.run([OCULAR, "run", "--python", python[-1], "primes.py"], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def check_transcript(said):
    """Each line that is shown is there, and in the order in which it is shown; "..." is what was left out."""
    lines = iter(map(shape, said.splitlines()))
    return [line for line in TRANSCRIPT if line.strip() not in ("", "...") and shape(line) not in lines]


def missing_links():
    """(links of README and docs/ to files that are not there, how many links there are)"""
    pages = [os.path.join(ROOT, "README.md"), *glob.glob(os.path.join(ROOT, "docs/*.md"))]
    links = []
    for page in pages:
        with open(page) as lines:
            found = re.findall(r"\]\(((?!https?:)[^)#\s]+)", lines.read())
        links += [(page, os.path.join(os.path.dirname(page), link)) for link in found]
    return ["%s: %s" % link for link in links if not os.path.exists(link[1])], len(links)


def unknown_commands():
    table = README[README.index("## Commands"):README.index("`--help` of each")]
    shown = set(re.findall(r"`ocular (\w+)", table))
    there = set(subprocess.run([OCULAR, "words", "help"], capture_output=True, text=True).stdout.split()) - {"help"}
    return sorted(shown ^ there)


def help_of(command):
    """`run` takes what `record` and `report` take."""
    return "".join(subprocess.run([OCULAR, "help", each], capture_output=True, text=True).stdout
                   for each in (command, *(("record", "report") if command == "run" else ())))


def unknown_options():
    """Options of ocular's that README names and the help of that command does not."""
    calls = [(call.split()[0], re.findall(r"--[a-z-]+", call)) for call in re.findall(r"`ocular ([^`]+)`", README)]
    helps = {command: help_of(command) for command, named in calls if named}
    return sorted({f"{command} {option}" for command, named in calls for option in named if not re.search(re.escape(option) + r"\b", helps[command])})


def trips():
    """How often README's loop jumps back: after each `d += 1` behind which it goes on."""
    total = 0
    for n in range(2, 20000):
        d = 2
        while d * d <= n and n % d:
            d += 1
            total += d * d <= n
    return total


def main():
    said = output()
    links, n = missing_links()
    count = " %d " % trips()
    results = [
        ("the transcript is what the program gives", check_transcript(said)),
        ("the loop has as many trips as the source says", [] if count in said and count in README else [count]),
        ("nothing is shown that is lost", [] if TRANSCRIPT[-1] == "Nothing was lost." else TRANSCRIPT[-1:]),
        ("its links lead somewhere", links if n else ["no links"]),
        ("its commands are those of ocular", unknown_commands()),
        ("its options are known", unknown_options()),
        ("the address of the clone stands out", [] if "YOUR-GIT-HOST" in README else ["git clone"]),
    ]
    print("1..%d" % len(results))
    for i, (name, wrong) in enumerate(results, 1):
        print("%s %d - %s" % ("not ok" if wrong else "ok", i, name))
        for each in wrong:
            print("# " + each)
    return any(wrong for _, wrong in results)


if __name__ == "__main__":
    sys.exit(main())
