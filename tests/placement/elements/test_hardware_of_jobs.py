"""Which processing elements of a Job get optional hardware, as its plan says, and how this reaches their pods."""

import json
from typing import Any

import msgspec
import pytest

from tests.builders import NAMESPACE, bound_pod, cluster, decided, node, nodes
from tests.placement.planning.at_once import job_spec, judged
from webhook.placement.elements.names import owned_by
from webhook.placement.elements.plan import PlannedHardware, PlannedNodes
from webhook.placement.elements.steered_pod import equipped, kept_on, steered
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.jobs.planned_nodes import planned_nodes, stand_ins
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import PROCESSING_ELEMENT

Json = dict[str, Any]

GPU = "nvidia.com/gpu"


def wish(count: int = 3, name: str = GPU, **more: Any) -> Json:
    return {"name": name, "limits": count, "mandatory": False, **more}


def wishing(*wishes: Json, name: str = "", placement: str = "", **container: Any) -> Json:
    """An element with these wishes."""
    annotations = {keys.HARDWARE: json.dumps(wishes)}
    found: Json = {"template": {"metadata": {"annotations": annotations}, "spec": _spec(container)}}
    if placement:
        found["operators"] = [{"name": "Op", "placement": placement}]
    return {**found, **({"name": name} if name else {})}


def _spec(container: Json) -> Json:
    return {"containers": [{"name": "main", "image": "i", **container}]}


def bounded(element: Json) -> Json:
    """The element whose whole pod may use one core."""
    element["template"]["spec"]["resources"] = {"requests": {"cpu": "1"}}
    return element


TWO = cluster([node("a", **{GPU: 4}), node("b", **{GPU: 1}), node("c", **{GPU: 4})])


def given(*elements: Json, there: Inventory = TWO) -> dict[str, list[str]]:
    """The elements that get each resource."""
    verdict = judged(job_spec(*elements), there)
    assert not verdict.refused
    assert verdict.group is not None
    assert verdict.answer is not None
    assert verdict.answer.placed is not None
    plan = planned_nodes(verdict.group, verdict.answer.placed, verdict.given)
    found: dict[str, list[str]] = {}
    for each in plan.hardware:
        found.setdefault(each.name, []).extend(each.processing_elements)
    return found


CASES: dict[str, tuple[list[Json], dict[str, list[str]]]] = {
    "as many as there is room for, in the order of the Job": ([wishing(wish())] * 3, {GPU: ["app-0", "app-1"]}),
    "all, if there is room": ([wishing(wish(1))] * 9, {GPU: [f"app-{at}" for at in range(9)]}),
    "the heaviest first": (
        [wishing(wish()), wishing(wish(weight=9)), wishing(wish(weight=5))],
        {GPU: ["app-1", "app-2"]},
    ),
    "a smaller one that fits beside larger ones": (
        [*[wishing(wish(2))] * 3, wishing(wish(4)), *[wishing(wish(1), name=f"e{at}") for at in range(2)]],
        {GPU: ["app-0", "app-1", "app-2", "e0", "e1"]},
    ),
    "nobody has so many": ([wishing(wish(5))], {}),
    "nobody asks": ([{"template": {"spec": _spec({})}}], {}),
    "those that share a node share its devices": (
        [wishing(wish(2), placement='hostColocation("t")', name=f"e{at}") for at in range(3)],
        {GPU: ["e0", "e1"]},
    ),
    "what Kubernetes would refuse is left out": ([bounded(wishing(wish(2, "cpu"), wish(1)))], {GPU: ["app-0"]}),
}  # fmt: skip


@pytest.mark.parametrize(("elements", "expected"), CASES.values(), ids=CASES.keys())
def test_who_gets_a_device(elements: list[Json], expected: dict[str, list[str]]) -> None:
    assert given(*elements) == expected


def test_a_mandatory_device_comes_before_any_wish() -> None:
    firm = {**wishing({"name": GPU, "limits": 4}), "name": "firm"}
    assert given(wishing(wish(4, weight=10), name="light"), firm, firm | {"name": "more"}) == {}


def test_wishes_never_refuse_and_never_move_a_job_to_where_it_cannot_run() -> None:
    there = cluster([node("a", cpu=1000, **{GPU: 4}), node("b", cpu=8000)])
    large = {"resources": {"requests": {"cpu": "4"}}}
    assert given(wishing(wish(1), **large), there=there) == {}
    assert given(wishing(wish(1)), there=there) == {GPU: ["app-0"]}


def test_devices_that_others_use_are_not_given() -> None:
    there = cluster([node("a", **{GPU: 4})], pods=[bound_pod("a", job="other", requests={GPU: 3})])
    assert given(wishing(wish(2)), there=there) == {}
    assert given(wishing(wish(1)), there=there) == {GPU: ["app-0"]}


def test_what_is_not_given_is_a_warning() -> None:
    verdict = judged(job_spec(*[wishing(wish())] * 3), TWO)
    assert verdict.warnings == (
        "hardware nvidia.com/gpu 3 is not requested by app-2: no plan for the whole Job has it free for them",
    )


def test_cpu_and_two_containers() -> None:
    element = wishing(wish(2, "cpu", limits=2), wish(1, **{"container-name": "main"}))
    verdict = judged(job_spec(element), TWO)
    assert [(each.container, each.amount.resource) for each in verdict.given] == [("main", "cpu"), ("main", GPU)]
    assert verdict.group is not None
    assert verdict.answer is not None
    assert verdict.answer.placed is not None
    plan = planned_nodes(verdict.group, verdict.answer.placed, verdict.given)
    (pod,) = stand_ins((NAMESPACE, "app"), verdict.group.members, plan)
    assert (pod.requests["cpu"], pod.requests[GPU]) == (2000, 1)
    bare = judged(job_spec({"template": {"spec": _spec({})}}), TWO).group
    assert bare is not None
    (pod,) = stand_ins((NAMESPACE, "app"), bare.members, plan)
    assert (pod.requests["cpu"], pod.requests[GPU]) == (2000, 1)


# Pods


def a_pod(**container: Any) -> Json:
    more = [{"name": "side", "image": "i"}]
    return {"spec": {"containers": [{"name": "main", "image": "i", **container}, *more]}}


AMOUNT = PlannedHardware(GPU, "main", "3", "3", ("app-0",))


def test_the_container_of_the_plan_asks_for_the_amount() -> None:
    found = equipped(a_pod(resources={"limits": {"cpu": "1"}}), [AMOUNT])
    main, side = found["spec"]["containers"]
    assert main["resources"] == {"requests": {GPU: "3"}, "limits": {"cpu": "1", GPU: "3"}}
    assert "resources" not in side


def test_a_request_without_a_limit_and_an_init_container() -> None:
    amount = PlannedHardware("cpu", "first", "2")
    pod = a_pod()
    pod["spec"]["initContainers"] = [{"name": "first", "image": "i"}]
    (first,) = equipped(pod, [amount])["spec"]["initContainers"]
    assert first["resources"] == {"requests": {"cpu": "2"}}


def test_what_a_container_asks_for_itself_stays() -> None:
    pod = a_pod(resources={"limits": {GPU: "1"}})
    assert equipped(pod, [AMOUNT])["spec"]["containers"] == pod["spec"]["containers"]


def test_a_pod_that_is_kept_on_a_node_requires_it_beside_its_own_terms() -> None:
    here = {"key": "metadata.name", "operator": "In", "values": ["a"]}
    term = {"matchExpressions": [{"key": "x", "operator": "Exists"}]}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    assert kept_on(a_pod(), "a")["spec"]["affinity"] == {
        "nodeAffinity": {required: {"nodeSelectorTerms": [{"matchFields": [here]}]}}
    }
    own = a_pod()
    own["spec"]["affinity"] = {"nodeAffinity": {required: {"nodeSelectorTerms": [term, {"matchFields": [here]}]}}}
    found = kept_on(steered(own, "a", ()), "a")["spec"]["affinity"]["nodeAffinity"]
    assert found[required] == {"nodeSelectorTerms": [{**term, "matchFields": [here]}, {"matchFields": [here, here]}]}


def test_the_webhook_gives_an_element_only_what_its_pod_asks_for() -> None:
    element = wishing(wish(1))["template"]
    owner = owned_by(PROCESSING_ELEMENT, "app-0", "uid")
    metadata = {**element["metadata"], "name": "app-0-1", "ownerReferences": [owner]}
    bare = decided({"metadata": metadata, "spec": _spec({})}, TWO)
    assert bare.warnings == (
        "hardware nvidia.com/gpu 1 is not requested: the plan of its Job decides which processing elements get it",
    )
    amount = {"limits": {GPU: "1"}, "requests": {GPU: "1"}}
    asking = decided({"metadata": metadata, "spec": _spec({"resources": amount})}, TWO)
    assert not asking.warnings
    assert not asking.refused


def test_a_plan_is_read_as_it_is_written() -> None:
    plan = PlannedNodes(hardware=(AMOUNT,), required=("app-0",))
    stored = msgspec.json.encode(plan)
    assert msgspec.json.decode(stored, type=PlannedNodes) == plan
    assert b'"processingElements"' in stored


def test_many_equal_elements_are_decided_about_fast() -> None:
    there = cluster(nodes(20, **{GPU: 4}))
    found = given(*[wishing(wish(1))] * 200, there=there)
    assert len(found[GPU]) == 80
