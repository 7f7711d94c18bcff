"""Every test meets the program without variables, on a terminal wide enough not to break a line."""

import logging
import os
from collections.abc import Iterator

import pytest

from certs import options


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "500")
    for name in [name for name in os.environ if name.startswith(options.PREFIX)]:
        monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _loggers_as_before() -> Iterator[None]:
    """``manage`` takes the loggers of its client over; tests of that client read what propagates."""
    loggers = [logging.getLogger(name) for name in ("certs.managed", "kubeapi")]
    before = [(logger.handlers, logger.propagate, logger.level) for logger in loggers]
    yield
    for logger, (handlers, propagate, level) in zip(loggers, before, strict=True):
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)
