"""What a worker of pytest-xdist tells the process that hands tests out: as little as that prints."""

from functools import cached_property

import pluggy
import pytest
from _pytest.runner import runtestprotocol


class WorkerReports:
    """One report of a test that passed, not three: of its fixtures only what failed or was skipped.

    A report costs both processes half a millisecond, which is more than most tests take. The worker's own terminal gets
    none: what it prints goes nowhere. The end of a test is told of the last one only, by which a run prints 100 %.
    """

    def __init__(self, plugins: pytest.PytestPluginManager) -> None:
        self._plugins = plugins

    @pytest.hookimpl
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """As pytest runs a test that is tried again: first all of it, then what there is to say."""
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed:
                report.keywords = {}  # which nothing asks for any more
                self._send_report(report=report)
        if nextitem is None:
            item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    @cached_property
    def _send_report(self) -> pluggy.HookCaller:
        terminal = self._plugins.get_plugin("terminalreporter")
        return self._plugins.subset_hook_caller("pytest_runtest_logreport", remove_plugins=[terminal])


def tell_little(config: pytest.Config) -> None:
    """Workers tell little, unless a list of durations or a file of results needs the fixtures as well."""
    all_needed = config.getoption("durations") is not None or config.getoption("xmlpath", None)
    if hasattr(config, "workerinput") and not all_needed:
        config.pluginmanager.register(WorkerReports(config.pluginmanager))
