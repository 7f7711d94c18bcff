"""What a worker of pytest-xdist tells the process that hands tests out: as little as that prints."""

import pytest
from _pytest.runner import runtestprotocol


class WorkerReports:
    """One report of a test that passed, not three: of its fixtures only what failed or was skipped.

    A report costs both processes half a millisecond, which is more than most tests take.
    """

    @pytest.hookimpl
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """As pytest runs a test that is tried again: first all of it, then what there is to say."""
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed:
                report.keywords = {}  # which nothing asks for any more
                item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


def tell_little(config: pytest.Config) -> None:
    """Workers tell little, unless a list of durations or a file of results needs the fixtures as well."""
    all_needed = config.getoption("durations") is not None or config.getoption("xmlpath", None)
    if hasattr(config, "workerinput") and not all_needed:
        config.pluginmanager.register(WorkerReports())
