"""Whatever containers are given, the API server takes the pod; and nothing is refused that it would take."""

import json

from hypothesis import assume, event, given

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import Cluster, Json
from tests.placement.properties.oracle.api_resources import complaints, containers, defaulted, written
from tests.placement.properties.oracle.hardware import GPU, REQUIRED
from tests.placement.properties.pods.test_patches import patched
from tests.placement.properties.random_choices import RandomChoices, drawn, examples
from webhook.placement.objects.node import Node
from webhook.placement.text.problem import Fault

PAGES = "hugepages-2Mi"
GI = 2**30
LARGE = Node("a", "1", {}, allocatable={"cpu": 64000, "memory": 64 * GI, PAGES: 64 * GI, GPU: 64, "pods": 8})
CLUSTER = Cluster((LARGE,))
NAMES = ("cpu", "memory", PAGES, GPU)


def resources(choices: RandomChoices, names: tuple[str, ...], few: int) -> Json:
    """Requests and limits of some resources."""
    found: Json = {"requests": {}, "limits": {}}
    for name in names:
        if choices.chance(few):
            asked = 2 + 2 * choices.face(3)
            alike = name == PAGES or "/" in name
            part = choices.pick(["both", "limits", "requests"]) if not alike else "both"
            if part != "limits":
                found["requests"][name] = written(name, asked)
            if part != "requests":
                found["limits"][name] = written(name, asked if alike else asked + 2 * choices.face(2))
    return {part: said for part, said in found.items() if said}


def requirement(choices: RandomChoices, name: str, container: str) -> Json:
    """A requirement of a resource, for that container."""
    asked = 2 + 2 * choices.face(4)
    one: Json = {"name": name, "container-name": container}
    if name not in {"cpu", "memory"} or choices.chance(4):
        one["limits"] = written(name, asked)
    else:
        one["requests"] = written(name, asked)
        if choices.chance(4):
            one["limits"] = written(name, asked + 2)
    return one | ({"mandatory": False, "weight": 1 + choices.face(9)} if choices.chance(2) else {})


def pod(choices: RandomChoices) -> Json:
    """A pod of up to four containers, often with resources of its own, that requires hardware."""
    spec: Json = {"containers": [{"name": "a", "resources": resources(choices, NAMES, 2)}]}
    if choices.chance(4):
        spec["containers"].append({"name": "b", "resources": resources(choices, NAMES, 2)})
    if choices.chance(3):
        first: Json = {"name": "i", "resources": resources(choices, NAMES, 2)}
        spec["initContainers"] = [first | ({"restartPolicy": "Always"} if choices.chance(4) else {})]
    if choices.chance(5):
        spec["resources"] = resources(choices, NAMES[:3], 4)
    names = [one["name"] for _, one in containers(spec)]
    wanted = [requirement(choices, name, container) for name in NAMES for container in names if choices.chance(2)] or [
        requirement(choices, PAGES, "a")
    ]
    return {"metadata": {"annotations": {REQUIRED: json.dumps(wanted)}}, "spec": spec}


def given_all(source: Json) -> Json:
    """The pod with all that it must be given."""
    found = defaulted(source)
    by_name = {one["name"]: one for _, one in containers(found["spec"])}
    for one in json.loads(found["metadata"]["annotations"][REQUIRED]):
        if one.get("mandatory", True):
            own = by_name[one["container-name"]]["resources"]
            own.setdefault("requests", {})[one["name"]] = one.get("requests", one.get("limits"))
            if "limits" in one:
                own.setdefault("limits", {})[one["name"]] = one["limits"]
    return defaulted(found)


@given(drawn(120, pod))
@examples(500)
def test_a_pod_is_refused_exactly_if_the_api_server_would_not_take_what_it_must_be_given(source: Json) -> None:
    assume(not complaints(defaulted(source)))
    wrong = complaints(given_all(source))
    event(wrong[0] if wrong else "taken")
    decision = decision_core.decided(source, CLUSTER)
    assert decision.refused == bool(wrong), (decision.message, wrong)
    assert not wrong or decision.fault is Fault.INVALID


@given(drawn(120, pod))
@examples(300)
def test_with_what_it_only_wants_the_api_server_takes_it_too(source: Json) -> None:
    reviewed = defaulted(source)
    assume(not complaints(reviewed))
    result = patched(reviewed, CLUSTER)
    assert complaints(defaulted(result)) == []
    assert decision_core.decided(defaulted(result), CLUSTER).message == ""


@given(drawn(120, pod))
@examples(200)
def test_a_template_is_judged_like_the_pods_that_are_made_of_it(source: Json) -> None:
    """The API server completes resources of pods, not of templates."""
    assume(not complaints(defaulted(source)))
    template, made = decision_core.decided(source, CLUSTER), decision_core.decided(defaulted(source), CLUSTER)
    assert (template.message, template.ask.requests) == (made.message, made.ask.requests)
