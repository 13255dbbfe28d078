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

    Does nothing while nobody records. Takes no lock: what a thread says is its own.
    """

    def __init__(self, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        self._labels: dict[str, str] = {}  # of loggers: a text that is there already has its id at once

    def handle(self, record: logging.LogRecord) -> bool:
        """Of `logging`, which calls this first: its filters, lock and message cost more than all else."""
        if not heard():
            return False
        kept = self.filter(record) if self.filters else record
        if isinstance(kept, logging.LogRecord):
            self.emit(kept)
        return bool(kept)

    def emit(self, record: logging.LogRecord) -> None:
        """Of `logging`: its filters and level have let the record through."""
        try:
            label = self._labels.get(record.name) or self._labels.setdefault(record.name, "log: " + record.name)
            instant(label, level=record.levelname, message=record.getMessage())
        except Exception:
            self.handleError(record)
