"""Files that a run of the unit or of the integration tests need not import: they have none of its tests."""

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final

import pytest

INTEGRATION: Final = "pytest.mark.integration"
"""As each file with integration tests has it: marks that it would get from elsewhere are not looked for."""

_ALL: Final = re.compile(rf"^pytestmark = .*{re.escape(INTEGRATION)}\b", re.MULTILINE)
"""All tests of the file are integration tests."""

_FIRST: Final = Path(__file__).parents[1] / "tools" / "release"
"""Tests that share a release, which every process that runs one of them builds for itself, in ten seconds."""


def begun_with_what_is_shared(items: Collection[pytest.Item]) -> list[pytest.Item]:
    """The tests in the order in which they run; otherwise it stays.

    With ``--dist=worksteal`` the process that runs the first tests goes on with those that follow, and what it has left
    at the end goes to others: the last tests of all may be spread over all processes.
    """
    later = {path: not path.is_relative_to(_FIRST) for path in {item.path for item in items}}
    return sorted(items, key=lambda item: later[item.path])


def is_left_out(path: Path, selected: str) -> bool:
    """Whether the expression of ``-m`` selects no test of the file, by its text."""
    if not (path.name.startswith("test_") and path.suffix == ".py"):
        return False
    match selected:
        case "integration":
            return INTEGRATION not in path.read_text()
        case "not integration":
            return _ALL.search(path.read_text()) is not None
    return False


def hidden(items: Iterable[pytest.Item]) -> set[Path]:
    """Files with integration tests that do not say so."""
    paths = {item.path for item in items if item.get_closest_marker("integration")}
    return {path for path in paths if INTEGRATION not in path.read_text()}
