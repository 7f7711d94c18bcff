"""Processes that coverage does not trace, where tests start programs that are not the product or are copies of it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def untraced_processes() -> Iterator[None]:
    """Meanwhile processes that are started are not traced: that would cost each of them a third of its time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
        yield
