"""As much of OpenTelemetry's SDK as Ocular looks at, for programs that a test makes: a package beside the program."""

import os

SPAN = """
class Span:
    def __init__(self, name, parent, context=None):
        self._name, self._parent, self._context = name, parent, context
    def start(self, start_time=None, parent_context=None):
        pass
    def end(self, end_time=None):
        pass
"""


def make_package(folder):
    package = os.path.join(folder, "opentelemetry", "sdk", "trace")
    os.makedirs(package)
    with open(os.path.join(package, "__init__.py"), "w", encoding="utf-8") as file:
        file.write(SPAN)
