"""A control plane of etcd and API server alone, without anything that changes nodes or pods."""

import http

from tests.e2e.chart.rendering import CHART
from tests.e2e.client.api import Api
from tests.e2e.controlplane.component import Component
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until

HOSTPOOLS = "/apis/streams.ibm.com/v1/streamshostpools"

ACCOUNT = "streams-system/streams-placement"
"""The ServiceAccount that our server asks with."""

_RBAC = "rbac.authorization.k8s.io"
_READS = (
    ("", ["nodes", "pods", "namespaces", "limitranges"]),
    (
        "resource.k8s.io",
        ["deviceclasses", "resourceslices", "resourceclaims", "resourceclaimtemplates", "devicetaintrules"],
    ),
    ("topology.node.k8s.io", ["noderesourcetopologies"]),
    ("node.k8s.io", ["runtimeclasses"]),
    ("scheduling.k8s.io", ["priorityclasses"]),
    ("streams.ibm.com", ["streamshostpools", "streamsjobs", "streamshpaintents"]),
)


class BarePlane(ControlPlane):
    """A control plane without followers; nodes are untainted from the start, as nobody would untaint them."""

    def _prepare(self) -> None:
        super()._prepare()
        self.apiserver.process.command.append("--disable-admission-plugins=ServiceAccount,TaintNodesByCondition")

    @property
    def _components(self) -> tuple[Component, ...]:
        return super()._components[:2]


def allow_reading(admin: Api) -> None:
    """Give our account the rights that ``docs/operations.md`` names."""
    namespace, name = ACCOUNT.split("/")
    rules = [{"apiGroups": [group], "resources": kinds, "verbs": ["get", "list", "watch"]} for group, kinds in _READS]
    meta = {"name": "reads-the-cluster"}
    admin.create({"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": meta, "rules": rules})
    role = {"apiGroup": _RBAC, "kind": "ClusterRole", **meta}
    subject = {"kind": "ServiceAccount", "namespace": namespace, "name": name}
    binding = {"kind": "ClusterRoleBinding", "metadata": meta, "roleRef": role, "subjects": [subject]}
    admin.create({"apiVersion": f"{_RBAC}/v1", **binding})


def serve_hostpools(plane: ControlPlane) -> None:
    """Install the definitions of the chart."""
    done = plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(CHART / "crds"))
    assert done.returncode == 0, done.stderr
    served(plane)


def served(plane: ControlPlane) -> None:
    """Wait until the API server has HostPools; it says that it starts over (429) for a while."""
    until(lambda: plane.admin.send("GET", HOSTPOOLS).code == http.HTTPStatus.OK, "HostPools are served", 60)
