"""Fixtures: the program that answers by the packages of the API server."""

from collections.abc import Iterator

import pytest

from tests.e2e.programs import binaries
from tests.fuzz import second_opinion


@pytest.fixture(scope="module")
def kubernetes() -> Iterator[None]:
    """Questions are answered."""
    second_opinion.begin(binaries.second_opinion())
    yield
    second_opinion.end()
