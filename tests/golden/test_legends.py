#!/usr/bin/env python3
"""No figure of any golden trace contradicts its legend: shares, self and total times, counts, in summary and pstats."""

import glob
import json
import marshal
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import legends
import recording
from tap import Plan

FEED = os.path.join(recording.BUILD, "bin", "ocular-feed")


def check(case, folder):
    args = [FEED, f"summary={folder}/summary", f"pstats={folder}/pstats"]
    if glob.glob(os.path.join(case, "codes-*.jsonl")):
        args.append(f"codes={case}")
    if os.path.exists(os.path.join(case, "args")):
        with open(os.path.join(case, "args"), encoding="utf-8") as file:
            args.append(file.read().strip())
    subprocess.run([*args, os.path.join(case, "events.txt")], check=True)
    with open(f"{folder}/summary", encoding="utf-8") as file:
        summary = json.load(file)
    with open(f"{folder}/pstats", "rb") as file:
        rows = marshal.load(file)
    return [*legends.of_summary(summary), *legends.of_pstats(rows, summary["trace"]["traced_ns"])]


with Plan() as plan:
    for events in sorted(glob.glob(os.path.join(HERE, "*", "events.txt"))):
        with tempfile.TemporaryDirectory() as folder:
            plan.case(os.path.basename(os.path.dirname(events)), check, os.path.dirname(events), folder)
