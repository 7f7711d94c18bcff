"""The controller's account, with ClusterRole and admission policy of the chart, without the rest of the chart."""

from typing import Final

from tests.e2e.chart.rendering import NAMESPACE, RELEASE, of_kind, render
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.live.bare_plane import serve_hostpools
from tests.e2e.workloads import namespace

ACCOUNT: Final = f"{NAMESPACE}/{RELEASE}-controller"

LEASE: Final = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/{RELEASE}-controller"

_KINDS: Final = ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
_BOUNDS: Final = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")


def grant(plane: ControlPlane) -> None:
    """Give it these, and the API server HostPools."""
    serve_hostpools(plane)
    namespace(plane.admin, NAMESPACE)
    for one in of_kind(render(), *_KINDS, *_BOUNDS):
        if one["metadata"]["name"] == f"{RELEASE}-controller":
            plane.admin.create(one)


def vacate(plane: ControlPlane) -> None:
    """Delete the Lease of a controller that was killed, so that the next one need not wait until it runs out."""
    plane.admin.delete(LEASE)


def holder(plane: ControlPlane) -> str:
    """Who leads, as the Lease has it; nobody if it is empty or not there."""
    lease = plane.admin.find(LEASE)
    return str(lease["spec"].get("holderIdentity") or "") if lease else ""
