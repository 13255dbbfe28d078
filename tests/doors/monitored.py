"""CPython's test_monitoring beside another tool, which it takes for granted that there is none.

    monitored.py EVENTS ARGUMENTS-OF-REGRTEST...

The other tool is Ocular if this program is traced, else one that listens to the same EVENTS (comma-separated, or `all`)
with callbacks that do nothing, under the id that Ocular takes. It is hidden from the test's own assertions, and the test,
which wants that id, gets another one.
"""

import sys

OCULARS = 4
monitoring = sys.monitoring


def add_tool(kinds):
    every = {name: n for name, n in vars(monitoring.events).items() if name.isupper() and name != "NO_EVENTS"}
    kinds = [name for name in every if kinds == ["all"] or name in kinds]
    monitoring.use_tool_id(OCULARS, "nothing")
    for name in kinds:
        monitoring.register_callback(OCULARS, every[name], lambda *_: None)
    monitoring.set_events(OCULARS, sum(every[name] for name in kinds))


def hide_tool():
    get_events, all_events = monitoring.get_events, monitoring._all_events
    monitoring.get_events = lambda tool: 0 if tool == OCULARS else get_events(tool)
    monitoring._all_events = lambda: {event: tools & ~(1 << OCULARS) for event, tools in all_events().items()
                                      if tools & ~(1 << OCULARS)}


if monitoring.get_tool(OCULARS) is None:
    add_tool(sys.argv[1].split(","))
del sys.argv[1]
hide_tool()
import test.test_monitoring  # noqa: E402
test.test_monitoring.TEST_TOOL3 = 0
from test.libregrtest.main import main  # noqa: E402
main()
