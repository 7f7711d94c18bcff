"""A cluster with three nodes and a NodePool in which Jobs run; the cluster autoscaler is played by the tests."""

from typing import Any

from tests.controller.jobs.job_cluster import JobCluster, Json
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.placement.inventory.policy import Policy

GROUP = "/apis/autoscaling.x-k8s.io/v1"
REQUESTS = f"{GROUP}/provisioningrequests"
TEMPLATES = "/api/v1/podtemplates"
NODE_POOL = "/apis/karpenter.sh/v1/nodepools/fast"

APART = [{"operators": [{"name": name, "placement": 'hostExlocation("a")'}]} for name in "ABCD"]
"""Four elements for nodes of their own."""

MEMBER = {"streams.ibm.com/job": "app"}


def said(kind: str, status: str = "True", message: str = "", **fields: str) -> Json:
    return {"type": kind, "status": status, "reason": kind, "message": message, **fields}


class AskingCluster(JobCluster):
    """The pods of Jobs get no nodes before :meth:`bind`."""

    def __init__(self) -> None:
        super().__init__()
        self.rules = ReconcilerSettings(Policy(scale_up="auto"), provisioning_requests=True)
        self.binds = lambda _: ""
        self.kube.create(NODE_POOL, spec={"template": {"spec": {"requirements": []}}})

    def ask(self, name: str = "app", **spec: Any) -> Json:
        """A Job that needs a new node."""
        return self.job(name, **{"processingElements": APART, **spec})

    def bind(self) -> None:
        """Every pod gets a node."""
        self.binds = lambda _: "node-0"

    @property
    def requests(self) -> list[Json]:
        return self.kube.all(REQUESTS)

    @property
    def request(self) -> Json:
        (found,) = self.requests
        return found

    @property
    def templates(self) -> list[Json]:
        return self.kube.all(TEMPLATES)

    def path(self, found: Json) -> str:
        return f"{GROUP}/namespaces/{found['metadata']['namespace']}/provisioningrequests/{found['metadata']['name']}"

    def answer(self, *conditions: Json) -> None:
        """The cluster autoscaler answers."""
        self.kube.change(self.path(self.request), {"status": {"conditions": list(conditions)}})

    def capacity(self, name: str = "app") -> tuple[str, str, str]:
        return self.condition(self.found(name), "CapacityFound")

    def told(self, *reasons: str) -> list[tuple[str, str]]:
        """Events of these reasons."""
        return [one for one in self.said if one[0] in reasons]

    @property
    def asked(self) -> int:
        """How many requests were made."""
        return sum(path.endswith("/provisioningrequests") for path, _ in self.candidate.line.writes)
