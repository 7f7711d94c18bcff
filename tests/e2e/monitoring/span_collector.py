"""An OpenTelemetry collector: takes spans by gRPC from everybody, and by HTTPS from those who have its token."""

import json
import re
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from tests.e2e.polling import until
from tests.e2e.programs import binaries
from tests.e2e.programs.ports import free_ports
from tests.e2e.programs.process import Process
from tests.server.pki import Authority

TOKEN: Final = "spans-of-this-cluster"

_LOOPBACK: Final = "127.0.0.1"

_RESOURCE: Final = re.compile(r"^ResourceSpans #\d+$", re.MULTILINE)
_SPAN: Final = re.compile(r"^Span #\d+$", re.MULTILINE)
_FIELD: Final = re.compile(r"^ +(Trace ID|Parent ID|ID|Name) +: ?(.*)$", re.MULTILINE)
_ATTRIBUTE: Final = re.compile(r"^ +-> ([\w.]+): Str\((.*)\)$", re.MULTILINE)


class CollectedSpan(Struct, frozen=True):
    """A span as the collector got it; ``parent`` is empty if it has none, ``resource`` are texts about its process."""

    name: str
    trace: str
    id: str
    parent: str
    attributes: dict[str, str]
    resource: dict[str, str]


class SpanCollector:
    """One process; ``ca`` is the authority of its certificate, as PEM."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        authority = Authority()
        self.ca = authority.cert.decode()
        self._grpc, self._https = free_ports(2)
        cert, key = authority.issue("collector").write(folder)
        https = {
            "endpoint": f"{_LOOPBACK}:{self._https}",
            "tls": {"cert_file": str(cert), "key_file": str(key)},
            "auth": {"authenticator": "bearertokenauth"},
        }
        configuration: dict[str, Any] = {
            "extensions": {"bearertokenauth": {"token": TOKEN}},
            "receivers": {
                "otlp/open": {"protocols": {"grpc": {"endpoint": f"{_LOOPBACK}:{self._grpc}"}}},
                "otlp/closed": {"protocols": {"http": https}},
            },
            "exporters": {"debug": {"verbosity": "detailed", "use_internal_logger": False}},
            "service": {
                "extensions": ["bearertokenauth"],
                "telemetry": {"metrics": {"level": "none"}},
                "pipelines": {"traces": {"receivers": ["otlp/open", "otlp/closed"], "exporters": ["debug"]}},
            },
        }
        file = folder / "collector.yaml"
        file.write_text(json.dumps(configuration))
        command = [str(binaries.collector()), f"--config=file:{file}"]
        self.process = Process("collector", command, folder / "collector.log")

    @property
    def url(self) -> str:
        """Where a process sends spans by OTLP over HTTP."""
        return f"https://{_LOOPBACK}:{self._https}/v1/traces"

    def tracing(self, file: Path) -> Path:
        """Write a configuration of the API server that sends all of its traces here."""
        told = {
            "apiVersion": "apiserver.config.k8s.io/v1beta1",
            "kind": "TracingConfiguration",
            "endpoint": f"{_LOOPBACK}:{self._grpc}",
            "samplingRatePerMillion": 1_000_000,
        }
        file.write_text(json.dumps(told))
        return file

    def wait(self) -> None:
        """Wait until it takes spans."""
        until(self._ready, f"the collector is ready\n{self.process.tail()}", 60)

    def spans(self, name: str) -> list[CollectedSpan]:
        """All spans that have arrived, once there is one of that name."""
        text = self.process.log.read_text(errors="replace")
        if f" : {name}\n" not in text:  # the API server alone sends some hundred a second
            return []
        return [span for part in _RESOURCE.split(text)[1:] for span in _spans(part)]

    def _ready(self) -> bool:
        assert self.process.alive, self.process.tail()
        return "Everything is ready" in self.process.tail()


def _spans(part: str) -> list[CollectedSpan]:
    """The spans of one process, of what the collector printed about it."""
    head, *spans = _SPAN.split(part)
    resource = dict(_ATTRIBUTE.findall(head))
    return [_span(text, resource) for text in spans]


def _span(text: str, resource: dict[str, str]) -> CollectedSpan:
    fields = dict(_FIELD.findall(text))
    attributes = dict(_ATTRIBUTE.findall(text))
    return CollectedSpan(fields["Name"], fields["Trace ID"], fields["ID"], fields["Parent ID"], attributes, resource)
