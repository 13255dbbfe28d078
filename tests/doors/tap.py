"""The Test Anything Protocol, as tests/run reads it."""

import os
import traceback


class Plan:
    """Prints results as they come and the plan at the end; use as a context manager, which exits if any failed.

    An exception inside `case` fails that case; one anywhere else leaves the plan unprinted, which tests/run
    takes for a failure.
    """

    def __init__(self):
        self.count = self.failed = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            print(f"1..{self.count}", flush=True)
            if self.failed:
                raise SystemExit(1)

    def result(self, name, problems=()):
        """One line for `name`, with each of `problems` as a comment below it when there are any."""
        self.count += 1
        self.failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {self.count} - {name}")
        for line in problems:
            print(f"#   {line}")
        print(end="", flush=True)

    def skip(self, name, why):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {why}", flush=True)

    def missing(self, name, tool):
        """Skips for lack of what scripts/setup --for test installs; so in CI it is a failure."""
        if os.environ.get("CI"):
            self.result(name, [f"no {tool} here"])
        else:
            self.skip(name, f"no {tool} here")

    def case(self, name, function, *args):
        """`function` returns its problems, a list of lines; an exception is one too."""
        try:
            problems = function(*args)
        except Exception:
            problems = traceback.format_exc().splitlines()
        self.result(name, problems)
