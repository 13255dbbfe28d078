"""Loggers, handlers, filters and formatters."""
import io
import itertools
import logging
import types

# By this clock a record is always made alike: in the last millisecond of a second logging goes another way (3.13).
clock = logging.time
logging.time = types.SimpleNamespace(time=itertools.repeat(1.7e9).__next__, time_ns=itertools.repeat(17 * 10**17).__next__)
out = io.StringIO()
handler = logging.StreamHandler(out)
handler.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))
handler.addFilter(lambda record: "secret" not in record.getMessage())
logger = logging.getLogger("a.b")
logger.addHandler(handler)
logger.setLevel(logging.INFO)
logger.propagate = False
for i in range(30):
    logger.log((logging.DEBUG, logging.INFO, logging.ERROR)[i % 3], "number %d of %s", i, "secret" if i % 7 == 0 else "many")
logger.removeHandler(handler)
logging.time = clock
print(out.getvalue().count("\n"), out.getvalue()[:30])
