"""One line of JSON per record on standard error; no key, no certificate and no token is ever part of one."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Final

from certs.names import printable

LOG: Final = logging.getLogger("certs.managed")


class Line(logging.Formatter):
    """A record as one line of JSON, in printable ASCII."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "time": moment.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": printable(record.getMessage()),
        }
        return json.dumps(line)


def log_to_standard_error() -> None:
    """From now on, and once only however often it is called."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Line())
    LOG.handlers = [handler]
    LOG.propagate = False
    LOG.setLevel(logging.INFO)
