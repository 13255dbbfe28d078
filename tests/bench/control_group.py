"""A control group (version 1), which root may make: spark.py, cores.py."""

import contextlib
import os
import time

GROUPS = "/sys/fs/cgroup"


class Group:
    """What its processes or threads used, and may use. Its name may be that of a group within another one."""

    def __init__(self, name, kinds=("cpu", "cpuacct")):
        self.paths = {kind: os.path.join(GROUPS, kind, name) for kind in kinds}
        for path in self.paths.values():
            os.mkdir(path)

    def _write(self, kind, file, text):
        with open(os.path.join(self.paths[kind], file), "w", encoding="utf-8") as out:
            out.write(str(text))

    def take(self, pid):
        for kind in self.paths:
            self._write(kind, "cgroup.procs", pid)

    def take_thread(self, tid):
        for kind in self.paths:
            self._write(kind, "tasks", tid)

    def limit(self, share, period_us=100_000):
        """So much of a core, or of several if it is more than one."""
        self._write("cpu", "cpu.cfs_period_us", period_us)
        self._write("cpu", "cpu.cfs_quota_us", round(share * period_us))

    def come_first(self):
        """Other work on the machine gets what it leaves."""
        self._write("cpu", "cpu.shares", 1 << 18)

    def seconds(self):
        with open(os.path.join(self.paths["cpuacct"], "cpuacct.usage"), encoding="utf-8") as file:
            return int(file.read()) / 1e9

    def remove(self):
        for path in self.paths.values():
            for _ in range(100):  # its processes end after the command
                with contextlib.suppress(OSError):
                    os.rmdir(path)
                    break
                time.sleep(0.1)
