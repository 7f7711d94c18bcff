"""A copy of a pod, as ``kubectl debug --copy-to`` makes it: with the pod's labels, with its annotations, or both."""

import pytest

from tests.answers import patched, refused, response
from tests.builders import Json, bound_pod, cluster, node, pod, pool, review
from webhook.admission.mutate import mutate
from webhook.admission.validate import validate
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.text import keys

EXCLUSIVE = Taint(keys.EXCLUSIVE, "default.mine", "NoSchedule")
ASKED = ['host("node-a")', 'hostExlocation("x")', 'hostColocation("x")', "host(mine)", "host(open)"]
NOT_YOURS = (
    f"metadata.labels[{keys.SEAL}]: only the webhook writes this label; leave it out, or copy the annotations of its "
    "pod as well"
)


def stored_cluster(*pods: Json) -> Inventory:
    """Three nodes, two of them hosts of pools, with these pods on the first and the third one."""
    nodes = [node("node-a"), node("node-b", taints=[EXCLUSIVE]), node("node-c")]
    pools = [
        pool("mine", size=1, mode="Exclusive", assigned=["node-b"]), pool("open", size=1, assigned=["node-c"]),
    ]  # fmt: skip
    return cluster(nodes, pools, [bound_pod("node-a", labels=one["metadata"]["labels"]) for one in pods])


def stored(found: Json, inventory: Inventory) -> Json | tuple[int, str]:
    """The pod as it is stored, or its refusal."""
    answer = mutate(review(found), inventory, Policy())
    if not response(answer)["allowed"]:
        return refused(answer)
    after = patched(found, answer)
    last = validate(review(after), inventory, Policy())
    return after if response(last)["allowed"] else refused(last)


def copied(original: Json, *, labels: bool, annotations: bool) -> Json:
    """The copy with a container for the debugger, which is in no node yet."""
    metadata = {"name": "copy", "namespace": "default"}
    kept = {
        **({"labels": original["metadata"]["labels"]} if labels else {}),
        **({"annotations": original["metadata"]["annotations"]} if annotations else {}),
    }
    spec = {key: value for key, value in original["spec"].items() if key != "nodeName"}
    containers = [*spec.get("containers", []), {"name": "debugger", "image": "busybox"}]
    return {"metadata": {**metadata, **kept}, "spec": {**spec, "containers": containers}}


@pytest.mark.parametrize("asked", ['host("node-a")', "host(open)"])
def test_with_its_labels_alone_it_is_told_what_helps(asked: str) -> None:
    original = stored(pod(asked, job=None, pe=None), stored_cluster())
    assert isinstance(original, dict), original
    assert stored(copied(original, labels=True, annotations=False), stored_cluster(original)) == (422, NOT_YOURS)


@pytest.mark.parametrize(
    ("asked", "job"), [*((one, "parallel") for one in ASKED), *((one, None) for one in ASKED if "ocation" not in one)]
)
def test_and_that_helps(asked: str, job: str | None) -> None:
    original = stored(pod(asked, job=job, pe=job), stored_cluster())
    assert isinstance(original, dict), original
    copy = stored(copied(original, labels=True, annotations=True), stored_cluster(original))
    assert isinstance(copy, dict), copy
    assert copy["metadata"]["annotations"] == original["metadata"]["annotations"]
    assert copy["spec"].get("nodeName") == original["spec"].get("nodeName")


@pytest.mark.parametrize("asked", [one for one in ASKED if one != "host(mine)"])
def test_with_neither_it_asks_for_nothing(asked: str) -> None:
    original = stored(pod(asked), stored_cluster())
    assert isinstance(original, dict), original
    found = copied(original, labels=False, annotations=False)
    assert stored(found, stored_cluster(original)) == found


def test_with_neither_it_does_not_get_onto_an_exclusive_host() -> None:
    original = stored(pod("host(mine)"), stored_cluster())
    assert isinstance(original, dict), original
    refusal = stored(copied(original, labels=False, annotations=False), stored_cluster(original))
    assert refusal == (
        422,
        (
            "spec.tolerations[0]: only the webhook tolerates streams.ibm.com/exclusive: "
            "name the exclusive HostPool with host(...) instead"
        ),
    )
