"""What holds for every test: what counts as coverage, and what a report may say."""

import signal
import sys
from collections.abc import Generator

import pytest

from tests.example_count import everyday_profile


def pytest_configure() -> None:
    """SIGHUP is not ignored, even if the tests run under ``nohup``: programs would rightly go on ignoring it."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    everyday_profile()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """What random examples happen to reach is no coverage: a line counts where a test that says what it is for runs it.

    The gate then gives one answer for one state of the code; and tracing would more than double what properties cost.
    The same holds for tests with the marker ``examples``.
    """
    if not item.get_closest_marker("hypothesis") and not item.get_closest_marker("examples"):
        return (yield)
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Lone surrogates, which some tests print on purpose, are escaped: workers send their reports as UTF-8."""
    report = yield
    report.sections = [(title, text.encode(errors="backslashreplace").decode()) for title, text in report.sections]
    return report
