"""Elections wait for seconds; the loop skips them."""

from collections.abc import Callable, Mapping

from tests.controller.quick import QuickLoop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], QuickLoop]]:
    return {"quick": QuickLoop}
