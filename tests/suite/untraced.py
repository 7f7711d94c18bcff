"""Processes that coverage does not trace, where tests start programs that are not the product or are copies of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

COVERAGE: Final = "COVERAGE_PROCESS_CONFIG"
"""The variable that has a process traced."""


@contextmanager
def untraced_processes() -> Iterator[None]:
    """Meanwhile processes that are started are not traced: that would cost each of them a third of its time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(COVERAGE, raising=False)
        yield
