"""The chart by default values: it manages its certificates itself, before and after an upgrade."""

import base64
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.chart.installation import QUICK, install, kubelet
from tests.e2e.chart.placement_pods import asking, ready_pods
from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.polling import until

CONFIGURATIONS: Final = tuple(
    f"/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations/zz-{RELEASE}"
    for kind in ("mutating", "validating")
)
SECRET: Final = f"/api/v1/namespaces/{NAMESPACE}/secrets/{RELEASE}-tls"
PODS: Final = "/api/v1/namespaces/default/pods?dryRun=All"


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """Another one: two installations in one cluster would see each other."""
    with ControlPlane(tmp_path_factory.mktemp("managed")) as running:
        create_nodes(running.admin, [node("node-1")])
        yield running


@pytest.fixture(scope="module")
def managed(plane: ControlPlane) -> Iterator[Kubelet]:
    """The chart as it is by default, but for pods that end at once."""
    with kubelet(plane) as running:
        install(plane, running, QUICK)
        until(lambda: plane.admin.send("POST", PODS, asking("p", "default")).code == 201, "reviews are answered")
        yield running


def bundles(admin: Api) -> set[str]:
    """What the API server trusts, in all entries of both configurations."""
    hooks = [hook for path in CONFIGURATIONS for hook in admin.get(path)["webhooks"]]
    return {hook["clientConfig"].get("caBundle", "") for hook in hooks}


def secret(admin: Api) -> Object:
    found: dict[str, Any] = admin.get(SECRET)["data"]
    return found


@pytest.mark.usefixtures("managed")
def test_every_entry_trusts_the_authority_of_the_secret(admin: Api) -> None:
    assert bundles(admin) == {secret(admin)["ca.crt"]}
    assert base64.b64decode(secret(admin)["ca.crt"]).startswith(b"-----BEGIN CERTIFICATE-----")


def test_an_upgrade_changes_no_certificate_and_keeps_what_is_trusted(
    admin: Api, plane: ControlPlane, managed: Kubelet
) -> None:
    before = (bundles(admin), secret(admin))
    values: dict[str, Any] = {"settings": {**QUICK["settings"], "logLevel": "debug"}, "webhook": {"timeoutSeconds": 2}}
    install(plane, managed, values)
    assert admin.get(CONFIGURATIONS[0])["webhooks"][0]["timeoutSeconds"] == 2
    assert (bundles(admin), secret(admin)) == before
    assert len(ready_pods(admin)) == 2
    assert admin.send("POST", PODS, asking("p", "default")).code == 201
