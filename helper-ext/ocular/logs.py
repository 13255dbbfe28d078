# SPDX-License-Identifier: MIT
"""What a program logs, as moments of its trace."""

import logging

from . import instant

try:
    from ._core import heard
except ImportError:  # not built: nobody can record
    from .nothing import heard


class LogHandler(logging.Handler):
    """A handler of `logging` that puts each record on the timeline, as an instant `log: NAME OF THE LOGGER` with level and message.

    logging.getLogger().addHandler(ocular.LogHandler())

    level     records below it are left out, as with any handler

    Does nothing while nobody records.
    """

    def __init__(self, level: int = logging.NOTSET) -> None:
        super().__init__(level)

    def handle(self, record: logging.LogRecord) -> bool:
        """Of `logging`, which calls this first: its filters, and the message, cost more than all else."""
        return heard() and super().handle(record)

    def emit(self, record: logging.LogRecord) -> None:
        """Of `logging`: its filters and level have let the record through."""
        try:
            instant("log: " + record.name, level=record.levelname, message=record.getMessage())
        except Exception:
            self.handleError(record)
