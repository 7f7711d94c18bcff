"""``hpa-api`` as a process: what it prints, how it stops, and that nothing acknowledged is lost when it is killed."""

import contextlib
import json
import re
import signal
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.rest.rest_process import rest_process
from tests.rest.rest_server import INTENTS, intent
from tests.suite.untraced import untraced_processes

pytestmark = pytest.mark.integration

WRITES = 1000
WRITERS = 8


def connection(url: str) -> HTTPConnection:
    host, _, port = url.rpartition("/")[2].partition(":")
    return HTTPConnection(host, int(port), timeout=20)


def acknowledged(url: str, writer: int, stop: list[bool]) -> Iterator[str]:
    """Names of intents whose creation was acknowledged, until the server is gone."""
    client = connection(url)
    try:
        for number in range(WRITES):
            if stop:
                return
            name = f"i-{writer}-{number}"
            client.request("POST", INTENTS, json.dumps(intent(name)), {"Content-Type": "application/json"})
            reply = client.getresponse()
            reply.read()
            assert reply.status == 201
            yield name
    except OSError:
        return
    finally:
        client.close()


def listed(url: str) -> list[str]:
    with urllib.request.urlopen(url + INTENTS, timeout=20) as reply:  # noqa: S310 -- a URL of our own
        return [each["metadata"]["name"] for each in json.load(reply)]


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    """Killed in the midst of 1,000 writes, three times; the next process has all that clients were told of.

    A process that is killed does not write down what it ran, so tracing it would be of no use.
    """
    told: set[str] = set()
    for life in range(3):
        with untraced_processes(), rest_process(tmp_path, "--store", "intents.sqlite") as (url, process):
            assert told <= set(listed(url))

            def write(writer: int, url: str = url, process: "subprocess.Popen[str]" = process) -> list[str]:
                names = []
                for name in acknowledged(url, writer, []):
                    names.append(name)
                    if writer % WRITERS == 0 and len(names) == WRITES // WRITERS // 3:
                        process.send_signal(signal.SIGKILL)
                return names

            with ThreadPoolExecutor(WRITERS) as pool:
                found = list(pool.map(write, range(life * WRITERS, (life + 1) * WRITERS)))
            told |= {name for names in found for name in names}
            assert process.wait(20) == -signal.SIGKILL
    assert len(told) >= WRITES // WRITERS
    with rest_process(tmp_path, "--store", "intents.sqlite") as (url, _):
        assert told <= set(listed(url))
    print(f"{len(told)} of {len(told)} acknowledged writes are there after three kills")  # noqa: T201 -- for docs/reliability.md


def test_two_processes_share_one_file(tmp_path: Path) -> None:
    """Requests of other tests count as coverage, so neither process is traced."""
    with (
        untraced_processes(),
        rest_process(tmp_path, "--store", "intents.sqlite") as (one, _),
        rest_process(tmp_path, "--store", "intents.sqlite") as (two, _),
    ):
        stop: list[bool] = []

        def write(writer: int) -> list[str]:
            names = []
            for name in acknowledged((one, two)[writer % 2], writer, stop):
                names.append(name)
                if len(names) == 50:
                    break
            return names

        with ThreadPoolExecutor(4) as pool:
            told = {name for names in pool.map(write, range(4)) for name in names}
        assert len(told) == 200
        assert set(listed(one)) == set(listed(two)) == told


def test_on_a_full_disk_everything_can_be_deleted(tmp_path: Path) -> None:
    """A disk of 12 MiB of its own, of which the reserve has 8."""
    mounted = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f"mount -t tmpfs -o size=12m none {disk}"
    if subprocess.run([*mounted, mount], check=False, capture_output=True).returncode:  # noqa: S603 -- fixed words
        pytest.skip("this machine does not let us mount a disk")
    command = [*mounted, f'{mount} && exec "$0" "$@"']
    with (
        rest_process(tmp_path, "--store", str(disk / "i.sqlite"), before=command) as (url, process),
        contextlib.ExitStack() as stack,
    ):
        server = stack.enter_context(contextlib.closing(connection(url)))
        inside = Path(f"/proc/{process.pid}/root{disk}")
        for number in range(20):
            assert asked(server, "POST", INTENTS, intent(f"i{number}", app="x" * 200)) == 201
        with (inside / "other").open("wb", buffering=0) as other, contextlib.suppress(OSError):
            while True:
                other.write(bytes(4096))
        number = 20
        while (status := asked(server, "POST", INTENTS, intent(f"i{number}", app="x" * 200))) == 201:
            number += 1
        assert status == 507
        assert asked(server, "GET", "/readyz") == 503
        for name in listed(url):
            assert asked(server, "DELETE", f"{INTENTS}/{name}") == 204
        assert listed(url) == []
        (inside / "other").unlink()
        while asked(server, "GET", "/readyz") != 200:
            time.sleep(0.1)
        assert asked(server, "POST", INTENTS, intent("again")) == 201
    log = (tmp_path / "hpa-api.log").read_text()
    assert "Traceback" not in log
    assert str(disk) not in log
    assert log.count("the store is full: only reading and deleting work") == 1


def asked(server: HTTPConnection, method: str, path: str, body: object = None) -> int:
    """The status of an answer."""
    server.request(method, path, None if body is None else json.dumps(body))
    reply = server.getresponse()
    reply.read()
    return reply.status


def test_sigterm_drains(tmp_path: Path) -> None:
    """Unready at once, still answering, and then gone with exit code 0."""
    with rest_process(tmp_path, "--store", "intents.sqlite", "--drain", "30") as (url, process):
        client = connection(url)
        client.request("GET", "/readyz")
        assert client.getresponse().read() == b"ok\n"
        process.send_signal(signal.SIGTERM)
        answer = (200, "")
        for _ in range(200):
            client.request("GET", "/readyz")
            reply = client.getresponse()
            answer = (reply.status, reply.read().decode())
            if answer[0] != 200:
                break
        assert answer == (503, "the server is stopping\n")
        client.request("GET", INTENTS)
        assert client.getresponse().read() == b"[]"
        client.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


def test_over_tls_with_a_token(tmp_path: Path) -> None:
    command = (sys.executable, "-P", "-m", "certs", "create", "--loopback", "--dir", str(tmp_path / "pki"))
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 -- our own program, no shell
    (tmp_path / "tokens").write_text("a-token-of-sixteen\n")
    pair = ("--tls-cert", "pki/tls.crt", "--tls-key", "pki/tls.key")
    everywhere = ("--host", "0.0.0.0", "--token-file", "tokens")  # noqa: S104 -- for the length of a test, with TLS and token
    with rest_process(tmp_path, "--store", "intents.sqlite", *everywhere, *pair) as (url, _):
        port = int(re.findall(r"^https://0\.0\.0\.0:(\d+)$", url)[0])
        trust = ssl.create_default_context(cafile=tmp_path / "pki" / "ca.crt")
        asked = urllib.request.Request(
            f"https://127.0.0.1:{port}{INTENTS}", headers={"Authorization": "Bearer a-token-of-sixteen"}
        )
        with urllib.request.urlopen(asked, timeout=20, context=trust) as reply:  # noqa: S310 -- a URL of our own
            assert json.load(reply) == []
    log = (tmp_path / "hpa-api.log").read_text()
    assert "a-token-of" not in log


def test_a_taken_port(tmp_path: Path) -> None:
    """What else it cannot start with is told in one process, in tests of the command."""
    with rest_process(tmp_path, "--store", "intents.sqlite") as (url, _):
        port = url.rpartition(":")[2]
        command = (sys.executable, "-m", "webhook", "hpa-api", "--store", "intents.sqlite", "--port", port)
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 -- our own program, no shell
    said = f"cannot listen on 127.0.0.1 port {port}: Address already in use"
    assert (done.returncode, said in done.stderr) == (3, True), done.stderr
