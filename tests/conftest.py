"""What holds for every test: what is traced and counts as coverage, and what a report may say."""

import functools
import gc
import inspect
import os
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import coverage
import pytest

from tests.suite.collected_files import INTEGRATION, begun_with_what_is_shared, hidden, is_left_out
from tests.suite.example_count import everyday_profile
from tests.suite.traced_calls import TracedCalls
from tests.suite.traced_imports import ProductImports
from tests.suite.worker_reports import tell_little


def pytest_configure(config: pytest.Config) -> None:
    """SIGHUP is not ignored, even if the tests run under ``nohup``: programs would rightly go on ignoring it."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # argparse looks for translations of each of its words: in a language without any it looks into no folder.
    os.environ["LANGUAGE"] = "C"
    everyday_profile()
    tell_little(config)
    _fork_between_traces()
    gc.disable()  # until all tests are collected: that makes millions of objects, and none of them is garbage
    # Parses IRIs for jsonschema, which no schema here mentions, and takes each process a second to load.
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    _trace_our_code_only(config)


def _trace_our_code_only(config: pytest.Config) -> None:
    """Nothing is traced but imports of the product, and what a test and its fixtures do.

    The rest is pytest's own: the collection of all tests would take twice as long.
    """
    tracer = sys.gettrace()
    sys.settrace(None)
    config.pluginmanager.register(TracedCalls(tracer))
    if tracer is not None and (hasattr(config, "workerinput") or not config.getoption("numprocesses", None)):
        sys.meta_path.insert(0, ProductImports(tracer))


def _fork_between_traces() -> None:
    """Let no process be forked while another thread holds the lock of coverage's data: the child would wait forever.

    The lock is taken where a file is traced for the first time in a thread. A child writes down what it traces itself,
    not what its parent has traced for minutes: that would take each one seconds at its end.
    """
    collector = getattr(coverage.Coverage.current(), "_collector", None)
    lock = getattr(collector, "data_lock", None)
    data: dict[str, object] = getattr(collector, "data", {})
    if lock is None:
        return

    def begin() -> None:
        running, frame = set[str](), inspect.currentframe()
        while frame is not None:
            running.add(frame.f_code.co_filename)
            frame = frame.f_back
        for file in data.keys() - running:  # of what runs the rest of each function counts
            del data[file]
        lock.release()

    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=begin)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files without a test of the suite are not imported."""
    return is_left_out(collection_path, config.getoption("markexpr")) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Integration tests are known by the text of their file, so that they are not left out."""
    items[:] = begun_with_what_is_shared(items)
    if found := hidden(items):
        raise pytest.UsageError(f"files with integration tests say {INTEGRATION}: {', '.join(map(str, sorted(found)))}")


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was collected stays, so that no run of the garbage collector looks through it, not even the last one.

    Tests make inventories of some thousand objects each: with Python's 700 new ones for a run, these took a sixteenth
    of their time. All files ``conftest.py`` are loaded, too: which of them hold for a test is found out once a file,
    not for each of the ten hooks of each test.
    """
    session.gethookproxy = functools.cache(session.gethookproxy)  # type: ignore[method-assign]
    gc.set_threshold(20_000, *gc.get_threshold()[1:])
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """The garbage collector works again where collection failed, too."""
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """What the last tests of a worker left open is found with its last test: nothing that it says later is heard."""
    if nextitem is None:
        gc.collect()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Lone surrogates, which some tests print on purpose, are escaped: workers send their reports as UTF-8."""
    report = yield
    report.sections = [(title, text.encode(errors="backslashreplace").decode()) for title, text in report.sections]
    return report
