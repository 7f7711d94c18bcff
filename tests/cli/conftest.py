"""Every command meets an empty environment and a terminal that is wide enough."""

import logging
from collections.abc import Iterator

import pytest

from webhook import settings


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for field in settings.Settings.model_fields:
        monkeypatch.delenv(settings.variable(field), raising=False)
    monkeypatch.setenv("COLUMNS", "500")
    monkeypatch.setattr("sys.argv", ["streams-placement"])


@pytest.fixture
def own_logs() -> Iterator[None]:
    """For commands that set up logging: the root logger is bare, and put back."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers.clear()
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
