"""ResourceClaims that hardware requirements give to pods: which claim of the pod, and which container uses it."""

from typing import Any

import msgspec
import pytest

from tests.builders import NAMESPACE, Json, asked, cluster, nodes, pod, typed
from tests.placement.hardware_containers import amount, required
from webhook.placement.annotations.hardware import Hardware
from webhook.placement.annotations.hardware_claim import DeviceSource
from webhook.placement.decision.decision import decide
from webhook.placement.devices.published.claims import ClaimSpec, ClaimTemplate, DeviceChoice, DeviceRequest
from webhook.placement.devices.published.device import Device, Reach
from webhook.placement.devices.published.devices import DevicePart
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.containers import Place
from webhook.placement.kube.pod import PodClaim, PodSpec
from webhook.placement.objects.device_classes import DeviceClass
from webhook.placement.provision.claims import claims
from webhook.placement.request.ask import read
from webhook.placement.request.claimed_devices import without_resources
from webhook.placement.request.world import World
from webhook.placement.text.problem import render

SHARED, OWN = DeviceSource(claim="shared"), DeviceSource(template="two-gpus")
TEMPLATE = {"device": {"template": "two-gpus"}}


def spec(*containers: Any, claims: tuple[Any, ...] = ()) -> PodSpec:
    return msgspec.convert({"containers": [*containers], "resourceClaims": [*claims]}, PodSpec)


def using(name: str, *used: str) -> Json:
    return {"name": name, "resources": {"claims": [{"name": one} for one in used]}}


def need(source: DeviceSource = OWN, container: str = "") -> Hardware:
    return Hardware("r", "", container=container, device=source)


def uses(found: PodSpec) -> dict[str, list[str]]:
    """The sources of the claims that each container uses."""
    sources = {
        claim.name: claim.resource_claim_name or claim.resource_claim_template_name or ""
        for claim in found.resource_claims or ()
    }
    return {
        container.name: [sources[claim.name] for claim in (container.resources and container.resources.claims) or ()]
        for container in found.containers or ()
    }


def test_each_container_has_a_claim_of_its_own_from_a_template() -> None:
    found = claims(spec({"name": "a"}, {"name": "b"}), [need(container="a"), need(container="b")], None)
    names = [claim.name for claim in found.spec.resource_claims or ()]
    assert (len(set(names)), uses(found.spec)) == (2, {"a": ["two-gpus"], "b": ["two-gpus"]})
    assert all(len(name) <= 63 for name in names)


def test_containers_share_a_claim_by_name() -> None:
    found = claims(spec({"name": "a"}, {"name": "b"}), [need(SHARED, "a"), need(SHARED, "b")], None)
    assert (len(found.spec.resource_claims or ()), uses(found.spec)) == (1, {"a": ["shared"], "b": ["shared"]})


def test_two_equal_requirements_of_a_container_are_one() -> None:
    found = claims(spec({"name": "a"}), [need(container="a"), need(container="a")], None)
    assert uses(found.spec) == {"a": ["two-gpus"]}


@pytest.mark.parametrize(
    ("own", "source", "reused"),
    [
        (({"name": "mine", "resourceClaimName": "shared"},), SHARED, True),
        (({"name": "mine", "resourceClaimTemplateName": "two-gpus"},), OWN, True),
        (({"name": "mine", "resourceClaimTemplateName": "other"},), OWN, False),
    ],
    ids=["a claim", "a template", "another template"],
)
def test_what_the_container_uses_already_is_not_given_again(
    own: tuple[Json, ...], source: DeviceSource, *, reused: bool
) -> None:
    found = claims(spec(using("a", "mine"), claims=own), [need(source, "a")], None)
    (use,) = found.given
    assert (use.claim.name == "mine", found.spec.resource_claims == (use.claim,)) == (reused, reused)


def test_a_claim_of_a_template_that_another_container_uses_is_not_shared() -> None:
    own = {"name": "mine", "resourceClaimTemplateName": "two-gpus"}
    found = claims(spec({"name": "a"}, using("b", "mine"), claims=(own,)), [need(container="a")], None)
    assert found.given[0].claim.name.startswith("hpa-")
    assert uses(found.spec) == {"a": ["two-gpus"], "b": ["two-gpus"]}


def test_what_was_given_stays_where_it_is_when_a_sidecar_comes() -> None:
    first = claims(spec({"name": "a"}), [need()], Place(init=False, at=0))
    containers = [*msgspec.to_builtins(first.spec)["containers"], {"name": "mesh"}]
    later = msgspec.convert({**msgspec.to_builtins(first.spec), "containers": containers}, PodSpec)
    again = claims(later, [need()], None)
    assert (again.given, again.spec) == (first.given, later)


@pytest.mark.parametrize(
    ("found", "container", "message"),
    [
        (spec({"name": "a"}), "b", 'there is no container "b"; the containers: "a"'),
        (
            spec({"name": "a"}, {"name": "b"}),
            "",
            'hardware ResourceClaimTemplate two-gpus needs a container-name, one of "a", "b"',
        ),
    ],
    ids=["unknown", "one of several"],
)
def test_a_requirement_without_a_container_is_a_problem(found: PodSpec, container: str, message: str) -> None:
    given = claims(found, [need(container=container)], None)
    assert (given.given, render(given.problems)) == ((), f"r: {message}")


def test_another_claim_of_the_same_name_is_a_problem() -> None:
    (use,) = claims(spec({"name": "a"}), [need(container="a")], None).given
    taken = {"name": use.claim.name, "resourceClaimName": "other"}
    found = claims(spec({"name": "a"}, claims=({"name": "x"}, taken)), [need(container="a")], None)
    assert render(found.problems) == (
        f'spec.resourceClaims[1].name: "{use.claim.name}" is the name of the claim of hardware ResourceClaimTemplate '
        "two-gpus: choose another"
    )


def test_optional_devices_are_not_given() -> None:
    ask = asked(pod(annotations=required(TEMPLATE | {"mandatory": False})), cluster(nodes(1)))
    assert (ask.provision.claims, ask.spec.resource_claims, ask.warnings) == (
        (),
        None,
        ("hardware ResourceClaimTemplate two-gpus is not requested: whether its devices are free is not judged",),
    )


def test_a_pod_has_its_claims_beside_amounts() -> None:
    ask = asked(pod(annotations=required(TEMPLATE, amount("cpu", 2))), cluster(nodes(1)))
    assert [use.claim.resource_claim_template_name for use in ask.provision.claims] == ["two-gpus"]
    assert uses(ask.spec) == {"runtime": ["two-gpus"]}
    assert ask.warnings == (
        "spec.resourceClaims: ResourceClaims are not judged; the pod waits until devices that meet them are free",
    )


def test_problems_of_claims_are_those_of_the_pod() -> None:
    found = pod(annotations=required(TEMPLATE | {"container-name": "none"}))
    _, problems = read(typed(found), NAMESPACE, World(cluster(nodes(1)), Policy()))
    assert 'there is no container "none"' in render(problems)


def test_names_of_claims_depend_on_source_and_container_alone() -> None:
    (use,) = claims(spec({"name": "a"}), [need(container="a")], None).given
    assert use.claim == PodClaim("hpa-49b773aac0784f06", None, "two-gpus")


# Judged as the pod's own claims


def world(count: int) -> World:
    """A node with one GPU, and a template of claims of so many."""
    inventory = cluster(nodes(1))
    (node,) = inventory.nodes.slot_of
    for part in DevicePart:
        inventory.devices.listed(part, readable=True)
    inventory.devices.put_class(DeviceClass("gpu.example.com"))
    inventory.devices.put_slice(DeviceSlice("s", "gpu.example.com", node, 1, 1, Reach(node), (Device("gpu-0"),)))
    wanted = DeviceRequest("gpu", (DeviceChoice("gpu.example.com", count=count),))
    inventory.devices.put_template(ClaimTemplate(NAMESPACE, "two-gpus", ClaimSpec((wanted,))))
    return World(inventory, Policy())


def test_a_pod_that_is_given_a_claim_of_devices_that_a_node_has_is_admitted() -> None:
    decision = decide(typed(pod(annotations=required(TEMPLATE))), NAMESPACE, world(1))
    assert (decision.message, decision.warnings) == ("", ())
    assert decision.additions is not None
    assert len(decision.additions.claims) == 1


def test_one_that_no_node_has_is_refused_and_the_fix_drops_the_requirement() -> None:
    decision = decide(typed(pod(annotations=required(TEMPLATE, amount("cpu", 1)))), NAMESPACE, world(2))
    assert decision.message == (
        "ResourceClaimTemplate two-gpus cannot hold: 0 of 1 node can run this pod.\n"
        "  1 node has only 1 of 2 devices of DeviceClass gpu.example.com\n"
        "Nearest fix: lower count of request gpu of ResourceClaimTemplate two-gpus to 1 (this opens 1 node), or drop "
        "ResourceClaimTemplate two-gpus (1 node would fit)."
    )


def test_claims_stay_when_a_resource_that_a_class_maps_is_dropped() -> None:
    found = spec({"name": "a", "resources": {"requests": {"x/gpu": 1}, "claims": [{"name": "nic"}]}})
    assert without_resources(found, {("resource", "x/gpu")}) == spec(
        {"name": "a", "resources": {"requests": {}, "limits": {}, "claims": [{"name": "nic"}]}}
    )
