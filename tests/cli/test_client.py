"""The client that the tour talks with."""

import http.server
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from certs.cli import main as certificates
from webhook.cli.client import Client, admission_review, is_workload

pytestmark = pytest.mark.integration


class Refusing(http.server.BaseHTTPRequestHandler):
    """Answers every review with a 503, as a server whose caches are not synced does."""

    def do_POST(self) -> None:
        body = b'{"kind":"Status","message":"the snapshot is not read yet"}'
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(503)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    assert certificates(["create", "--loopback", "--dir", str(tmp_path)]) == 0
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "tls.crt", tmp_path / "tls.key")
    with http.server.HTTPServer(("127.0.0.1", 0), Refusing) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"https://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_an_answer_that_is_not_a_review_is_trouble(url: str, tmp_path: Path) -> None:
    client = Client(url, tmp_path / "ca.crt")
    with pytest.raises(ConnectionError, match="^the server answered 503: the snapshot is not read yet$"):
        client.review_pod({"metadata": {"name": "p"}}, "default")
    client.close()


def test_a_review_is_written_as_the_api_server_does() -> None:
    written = admission_review({"metadata": {"name": "p"}}, "team")
    assert list(written) == ["kind", "apiVersion", "request"]
    assert written["request"]["namespace"] == "team"
    assert written["request"]["name"] == "p"


def test_a_review_says_of_what_kind_the_object_is() -> None:
    written = admission_review({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": None}, "team")["request"]
    assert (written["kind"], written["resource"]) == (
        {"group": "batch", "version": "v1", "kind": "CronJob"},
        {"group": "batch", "version": "v1", "resource": "cronjobs"},
    )


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"apiVersion": "apps/v1", "kind": "Deployment"}, True),
        ({"apiVersion": "batch/v1", "kind": "Job"}, True),
        ({"apiVersion": "streams.ibm.com/v1", "kind": "Job"}, True),
        ({"apiVersion": "v1", "kind": "Pod"}, False),
        ({}, False),
    ],
    ids=["a Deployment", "a Job", "a Streams job", "a pod", "nothing"],
)
def test_only_workloads_are_decided_about_as_a_whole(document: dict[str, str], *, expected: bool) -> None:
    assert is_workload(document) is expected
