"""How ``manage`` ends is its exit code."""

import json
from pathlib import Path

import pytest

from certs.cli import main
from certs.managed import command
from certs.managed.secret import ForeignError
from kubeapi.leaderelection.lease_hold import LostError
from tests.certs.samples import authority

NEEDED = ["manage", "--namespace", "ns", "--service", "web", "--secret", "pair"]


@pytest.mark.parametrize(
    ("ending", "code", "messages"),
    [
        pytest.param(None, 0, [], id="asked to stop"),
        pytest.param(ForeignError("not ours"), 1, ["not ours"], id="the Secret is somebody else's"),
        pytest.param(LostError("gone"), 3, ["gone"], id="the Lease is lost"),
    ],
)
def test_every_ending_has_its_exit_code(
    ending: Exception | None,
    code: int,
    messages: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def manage(*_: object) -> None:
        if ending:
            raise ending

    file = tmp_path / "kubeconfig"
    (tmp_path / "ca.crt").write_bytes(authority().certificate_pem)
    cluster = {"server": "https://127.0.0.1:1", "certificate-authority": str(tmp_path / "ca.crt")}
    config = {
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "c",
    }
    file.write_text(json.dumps(config))
    monkeypatch.setattr(command, "manage", manage)
    assert main([*NEEDED, "--kubeconfig", str(file)]) == code
    assert [json.loads(line)["message"] for line in capsys.readouterr().err.splitlines()] == messages
