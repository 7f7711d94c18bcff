"""``version``: one line, at once."""

import subprocess
import sys
from importlib import metadata

import pytest

from webhook.cli import main


def test_it_prints_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version"]) == 0
    assert capsys.readouterr().out == f"streams-placement {metadata.version('streams-placement')}\n"


def test_the_flag_of_every_program_prints_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"streams-placement {metadata.version('streams-placement')}\n"


def test_it_takes_no_flags(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version", "--port", "1"]) == 2
    assert "unrecognized arguments: --port 1" in capsys.readouterr().err


@pytest.mark.integration
@pytest.mark.untraced
def test_a_snapshot_is_explained_without_the_http_client() -> None:
    words = ["explain", "-f", "examples/pool-tagged.yaml", "--snapshot", "examples/cluster"]
    code = f"import sys; from webhook.cli import main; main({words}); print('aiohttp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=30)  # noqa: S603 -- ourselves
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.integration
@pytest.mark.untraced
def test_it_waits_for_no_library() -> None:
    slow = "{'pydantic', 'aiohttp', 'numpy', 'cryptography', 'prometheus_client', 'yaml', 'rich'}"
    code = f"import sys; from webhook.cli import main; main(['version']); print(sorted({slow} & set(sys.modules)))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=30)  # noqa: S603 -- ourselves
    assert done.stdout.splitlines()[-1] == "[]"
