"""Elections wait for seconds; the loop skips them."""

from collections.abc import Callable, Mapping

from tests.controller.virtual_time import VirtualTimeLoop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], VirtualTimeLoop]]:
    return {"quick": VirtualTimeLoop}
