"""Whether a plugin may ask its user, and who sees what it says, depends on the terminal."""

from pathlib import Path

import pytest

from kubeapi.client.credential_plugin import run_plugin
from kubeapi.client.kubeconfig_file import Plugin
from tests.kubeapi.client.test_kubeconfig import V1, answer, program


def asked(folder: Path, mode: str, *, terminal: bool, version: str = V1) -> bool:
    """Whether the plugin is told that it may ask."""
    info = "json.loads(os.environ['KUBERNETES_EXEC_INFO'])['spec']['interactive']"
    path = program(folder / "login", answer(version, token="t").replace("'t'", f"str({info})"))
    plugin = Plugin(command=str(path), api_version=version, interactive_mode=mode)  # type: ignore[arg-type]
    return run_plugin(plugin, None, isatty=lambda _: terminal).token == "True"


@pytest.mark.parametrize(
    ("mode", "terminal", "interactive"),
    [("Never", True, False), ("IfAvailable", True, True), ("IfAvailable", False, False), ("Always", True, True)],
)
def test_a_plugin_may_ask_at_a_terminal(tmp_path: Path, mode: str, *, terminal: bool, interactive: bool) -> None:
    assert asked(tmp_path, mode, terminal=terminal) is interactive


def test_a_plugin_that_must_ask_needs_a_terminal(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="login needs a terminal, and standard input is not one$"):
        asked(tmp_path, "Always", terminal=False)


def test_the_older_version_asks_if_it_can(tmp_path: Path) -> None:
    assert asked(tmp_path, "", terminal=True, version=f"{V1}beta1")


def test_what_a_plugin_says_at_a_terminal_is_seen_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = program(tmp_path / "login", "print('open the browser', file=sys.stderr)", "sys.exit(2)")
    plugin = Plugin(command=str(path), api_version=V1, interactive_mode="Never")
    with pytest.raises(ValueError, match="login failed with exit code 2$"):
        run_plugin(plugin, None, isatty=lambda _: True)
    assert capfd.readouterr().err == "open the browser\n"
