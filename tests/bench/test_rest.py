"""The benchmark of the REST interface measures what it says, and notices when the server refuses."""

from pathlib import Path

import pytest

from bench import rest
from bench.servers import processes
from bench.trouble import Trouble

pytestmark = pytest.mark.integration


def test_a_short_run_makes_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rest, "INTENTS", 150)
    page = tmp_path / "page.md"
    assert rest.main(["--seconds", "1", "--folder", str(tmp_path), "--results", str(page)]) == 0
    text = page.read_text()
    assert [line.count(" | ") for line in text.splitlines() if line.startswith("| ")] == [7] * 5
    assert "| reads of one intent | 16 | " in text
    assert "The whole list: " in capsys.readouterr().out


def test_a_refused_request_ends_it(tmp_path: Path) -> None:
    with processes.rest(tmp_path) as server, pytest.raises(Trouble, match="a request was refused: .*404 Not Found"):
        rest._load(  # noqa: SLF001 -- one row of the benchmark
            server,
            lambda: rest._text(server, "GET /nowhere HTTP/1.1", b""),  # noqa: SLF001 -- the same
            seconds=1,
            connections=1,
            expected=b"HTTP/1.1 200",
        )
