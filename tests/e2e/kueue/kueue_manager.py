"""Kueue, as its project has it: its definitions, its rights, its webhooks and its program."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import yaml

from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.component import Component
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.operators.controller_runtime import configured, webhook_configurations
from tests.e2e.operators.manifests import defined, granted
from tests.e2e.workloads import namespace

SPACE: Final = "kueue-system"
ACCOUNT: Final = f"{SPACE}/kueue-controller-manager"
"""The ServiceAccount that the project's manifests have."""

KUEUE: Final = "/apis/kueue.x-k8s.io/v1beta2"

_VERSION: Final = KUEUE.rpartition("/")[2]

_CONVERTED: Final = ("clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads")
"""Resources that the project's kustomization has converted by a webhook. No test asks for another version."""

_HOOKS: Final = ("jobs", "workloads", "workloads/status", "clusterqueues", "localqueues", "resourceflavors")
"""Resources whose webhooks are made: those of what the tests create, and of what the product writes."""


@contextlib.contextmanager
def running(plane: ControlPlane, files: Mapping[str, Path], folder: Path) -> Iterator[Component]:
    """It queues batch Jobs, and the API server calls its webhooks."""
    folder.mkdir()
    _prepare(plane, files, folder)
    own = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "integrations": {"frameworks": ["batch/job"]},
        "featureGates": {"VisibilityOnDemand": False},
    }
    with configured(plane, files["kueue"], ACCOUNT, folder, own, _webhooks(files["manifests.yaml"])) as manager:
        yield manager


def _prepare(plane: ControlPlane, files: Mapping[str, Path], folder: Path) -> None:
    """Its kinds and its rights; and what it makes certificates for, which are not used: a Secret is no file here."""
    admin = plane.admin
    if admin.find(f"/api/v1/namespaces/{SPACE}") is None:
        namespace(admin, SPACE)
    granted(admin, ACCOUNT, files["role.yaml"])
    _granted_certificates(admin)
    admin.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": _SECRET, "namespace": SPACE}})
    for kind in ("Mutating", "Validating"):
        admin.create(
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": f"{kind}WebhookConfiguration",
                "metadata": {"name": f"kueue-{kind.lower()}-webhook-configuration"},
                "webhooks": [],
            }
        )
    for name, file in files.items():
        if name.startswith("kueue.x-k8s.io_"):
            resource = file.stem.removeprefix("kueue.x-k8s.io_")
            definition = yaml.safe_load(file.read_text())
            for version in definition["spec"]["versions"]:  # nothing converts objects to another one
                version["served"] = version["name"] == _VERSION
            if resource in _CONVERTED:
                service = {"namespace": SPACE, "name": "kueue-webhook-service", "path": "/convert"}
                client = {"clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]}
                definition["spec"]["conversion"] = {"strategy": "Webhook", "webhook": client}
            written = folder / file.name
            written.write_text(json.dumps(definition))
            defined(plane, written, f"{KUEUE}/{resource}")


_SECRET: Final = "kueue-webhook-server-cert"


def _granted_certificates(admin: Api) -> None:
    """What the project's kustomization adds to its role."""
    verbs = ["get", "list", "watch", "update", "create", "patch"]
    rules = [
        {"apiGroups": [""], "resources": ["secrets"], "verbs": verbs},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": verbs},
        {"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": verbs},
        {
            "apiGroups": ["admissionregistration.k8s.io"],
            "resources": ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
            "verbs": verbs,
        },
    ]
    group, name = "rbac.authorization.k8s.io", "kueue-certificates"
    space, account = ACCOUNT.split("/")
    role = {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules}
    admin.create(role)
    admin.create(
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "namespace": space, "name": account}],
        }
    )


def _webhooks(file: Path) -> Iterator[Object]:
    """The project's webhooks of the kinds that the tests have."""
    for one in webhook_configurations(file):
        kept = [webhook for webhook in one["webhooks"] if set(webhook["rules"][0]["resources"]) & {*_HOOKS}]
        yield {**one, "webhooks": kept}
