"""A real Prometheus that reads what the ServiceMonitors of a cluster select, and evaluates its PrometheusRules.

The objects are made into a configuration as the Prometheus operator makes it of them (``promcfg.go`` there): a job for
each endpoint, Kubernetes' own discovery, and rules that keep targets by labels of the Service and the name of the port.
"""

import base64
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any, Final

import yaml

from tests.e2e.client.api import Object
from tests.e2e.controlplane.component import Component, Probe
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.operators.open_definition import open_definition
from tests.e2e.programs import binaries
from tests.e2e.programs.ports import free_ports

ACCOUNT: Final = "monitoring/prometheus"
"""The ServiceAccount that it has; the rights of its like are those of kube-prometheus."""

RIGHTS: Final[list[dict[str, list[str]]]] = [
    {"apiGroups": [""], "resources": ["services", "pods", "endpoints"], "verbs": ["get", "list", "watch"]},
    {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["get", "list", "watch"]},
    {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
]

_GROUP: Final = "/apis/monitoring.coreos.com/v1"
_SECONDS: Final = 10


def definitions() -> list[Object]:
    """The kinds of the operator."""
    return [open_definition("monitoring.coreos.com", kind, "v1") for kind in ("ServiceMonitor", "PrometheusRule")]


class Prometheus:
    """``folder`` is empty; the objects are read once, when it is made."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self._plane = plane
        self._folder = folder
        folder.mkdir(parents=True)
        (folder / "token").write_text(plane.identities[ACCOUNT].token)
        rules = plane.admin.get(f"{_GROUP}/prometheusrules")["items"]
        for at, one in enumerate(rules):
            (folder / f"rules-{at}.yaml").write_text(yaml.safe_dump(one["spec"]))
        monitors = plane.admin.get(f"{_GROUP}/servicemonitors")["items"]
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(folder / "rules-*.yaml")],
            "scrape_configs": [job for one in monitors for job in self._jobs(one)],
        }
        file = folder / "prometheus.json"
        file.write_text(json.dumps(config))
        (self._port,) = free_ports(1)
        command = [
            str(binaries.monitoring()["prometheus"]),
            f"--config.file={file}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{self._port}",
            "--log.level=warn",
        ]
        self.component = Component("prometheus", command, folder, Probe(self._port, "/-/ready", tls=False))

    def query(self, promql: str) -> list[Any]:
        """The vector or scalar of a query now; an error of Prometheus fails the test with its words."""
        found = self._get("query", query=promql)["result"]
        return found if isinstance(found, list) and found and isinstance(found[0], dict) else [found] if found else []

    def rules(self) -> list[Any]:
        """All rules, with how they are."""
        return [rule for group in self._get("rules")["groups"] for rule in group["rules"]]

    def targets(self) -> list[Any]:
        """What it reads, with how that goes."""
        found: list[Any] = self._get("targets")["activeTargets"]
        return found

    def _get(self, page: str, **query: str) -> Any:
        url = f"http://127.0.0.1:{self._port}/api/v1/{page}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=_SECONDS) as reply:
                return json.load(reply)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{query}: {error.read().decode()}") from error

    def _jobs(self, monitor: Object) -> list[Object]:
        """The jobs of one ServiceMonitor."""
        space = monitor["metadata"]["namespace"]
        labels = monitor["spec"]["selector"]["matchLabels"]
        return [
            {
                "job_name": f"{space}/{monitor['metadata']['name']}/{at}",
                "scheme": endpoint.get("scheme", "http"),
                "metrics_path": endpoint["path"],
                "kubernetes_sd_configs": [
                    {
                        "role": "endpointslice",
                        "kubeconfig_file": str(self._plane.kubeconfig(ACCOUNT)),
                        "namespaces": {"names": [space]},
                    }
                ],
                "relabel_configs": _relabelling(labels, endpoint["port"]),
                **self._access(endpoint, space),
            }
            for at, endpoint in enumerate(monitor["spec"]["endpoints"])
        ]

    def _access(self, endpoint: Object, space: str) -> Object:
        """TLS and the token, with files for what is in Secrets."""
        found: Object = {}
        if "tlsConfig" in endpoint:
            secret = endpoint["tlsConfig"]["ca"]["secret"]
            data = self._plane.admin.get(f"/api/v1/namespaces/{space}/secrets/{secret['name']}")["data"]
            authority = self._folder / f"{secret['name']}.ca.crt"
            authority.write_bytes(base64.b64decode(data[secret["key"]]))
            found["tls_config"] = {"ca_file": str(authority), "server_name": endpoint["tlsConfig"]["serverName"]}
        if "bearerTokenFile" in endpoint:
            found["authorization"] = {"credentials_file": str(self._folder / "token")}
        return found


def _relabelling(labels: dict[str, str], port: str) -> list[Object]:
    """Keep the port of Services with these labels, name targets, and reach pods where their processes listen."""
    keep = [(f"__meta_kubernetes_service_label_{re.sub('[^a-zA-Z0-9_]', '_', key)}", labels[key]) for key in labels]
    keep.append(("__meta_kubernetes_endpointslice_port_name", port))
    names = {"namespace": "namespace", "service": "service_name", "pod": "pod_name", "job": "service_name"}
    return [
        *({"source_labels": [label], "regex": re.escape(value), "action": "keep"} for label, value in keep),
        *({"source_labels": [f"__meta_kubernetes_{meta}"], "target_label": name} for name, meta in names.items()),
        {
            "source_labels": ["__address__"],
            "regex": r"10\.97\.(.+)",
            "target_label": "__address__",
            "replacement": "127.97.$1",
        },
    ]
