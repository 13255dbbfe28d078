"""floor.c: what reading a recording costs at least, which also tells how fast the machine is at the time."""

import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
HEADERS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "helper-ext")


class Floor:
    """The program, made in that folder."""

    def __init__(self, folder):
        self.program = os.path.join(folder, "floor")
        subprocess.run(["cc", "-O2", "-std=gnu11", "-D_GNU_SOURCE", "-I" + HEADERS, "-o", self.program, os.path.join(HERE, "floor.c")], check=True)

    def measure(self, data):
        """(markers, ns a marker of the sum of its bytes, of walking its packets, of that and a stack)"""
        out = subprocess.run([self.program, os.path.join(data, "perf.data")], check=True, stdout=subprocess.PIPE, text=True).stdout
        markers, *least, _ = out.split()
        return int(markers), *map(float, least)
