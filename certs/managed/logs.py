"""The log of ``manage``: JSON lines on standard error. No key, no certificate and no token is ever part of a record."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Final

from certs.names import printable

LOG: Final = logging.getLogger("certs.managed")

_CLIENT: Final = logging.getLogger("kubeapi")


class JsonFormatter(logging.Formatter):
    """A logging formatter: one line of JSON in printable ASCII for each record."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its newline."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "time": moment.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": printable(record.getMessage()),
        }
        return json.dumps(line)


def log_to_standard_error() -> None:
    """Write log records to standard error from now on. A second call does not duplicate records."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    # Of the client and the election only errors are logged: ``manage`` logs their other events in its own words.
    for logger, level in ((LOG, logging.INFO), (_CLIENT, logging.ERROR)):
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(level)
