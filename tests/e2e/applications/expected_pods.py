"""The pods that an operator has made, compared with those that the product expects of the object."""

from collections import Counter
from collections.abc import Callable
from typing import Final

from tests.e2e.client.api import Api, Object
from tests.e2e.polling import until
from tests.e2e.workloads import is_ready, namespace
from webhook.placement.kinds.application import ComponentPods, OperatorApplication

SECONDS: Final = 60
SEAL: Final = "streams.ibm.com/seal"
"""A checksum, also of ports and volumes that an operator adds."""

DECIDED: Final = ("affinity", "nodeSelector", "tolerations", "schedulerName", "priorityClassName")
"""Fields of a pod that say where it runs."""


def pods_of(admin: Api, space: str) -> list[Object]:
    """All pods of the namespace."""
    listed: list[Object] = admin.get(f"/api/v1/namespaces/{space}/pods")["items"]
    return listed


def running(admin: Api, space: str, count: int) -> list[Object]:
    """The pods of the namespace, once there are so many and each runs or, as those of Jobs soon have, has run."""

    def all_run() -> list[Object] | None:
        found = pods_of(admin, space)
        return found if len(found) == count and all(map(_ran, found)) else None

    return until(all_run, f"{count} pods run in {space}", SECONDS)


def _ran(pod: Object) -> bool:
    return is_ready(pod) or pod["status"].get("phase") == "Succeeded"


def as_expected(
    admin: Api,
    made: list[Object],
    application: OperatorApplication,
    component_of: Callable[[Object], str] | None = None,
) -> None:
    """The pods that were made are those of the application, one by one: names, labels, requests, constraints.

    A pod is of the component that ``component_of`` names, or else of the one by which its own name begins. What the
    webhook and the API server add to an expected pod is found by a dry run in a namespace without pods.
    """
    assert not application.not_judged
    prefixes = {_prefix(one): one.name for one in application.components}
    of_pod = component_of or (lambda pod: _named(prefixes, pod))
    assert Counter(map(of_pod, made)) == {one.name: one.count for one in application.components}
    empty = namespace(admin, f"{made[0]['metadata']['namespace']}-empty")
    wanted = {one.name: _placed(admin, one.pod, empty) for one in application.components}
    for pod in made:
        expected = wanted[of_pod(pod)]
        for field in ("labels", "annotations"):
            stated = {key: said for key, said in expected["metadata"].get(field, {}).items() if key != SEAL}
            assert {key: pod["metadata"][field].get(key) for key in stated} == stated, field
        assert {one: pod["spec"].get(one) for one in DECIDED} == {one: expected["spec"].get(one) for one in DECIDED}
        for field in ("containers", "initContainers"):
            assert _amounts(pod, field) == _amounts(expected, field)
    admin.delete(f"/api/v1/namespaces/{empty}")


def _prefix(one: ComponentPods) -> str:
    """How names of the pods of the component begin: that of the object and that of the component."""
    return f"{one.pod['metadata']['generateName']}{one.name.split()[-1]}-"


def _named(prefixes: dict[str, str], pod: Object) -> str:
    """The component whose prefix the name of the pod begins with."""
    return next(component for prefix, component in prefixes.items() if pod["metadata"]["name"].startswith(prefix))


def _placed(admin: Api, pod: Object, space: str) -> Object:
    """The pod as the webhook and the API server complete it."""
    metadata = {key: said for key, said in pod["metadata"].items() if key != "ownerReferences"}
    spec = {**pod["spec"], "restartPolicy": "Never"}
    for field in ("containers", "initContainers"):
        if field in spec:  # containers that the operator adds are expected without what does not count for placement
            spec[field] = [{"image": "i", **one} for one in spec[field]]
    return admin.create({**pod, "metadata": {**metadata, "namespace": space}, "spec": spec}, dryRun="All")


def _amounts(pod: Object, field: str) -> list[tuple[str, Object]]:
    """What each container requests."""
    return [(one["name"], one.get("resources", {}).get("requests", {})) for one in pod["spec"].get(field, ())]
