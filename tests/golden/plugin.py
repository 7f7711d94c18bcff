"""A plugin of pytest that writes down what failing tests compared.

``pytest -p tests.golden.plugin --golden-file=FILE`` is how it is used. The file is JSON, a list of ``Failure``. Workers
of xdist send the comparisons with their reports.
"""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.golden.comparison import differing_texts

OPERATORS = {"==", "in"}


class Comparison(msgspec.Struct, frozen=True):
    """Two texts that a failing assertion compared: ``==`` the actual with the expected, ``in`` the wanted with all."""

    operator: str
    left: str
    right: str


class Failure(msgspec.Struct, frozen=True):
    """A test that failed: its id, the line of its file that failed (0 if elsewhere), the error, what was compared."""

    test: str
    line: int
    error: str
    comparisons: list[Comparison]
    lines: dict[str, int] = {}
    """The last failing line in each file that the error passed, relative to the root."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where to write."""
    parser.addoption("--golden-file", type=Path, required=True)


def pytest_configure(config: pytest.Config) -> None:
    """One recorder for a process."""
    config.pluginmanager.register(Recorder(config), "golden-recorder")


class Recorder:
    """Collects comparisons where tests run, and failures where reports arrive."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._compared: list[Comparison] = []
        self._failures: list[Failure] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """A new test."""
        self._compared = []

    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> None:
        """Every comparison that made an assertion fail; the explanation stays that of pytest."""
        if op in OPERATORS:
            pairs = differing_texts(left, right) if op == "==" else [(left, right)]
            self._compared += [Comparison(op, *pair) for pair in pairs if all(map(_is_sendable, pair))]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Send along what is known about a failure."""
        report = yield
        if report.failed and call.excinfo is not None:
            root = self._config.rootpath
            passed = [(str(entry.path), entry.lineno + 1) for entry in call.excinfo.traceback]
            lines = {str(Path(path).relative_to(root)): line for path, line in passed if path.startswith(f"{root}/")}
            error = call.excinfo.exconly().partition("\n")[0]
            here = lines.get(item.nodeid.partition("::")[0], 0)
            report.golden = msgspec.to_builtins(Failure(item.nodeid, here, _escaped(error), self._compared, lines))
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        """In the process that the reports of all workers reach."""
        if found := getattr(report, "golden", None):
            self._failures.append(msgspec.convert(found, Failure))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file whose tests cannot be collected."""
        if report.failed and not hasattr(self._config, "workerinput"):
            error = str(report.longrepr).strip().rpartition("\n")[2]
            self._failures.append(Failure(report.nodeid, 0, _escaped(error), []))

    def pytest_sessionfinish(self) -> None:
        """Write all, in the order of the tests' ids."""
        if not hasattr(self._config, "workerinput"):
            failures = sorted(self._failures, key=lambda failure: failure.test)
            self._config.getoption("--golden-file").write_bytes(msgspec.json.encode(failures))


def _is_sendable(text: object) -> bool:
    """Whether a value is a text that UTF-8 can carry."""
    return isinstance(text, str) and text == _escaped(text)


def _escaped(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()
