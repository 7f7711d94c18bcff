"""Every command meets an empty environment and a terminal that is wide enough."""

import logging
from collections.abc import Callable, Iterator

import pytest

from tests.golden.examples import EXAMPLES
from tests.suite.example_documents import example_documents_parsed_once
from webhook.cli import main
from webhook.setting_fields import declared, variable

Explain = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True, scope="session")
def _example_documents() -> Iterator[None]:
    with example_documents_parsed_once():
        yield


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for field in declared():
        monkeypatch.delenv(variable(field), raising=False)
    monkeypatch.setenv("COLUMNS", "500")
    monkeypatch.setattr("sys.argv", ["streams-placement"])


@pytest.fixture
def own_logs() -> Iterator[None]:
    """For commands that set up logging: the root logger is bare, and put back."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers.clear()
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def explain(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Explain:
    """``explain`` with these words, run in the repository: exit code, standard output, standard error."""
    monkeypatch.chdir(EXAMPLES.parent)

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["explain", *words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run
