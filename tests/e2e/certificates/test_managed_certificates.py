"""Leaves and authorities are rotated under load: no new connection and no request of the API server fails."""

import base64
import contextlib
import http
import os
import ssl
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from certs.authority import create_authority
from certs.managed.certificate_secret import CertificateSecret
from certs.managed.secret import read_secret, written_secret
from certs.names import LOOPBACK, service_names
from tests.e2e.certificates.rotation_load import CONFIGURATION, SECRET, SPACE, Load, Mount, again_and_again, under_load
from tests.e2e.client.api import JSON_PATCH, Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.programs.ports import free_ports
from tests.e2e.programs.process import Process
from tests.e2e.progress import say
from tests.e2e.workloads import namespace, pod
from tests.suite.example_count import some_of

ACCOUNT: Final = "streams-system/streams-placement"
AUTHORITIES: Final = some_of(2, every_day=1)
LEAVES: Final = 5 * AUTHORITIES
"""How many are taken away; twice as many in ``make e2e-long``."""

BIN: Final = Path(sys.executable).parent


@pytest.fixture(scope="module")
def place(plane: ControlPlane) -> Iterator[Api]:
    """A namespace, a configuration that trusts nobody yet, and what the account may do."""
    admin = plane.admin
    namespace(admin, SPACE, managed="yes")
    subject = {"kind": "ServiceAccount", "namespace": "streams-system", "name": "streams-placement"}
    group, rbac = "rbac.authorization.k8s.io", "rbac.authorization.k8s.io/v1"
    roles: list[tuple[str, list[Object]]] = [
        (
            "Role",
            [
                {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]},
                {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["pair"], "verbs": ["get", "update"]},
                {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]},
                {
                    "apiGroups": ["coordination.k8s.io"],
                    "resources": ["leases"],
                    "resourceNames": ["pair"],
                    "verbs": ["get", "update"],
                },
            ],
        ),
        (
            "ClusterRole",
            [
                {
                    "apiGroups": ["admissionregistration.k8s.io"],
                    "resources": ["mutatingwebhookconfigurations"],
                    "resourceNames": ["managed"],
                    "verbs": ["get", "patch"],
                }
            ],
        ),
    ]
    for kind, rules in roles:
        meta = {"name": "managed-certificates", **({"namespace": SPACE} if kind == "Role" else {})}
        admin.create({"apiVersion": rbac, "kind": kind, "metadata": meta, "rules": rules})
        reference = {"apiGroup": group, "kind": kind, "name": meta["name"]}
        binding = {"apiVersion": rbac, "kind": f"{kind}Binding", "metadata": meta, "subjects": [subject]}
        admin.create({**binding, "roleRef": reference})
    yield admin
    admin.delete(CONFIGURATION)
    admin.delete(f"/apis/{rbac}/clusterrolebindings/managed-certificates")
    admin.delete(f"/apis/{rbac}/clusterroles/managed-certificates")
    admin.delete(f"/api/v1/namespaces/{SPACE}")


def configuration(port: int) -> Object:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    webhook = {
        "name": "managed.streams.ibm.com",
        "clientConfig": {"url": f"https://127.0.0.1:{port}/mutate"},
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": SPACE}},
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 5,
    }
    meta = {"name": "managed"}
    api = "admissionregistration.k8s.io/v1"
    return {"apiVersion": api, "kind": "MutatingWebhookConfiguration", "metadata": meta, "webhooks": [webhook]}


@pytest.fixture(scope="module")
def mount(plane: ControlPlane, place: Api, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mount]:
    """The manager and the server at work, from the first pod that was admitted on."""
    folder = tmp_path_factory.mktemp("managed")
    port, health = free_ports(2)
    place.create(configuration(port))
    mount = Mount(place, folder / "mount", port)
    files = mount.folder / "..data"
    manage = [str(BIN / "streams-placement-certs"), "manage", "--namespace", SPACE, "--service", "web"]
    manage += ["--secret", "pair", "--mutating", "managed", "--loopback", "--lease-seconds", "3"]
    manage += ["--interval", "0.3", "--propagation", "1", "--adoption", "3"]
    manage += ["--kubeconfig", str(plane.kubeconfig(ACCOUNT))]
    serve = [str(BIN / "streams-placement"), "serve", "--snapshot", "examples/cluster", "--port", str(port)]
    serve += ["--health-port", str(health), "--tls-cert", f"{files}/tls.crt", "--tls-key", f"{files}/tls.key"]
    manager = Process("manage", manage, folder / "manage.log", dict(os.environ))
    server = Process("serve", serve, folder / "serve.log", dict(os.environ))
    pods = f"/api/v1/namespaces/{SPACE}/pods?dryRun=All"
    with contextlib.ExitStack() as ending:
        ending.callback(lambda: say(f"{manager.tail()}\n{server.tail()}"))
        ending.callback(manager.stop)
        ending.callback(server.stop)
        manager.start()
        ending.enter_context(again_and_again(mount.refresh, 0.2))
        until((files / "tls.crt").exists, "there is a leaf")
        server.start()
        until(lambda: place.send("POST", pods, pod("p", SPACE)).code == http.HTTPStatus.CREATED, "a pod is admitted")
        yield mount


@pytest.fixture
def load(mount: Mount, place: Api) -> Load:
    """Nothing counted yet."""
    return Load(mount, place)


def held(admin: Api) -> CertificateSecret:
    return read_secret(admin.get(SECRET))


def is_consistent(admin: Api) -> bool:
    own = held(admin)
    trusted = base64.b64decode(admin.get(CONFIGURATION)["webhooks"][0]["clientConfig"]["caBundle"])
    return own.issuer is not None and own.following is None and trusted == own.issuer.certificate_pem


def take_away(admin: Api, key: str) -> None:
    admin.patch(SECRET, [{"op": "remove", "path": f"/data/{key}"}], content=JSON_PATCH)


def shown(port: int) -> bytes:
    return ssl.get_server_certificate(("127.0.0.1", port), timeout=10).encode()


def test_rotations_under_load_lose_nothing(load: Load, mount: Mount, place: Api) -> None:
    leaves, authorities = {mount.certificate}, set(held(place).bundle)
    with under_load(load):
        for change in range(LEAVES + AUTHORITIES):
            key = "authority.key" if change % 6 == 5 else "tls.crt"
            before = mount.certificate
            take_away(place, key)
            until(lambda before=before: mount.certificate != before and is_consistent(place), "rotated")
            until(lambda: shown(mount.port).strip() == mount.certificate.strip(), "the server shows the new leaf")
            leaves.add(mount.certificate)
            authorities |= set(held(place).bundle)
    assert (len(leaves), len(authorities)) == (1 + LEAVES + AUTHORITIES, 1 + AUTHORITIES)
    assert set(load.outcomes) == {"ok"}
    assert set(load.admissions) == {"ok"}
    assert load.outcomes["ok"] >= 500 * AUTHORITIES


def test_without_overlap_connections_fail(load: Load, place: Api) -> None:
    """The control: the same load finds the window of a swap."""
    now = datetime.now(UTC)
    with under_load(load):
        time.sleep(1)
        authority = create_authority(now, timedelta(days=10))
        leaf = authority.issue(service_names("web", SPACE) + LOOPBACK, now, lifetime=timedelta(days=5))
        swapped = CertificateSecret((authority.certificate,), authority, None, leaf)
        place.call("PUT", SECRET, written_secret(place.get(SECRET), swapped, namespace=SPACE, name="pair"))
        time.sleep(3)
    assert load.outcomes["ok"] >= 100
    assert load.outcomes["CERTIFICATE_VERIFY_FAILED"] > 0
