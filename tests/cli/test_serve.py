"""``serve``: flags, certificates, the one line, and the whole program as a process."""

import asyncio
import json
import re
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from certs.cli import main as certificates
from tests.golden.examples import EXAMPLES
from webhook.cli import main
from webhook.server.http.listener import bind
from webhook.server.lifecycle import Announce
from webhook.setting_fields import declared
from webhook.settings import Settings

pytestmark = pytest.mark.usefixtures("own_logs")


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """The settings that the composition root was given; it only announces and returns."""
    settings: list[Settings] = []

    async def serve(given: Settings, announce: Announce) -> None:
        await asyncio.sleep(0)
        settings.append(given)
        announce("https://127.0.0.1:8443", "http://127.0.0.1:8081")

    monkeypatch.setattr("webhook.app.serve.serve", serve)
    return settings


PAIR = ["--tls-cert", "tls.crt", "--tls-key", "tls.key"]


def test_one_line_tells_that_it_is_ready(seen: list[Settings], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", *PAIR]) == 0
    assert (capsys.readouterr().out, len(seen)) == (
        "ready https://127.0.0.1:8443 health http://127.0.0.1:8081\n",
        1,
    )


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        (["--port", "0"], "port", 0),
        (["--host", "::1"], "host", "::1"),
        (["--snapshot", "examples/cluster"], "snapshot", Path("examples/cluster")),
        (["--no-verify-pods"], "verify_pods", False),
        (["--elastic"], "elastic", True),
        (["--mode", "audit"], "mode", "audit"),
        (["--drain", "0.5"], "drain", 0.5),
        ([], "drain", 5.0),
    ],
)
def test_a_flag_is_a_setting(seen: list[Settings], words: list[str], field: str, value: object) -> None:
    assert main(["serve", *PAIR, *words]) == 0
    assert getattr(seen[0], field) == value


def test_variables_are_settings_too(seen: list[Settings], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMS_PLACEMENT_TLS_CERT", "a.crt")
    monkeypatch.setenv("STREAMS_PLACEMENT_TLS_KEY", "a.key")
    assert main(["serve"]) == 0
    assert seen[0].tls_cert == Path("a.crt")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        pytest.param(
            [],
            "serving needs a certificate: give --tls-cert and --tls-key, or --tls-self-signed to try things out",
            id="no certificate",
        ),
        pytest.param(
            ["--tls-cert", "x"],
            "serving needs a certificate: give --tls-cert and --tls-key, or --tls-self-signed to try things out",
            id="no key",
        ),
        pytest.param([*PAIR, "--port", "x"], '--port is "x", but it should be a valid integer', id="no number"),
    ],
)
def test_wrong_use_is_2_and_a_sentence(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", *words]) == 2
    assert capsys.readouterr().err == f"streams-placement: {sentence}\n"


SAME = "give two different numbers, or 0 for free ones"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], f"--port and --health-port are both 9443 on 127.0.0.1: {SAME}"),
        (["--host", "::"], f"--port and --health-port are both 9443 on 127.0.0.1 and ::: {SAME}"),
    ],
    ids=["the same address", "one of them everywhere"],
)
def test_one_port_for_two_things_is_wrong_use(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *PAIR, "--port", "9443", "--health-port", "9443", *words]) == 2
    assert capsys.readouterr().err == f"streams-placement: {sentence}\n"


@pytest.mark.parametrize("words", [["--port", "0", "--health-port", "0"], ["--port", "8081", "--health-host", "::1"]])
def test_free_ports_and_those_of_two_addresses_are_two(seen: list[Settings], words: list[str]) -> None:
    assert (main(["serve", *PAIR, *words]), len(seen)) == (0, 1)


@pytest.mark.parametrize("words", [["--mode", "off"], ["--prot", "1"], ["--verify", "yes"], ["file"]], ids=" ".join)
def test_a_wrong_flag_is_2(words: list[str]) -> None:
    assert main(["serve", *PAIR, *words]) == 2


def test_help_shows_flag_and_variable(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--help"]) == 0
    shown = capsys.readouterr().out
    for field in declared():
        _, *after = re.split(rf"\n  --{field.replace('_', '-')}(?=[ ,\n])", shown)
        assert after, field
        assert f"[STREAMS_PLACEMENT_{field.upper()}, default: " in after[0].partition("]")[0], field


@pytest.mark.parametrize(
    ("variable", "default"),
    [("PORT", "8443"), ("TLS_CERT", "none"), ("VERIFY_PODS", "yes"), ("ELASTIC", "no"), ("TLS_DIR", ".certs")],
)
def test_help_shows_defaults(variable: str, default: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--help"]) == 0
    assert f"[STREAMS_PLACEMENT_{variable}, default: {default}]" in capsys.readouterr().out


@pytest.mark.parametrize(
    "usage", ["--context NAME", "--snapshot PATH", "--port NUMBER", "--drain SECONDS", "--host TEXT"]
)
def test_help_shows_what_is_wanted(usage: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--help"]) == 0
    assert usage in capsys.readouterr().out


def test_a_certificate_can_be_made(seen: list[Settings], tmp_path: Path) -> None:
    assert main(["serve", "--tls-self-signed", "--tls-dir", str(tmp_path)]) == 0
    assert (seen[0].tls_cert, seen[0].tls_key) == (tmp_path / "tls.crt", tmp_path / "tls.key")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "tls.crt", tmp_path / "tls.key")


def test_a_folder_for_it_that_is_a_file_is_trouble(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["serve", "--tls-self-signed", "--tls-dir", str(tmp_path / "file")]) == 3
    assert capsys.readouterr().err.startswith("streams-placement: cannot make a certificate: ")


@pytest.fixture
def process(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """The program itself, on free ports, with the cluster of the examples."""
    flags = ["--port", "0", "--health-port", "0", "--drain", "0.5", "--log-level", "info"]
    certificate = ["--tls-self-signed", "--tls-dir", str(tmp_path)]
    command = [sys.executable, "-m", "webhook", "serve", *flags, *certificate, "--snapshot", str(EXAMPLES / "cluster")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as started:  # noqa: S603 -- ourselves
        yield started
        started.kill()


def ready(process: subprocess.Popen[str]) -> tuple[str, str]:
    """The URLs of the line that it prints."""
    assert process.stdout is not None
    word, reviews, also, health = process.stdout.readline().split()
    assert (word, also) == ("ready", "health")
    return reviews, health


def status(url: str, context: ssl.SSLContext | None = None, data: bytes | None = None) -> int:
    """The HTTP status of a page."""
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})  # noqa: S310 -- URLs of our own
    try:
        with urllib.request.urlopen(request, timeout=10, context=context) as reply:  # noqa: S310 -- the same
            return int(reply.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.mark.integration
class TestTheProcess:
    """What the kubelet and the API server see of it."""

    def test_answers_and_ends_with_0_after_draining(self, process: subprocess.Popen[str], tmp_path: Path) -> None:
        reviews, health = ready(process)
        trusting = ssl.create_default_context(cafile=str(tmp_path / "ca.crt"))
        before = (status(f"{reviews}/mutate", trusting, b"{}"), status(f"{health}/readyz"))
        process.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        draining = (status(f"{reviews}/mutate", trusting, b"{}"), status(f"{health}/readyz"))
        out, err = process.communicate(timeout=10)
        assert (before, draining, process.returncode, out) == ((400, 200), (400, 503), 0, "")
        assert [json.loads(line)["message"] for line in err.splitlines()][-1] == "stopped"

    def test_ends_with_0_after_two_signals_as_well(self, process: subprocess.Popen[str]) -> None:
        ready(process)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)
        assert process.wait(5) == 0

    def test_outlives_its_terminal_if_it_was_told_to(self, tmp_path: Path) -> None:
        flags = ["--port", "0", "--health-port", "0", "--drain", "0", "--snapshot", str(EXAMPLES / "cluster")]
        serve = [sys.executable, "-m", "webhook", "serve", *flags, "--tls-self-signed", "--tls-dir", str(tmp_path)]
        pipe = subprocess.PIPE
        with subprocess.Popen(["nohup", *serve], stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:  # noqa: S603, S607 -- ourselves
            _, health = ready(process)
            process.send_signal(signal.SIGHUP)
            time.sleep(0.2)
            assert status(f"{health}/readyz") == 200
            process.terminate()
            assert process.wait(10) == 0

    def test_says_that_its_port_is_taken(self, process: subprocess.Popen[str], tmp_path: Path) -> None:
        reviews, _ = ready(process)
        port = reviews.rpartition(":")[2]
        flags = ["--port", port, "--health-port", "0", "--snapshot", str(EXAMPLES / "cluster")]
        pair = ["--tls-cert", str(tmp_path / "tls.crt"), "--tls-key", str(tmp_path / "tls.key")]
        command = [sys.executable, "-m", "webhook", "serve", *flags, *pair]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 -- ourselves
        sentence = f"streams-placement: cannot listen on 127.0.0.1 port {port}: Address already in use"
        assert (done.returncode, done.stdout, done.stderr.splitlines()[-1]) == (3, "", sentence)

    def test_waits_for_a_certificate_that_is_not_there_yet(self, tmp_path: Path) -> None:
        """A Secret that somebody has emptied: unready and alive, said once, and ready as soon as the pair is back."""
        folder, port = tmp_path / "tls", free_port()
        folder.mkdir()
        make_pair(tmp_path)
        (folder / "tls.key").write_bytes((tmp_path / "tls.key").read_bytes())
        pair = ["--tls-cert", str(folder / "tls.crt"), "--tls-key", str(folder / "tls.key")]
        flags = ["--port", "0", "--health-port", str(port), "--drain", "0", "--snapshot", str(EXAMPLES / "cluster")]
        command = [sys.executable, "-m", "webhook", "serve", *flags, *pair]
        pipe, health = subprocess.PIPE, f"http://127.0.0.1:{port}"
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:  # noqa: S603 -- ourselves
            assert until_answered(f"{health}/readyz") == 503
            time.sleep(2.5)
            assert (status(f"{health}/healthz"), status(f"{health}/readyz"), process.poll()) == (200, 503, None)
            (folder / "tls.crt").write_bytes((tmp_path / "tls.crt").read_bytes())
            reviews, _ = ready(process)
            trusting = ssl.create_default_context(cafile=str(tmp_path / "ca.crt"))
            assert status(f"{health}/readyz") == 200
            (folder / "tls.crt").unlink()
            time.sleep(1.5)
            assert (status(f"{reviews}/mutate", trusting, b"{}"), status(f"{health}/readyz")) == (400, 200)
            process.terminate()
            _, err = process.communicate(timeout=20)
        said = [json.loads(line) for line in err.splitlines()]
        warned = [line["message"] for line in said if line["logger"] == "webhook.server.certificate"]
        where = f"{folder / 'tls.crt'}, {folder / 'tls.key'}"
        missing = f"{folder / 'tls.crt'}: No such file or directory"
        said_new = next(message for message in warned if message.startswith("serving a new certificate, "))
        assert (process.returncode, warned) == (
            0,
            [
                f"cannot serve TLS with {where}: {missing}; unready until it can be used",
                said_new,
                f"{where} changed and cannot be used, so the last good pair keeps serving: {missing}",
            ],
        )


def make_pair(folder: Path) -> None:
    """A certificate for loopback."""
    assert certificates(["create", "--loopback", "--dir", str(folder)]) == 0


def free_port() -> int:
    with bind("127.0.0.1", 0) as found:
        port: int = found.getsockname()[1]
        return port


def until_answered(url: str) -> int:
    """The status of the page, once somebody answers."""
    for _ in range(300):
        try:
            return status(url)
        except urllib.error.URLError:
            time.sleep(0.1)
    raise AssertionError(url)
