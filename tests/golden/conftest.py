"""What holds for the tests of ``make golden``."""

from collections.abc import Iterator

import pytest

from tests.suite.untraced import untraced_processes


@pytest.fixture(autouse=True)
def _untraced() -> Iterator[None]:
    """The runs of pytest that rewrite texts run samples, and none of our code."""
    with untraced_processes():
        yield
