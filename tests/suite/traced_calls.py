"""What is traced of a test: its function, its fixtures and their ends, and nothing that pytest does around them."""

import sys
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.suite.untraced import untraced_processes

if TYPE_CHECKING:
    from _typeshed import TraceFunction


UNTRACED: Final = ("hypothesis", "examples", "untraced")
"""Markers of tests whose calls are not traced."""


class TracedCalls:
    """Has the tracer look at nothing else: all code is slower meanwhile, also what does not count as coverage."""

    def __init__(self, tracer: "TraceFunction | None") -> None:
        self._tracer = tracer

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        """Fixtures count as coverage, and so do their ends; those of pytest run none of our code."""
        if fixturedef.func.__module__.startswith("_pytest."):
            return (yield)
        end = _Traced(self._tracer)
        fixturedef.addfinalizer(end.stop)  # the last one that is added is called first
        with _Traced(self._tracer):
            value = yield
        fixturedef.addfinalizer(end.start)
        return value

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        """What random examples happen to reach is no coverage: a line counts where a test that is for it runs it.

        The gate then gives one answer for one state of the code; and tracing would more than double what properties
        cost. The same holds for tests with the markers ``examples`` and ``untraced``, and for their processes.
        """
        if any(pyfuncitem.get_closest_marker(name) for name in UNTRACED):
            with untraced_processes():
                return (yield)
        with _Traced(self._tracer):
            return (yield)


class _Traced:
    """Traces, unless something around it does so already."""

    def __init__(self, tracer: "TraceFunction | None") -> None:
        self._tracer = tracer
        self._is_outermost = False

    def start(self) -> None:
        self._is_outermost = sys.gettrace() is None
        if self._is_outermost:
            sys.settrace(self._tracer)

    def stop(self) -> None:
        if self._is_outermost:
            sys.settrace(None)

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
