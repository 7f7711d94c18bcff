"""``hpa-api``: its flags, and what it refuses to start with."""

import asyncio
from pathlib import Path

import pytest

from webhook.app.hpa_api import Announce
from webhook.cli import main
from webhook.rest.rest_settings import RestSettings

pytestmark = pytest.mark.usefixtures("own_logs")


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[RestSettings]:
    """The settings that the composition root was given; it only announces and returns."""
    settings: list[RestSettings] = []

    async def serve(given: RestSettings, announce: Announce) -> None:
        await asyncio.sleep(0)
        settings.append(given)
        announce("http://127.0.0.1:8090")

    monkeypatch.setattr("webhook.app.hpa_api.serve_intents", serve)
    return settings


def test_one_line_tells_that_it_is_ready(seen: list[RestSettings], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hpa-api"]) == 0
    assert (capsys.readouterr().out, len(seen)) == ("ready http://127.0.0.1:8090\n", 1)
    assert (seen[0].port, seen[0].store, seen[0].namespace) == (8090, None, "default")


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        (["--port", "0"], "port", 0),
        (["--store", "x.sqlite"], "store", Path("x.sqlite")),
        (["--context", "kind"], "context", "kind"),
        (["--namespace", "{project}"], "namespace", "{project}"),
        (["--authorize"], "authorize", True),
        (["--max-rate", "0"], "max_rate", 0),
        (["--host", "::1"], "host", "::1"),
    ],
)
def test_every_flag_is_a_setting(seen: list[RestSettings], words: list[str], field: str, value: object) -> None:
    assert main(["hpa-api", *words]) == 0
    assert getattr(seen[0], field) == value


def test_a_variable_stands_for_a_flag(seen: list[RestSettings], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMS_PLACEMENT_PORT", "8099")
    assert main(["hpa-api"]) == 0
    assert seen[0].port == 8099


EVERYWHERE = "0.0.0.0 can be reached from other machines"
PAIR = ["--tls-cert", "a", "--tls-key", "b"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--store", "x", "--context", "y"], "--store and --context are both given: intents are stored in one of them"),
        (
            ["--store", "x", "--authorize"],
            "--authorize needs an API server, and --store works without one: use --token-file",
        ),
        (
            ["--token-file", "x", "--authorize"],
            "--token-file and --authorize are both given: tokens are those of the file, or of the cluster",
        ),
        (["--tls-cert", "x"], "--tls-cert and --tls-key belong together: give both or neither"),
        (
            ["--client-ca", "x"],
            "--client-ca asks clients for certificates, which requires TLS: add --tls-cert and --tls-key",
        ),
        (
            ["--host", "0.0.0.0", "--store", "x"],  # noqa: S104 -- refused
            f"{EVERYWHERE}, so --tls-cert and --tls-key are needed; without them, --host is 127.0.0.1",
        ),
        (
            ["--host", "0.0.0.0", "--store", "x", *PAIR],  # noqa: S104 -- refused
            f"{EVERYWHERE}, so --token-file is needed; without it, --host is 127.0.0.1",
        ),
        (
            ["--namespace", "Edge"],
            "--namespace is \"Edge\", but it must be a namespace (a-z, 0-9 and '-'), which may have {project} in it",
        ),
        (["--port", "70000"], '--port is "70000", but it should be less than or equal to 65535'),
    ],
)
def test_wrong_use_is_said_in_one_sentence(
    seen: list[RestSettings], words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["hpa-api", *words]) == 2
    assert capsys.readouterr().err == f"streams-placement: {sentence}\n"
    assert seen == []


def test_beyond_loopback_with_tls_the_cluster_knows_its_users(seen: list[RestSettings]) -> None:
    assert main(["hpa-api", "--host", "0.0.0.0", *PAIR]) == 0  # noqa: S104 -- nothing is bound
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--tls-cert", "tls", "--tls-key", "tls"], "cannot serve TLS with tls, tls: "),
        (["--token-file", "tls"], "the tokens cannot be read: token 1 of tls is not 16 or more"),
        (
            ["--token-file", "nowhere"],
            "the tokens cannot be read: [Errno 2] No such file or directory: 'nowhere'",
        ),
    ],
    ids=["certificate", "token", "no file"],
)
def test_files_that_cannot_be_used_end_the_start(
    flags: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tls").write_text("no certificate")
    assert main(["hpa-api", "--store", "intents.sqlite", "--port", "0", *flags]) == 3
    said = capsys.readouterr()
    last = said.err.splitlines()[-1]
    assert (said.out, last.startswith(f"streams-placement: {sentence}")) == ("", True), last
