"""A pod that has been through the webhook gets no patch when it is reviewed again, whatever is ours of its admission.

The reviews are those of an API server: with its defaults set in between, with the user who made the pod, and with a
harmless change of another webhook before the third.
"""

import copy
import json
from typing import Any

from hypothesis import assume, event, given
from hypothesis import strategies as st

from tests.answers import patched, refused, response, steps
from tests.builders import review
from tests.placement.properties import decision_core
from tests.placement.properties.clusters import TEAM, Cluster, Json
from tests.placement.properties.generated_pods import equipped, requested
from tests.placement.properties.random_choices import RandomChoices, drawn, examples
from tests.placement.properties.strategies import ELEMENTS, PREFIX, clusters
from webhook.admission.answer import Answer
from webhook.admission.mutate import Known, mutate
from webhook.admission.validate import validate
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Resources
from webhook.placement.objects.jobs.job import Element, StreamsJob
from webhook.placement.request.memo import Memo

DEFAULT = Resources({"cpu": "100m", "memory": "128Mi"})
"""What the installation gives to processing elements that say nothing."""

CONTROLLER = {"username": "system:serviceaccount:kube-system:replicaset-controller"}

POLICIES = (
    Policy(element_requests=DEFAULT),
    Policy(element_requests=DEFAULT, elastic=True),
    Policy(element_requests=DEFAULT, host_binding="nodeName"),
    Policy(),
)

STATED = (
    None,
    None,
    Resources({"cpu": "300m"}),
    Resources({"cpu": "300m", "memory": "384Mi"}, {"memory": "768Mi"}),
    Resources(None, {"example.com/gpu": "2"}),
)


def with_resources(choices: RandomChoices, found: StreamsJob) -> StreamsJob:
    """The Job object with resources of its own, of its elements, or without."""
    elements = tuple(
        Element(one.name, one.placements, one.cpu_bound, choices.pick(STATED)) for one in found.elements or ()
    )
    known = {one.name for one in elements}
    more = tuple(Element(name) for name in ELEMENTS if name not in known and choices.chance(4))
    return StreamsJob(found.namespace, found.name, (*elements, *more), choices.pick(STATED))


def defaulted(pod: Json) -> Json:
    """The pod with the defaults of the API server (``pkg/apis/core/v1/defaults.go``, DefaultTolerationSeconds)."""
    found = copy.deepcopy(pod)
    spec = found["spec"]
    spec |= {"schedulerName": "default-scheduler", "enableServiceLinks": True, "securityContext": {}, "priority": 0}
    for container in (*spec["containers"], *(spec.get("initContainers") or ())):
        container |= {"terminationMessagePath": "/dev/termination-log", "imagePullPolicy": "Always"}
        resources = container.get("resources") or {}
        container["resources"] = resources
        if limits := resources.get("limits"):
            resources["requests"] = {**limits, **(resources.get("requests") or {})}
    tolerated = {one.get("key") for one in spec.get("tolerations") or ()}
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        if key not in tolerated:
            more = {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            spec["tolerations"] = [*(spec.get("tolerations") or ()), more]
    return found


def touched(pod: Json) -> Json:
    """The pod after another webhook, whose change nothing of ours depends on."""
    found = copy.deepcopy(pod)
    found["metadata"]["annotations"] = {**(found["metadata"].get("annotations") or {}), "example.com/seen": "yes"}
    found["spec"]["volumes"] = [*(found["spec"].get("volumes") or ()), {"name": "token", "emptyDir": {}}]
    for container in found["spec"]["containers"]:
        container["env"] = [*(container.get("env") or ()), {"name": "TOKEN", "value": "x"}]
    return found


def with_sidecar(choices: RandomChoices, pod: Json) -> Json:
    """The pod, maybe with a sidecar before or beside the container that runs the element, and a name for that one."""
    found = copy.deepcopy(pod)
    spec, name = found["spec"], found["spec"]["containers"][0]["name"]
    proxy = {"name": "proxy", "image": "proxy:1", "resources": choices.pick([{}, {"requests": {"cpu": "100m"}}])}
    if choices.chance(2):
        spec["initContainers"] = [{**proxy, "restartPolicy": "Always"}]
    elif choices.chance(2):
        spec["containers"].insert(choices.face(2), proxy)
    if choices.chance(4):
        metadata = found["metadata"]
        metadata["annotations"] = {**(metadata.get("annotations") or {}), f"{PREFIX}container": name}
    if choices.chance(2):
        resources = spec["containers"][-1].setdefault("resources", {})
        resources["limits"] = choices.pick([{"memory": "3072Mi"}, {"cpu": "5", "memory": "3072Mi"}])
    return found


class Admission:
    """The mutating admission of one pod: the cluster, the settings, and who makes the pod."""

    def __init__(self, choices: RandomChoices, cluster: Cluster) -> None:
        jobs = tuple(with_resources(choices, job) for job in cluster.jobs)
        self.inventory: Inventory = decision_core.inventory(Cluster(cluster.nodes, cluster.pods, cluster.pools, jobs))
        self.policy = choices.pick(POLICIES)
        self.user: dict[str, Any] = {"userInfo": CONTROLLER} if choices.chance(4) else {}
        count = choices.pick([None, 1, 2, 3])
        self.known = Known(memo=Memo() if choices.chance(4) else None, count=lambda _: count)

    def review(self, pod: Json) -> Answer:
        """The answer to the creation of the pod."""
        return mutate(review(pod, namespace=TEAM, **self.user), self.inventory, self.policy, self.known)

    def validates(self, workload: Json) -> bool:
        """Whether the creation of the workload is allowed by itself."""
        body = review(workload, kind=workload["kind"], group="apps", namespace=TEAM)
        return bool(response(validate(body, self.inventory, self.policy))["allowed"])


def admissions() -> st.SearchStrategy[tuple[Admission, RandomChoices]]:
    """How pods are admitted, and choices that are left about them."""
    return st.builds(
        lambda cluster, choices: (Admission(choices.part(24), cluster), choices),
        clusters(),
        drawn(32, lambda choices: choices),
    )


def owned(choices: RandomChoices, pod: Json, admission: Admission) -> Json:
    """The pod as its maker makes it: one of a ReplicaSet names its owner."""
    found = with_sidecar(choices, pod)
    if admission.user:
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d", "uid": "u", "controller": True}
        found["metadata"]["ownerReferences"] = [owner]
        labels = found["metadata"].get("labels") or {}
        found["metadata"]["labels"] = {**labels, "pod-template-hash": "5d"}
    return defaulted(found) if choices.chance(4) else found


@given(admissions(), st.one_of(requested(), requested(), equipped()))
@examples(150)
def test_own_output_gives_no_patch(made: tuple[Admission, RandomChoices], pod: Json) -> None:
    admission, choices = made
    submitted = owned(choices, pod, admission)
    first = admission.review(submitted)
    assume(response(first)["allowed"])
    event("patched" if steps(first) else "not patched")
    event("waits" if first.waits else "does not wait")
    result = patched(submitted, first)
    for again in (result, defaulted(result), touched(defaulted(result))):
        answer = admission.review(json.loads(json.dumps(again)))
        assert response(answer)["allowed"], refused(answer)
        assert steps(answer) == []
        assert answer.waits == first.waits
