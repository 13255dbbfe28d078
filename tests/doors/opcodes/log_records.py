"""Loggers, handlers, filters and formatters."""
import io
import logging

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
print(out.getvalue().count("\n"), out.getvalue()[:30])
