"""Every command meets an empty environment and a terminal that is wide enough."""

import pytest

from webhook import settings


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for field in settings.Settings.model_fields:
        monkeypatch.delenv(settings.variable(field), raising=False)
    monkeypatch.setenv("COLUMNS", "500")
    monkeypatch.setattr("sys.argv", ["streams-placement"])
