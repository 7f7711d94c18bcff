"""Hardware requirements and CPU binding end to end: what becomes of a pod, and of the same pod in a second pass."""

from typing import Any

import pytest

from tests.builders import Json, bound_pod, cluster, decided, node, nodes, pod
from tests.placement.final_pods import finished
from tests.placement.hardware_containers import (
    BOUND,
    FPGA,
    GPU,
    amount,
    container,
    equipped,
    label,
    offering,
    required,
    wanted,
)
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys

TWO = cluster(nodes(2))
NVIDIA = "nvidia.com/gpu"
GPUS = cluster([node("node-a"), offering("node-b", {NVIDIA: 1})])
USED = cluster([equipped("node-a", 1)], pods=[bound_pod("node-a", job="", requests={GPU: 1})])
APART = cluster([equipped("node-a", 1), equipped("node-b", 0, 1)])

CORE = [
    amount("cpu", 4, requests=4),
    amount("memory", 1000, requests=1000, units="MB"),
    amount(NVIDIA, 1, mandatory=False, weight=9),
]
"""What the example of the EMCO HPA design requires for ``core-fwall``."""
API = [amount("cpu", 2, requests=1), amount("memory", requests=200, units="MB")]
"""And for ``api-server``."""

ALONE: Json = {"cpu": "4", "memory": "1G"}


def asking(*requirements: Json, **tweaks: Any) -> Json:
    placement, more = tweaks.pop("placement", None), tweaks.pop("annotations", {})
    return pod(placement, annotations=required(*requirements) | more, **tweaks)


def resources(found: Json, inventory: Inventory) -> list[Json]:
    """What the containers ask for in the end."""
    return [made.get("resources", {}) for made in finished(found, inventory, Policy())["spec"]["containers"]]


GIVEN: dict[str, tuple[Json, Inventory, Json]] = {
    "core-fwall without a GPU": (asking(*CORE), TWO, {"requests": ALONE, "limits": ALONE}),
    "core-fwall with one": (
        asking(*CORE), GPUS, {"requests": {**ALONE, NVIDIA: "1"}, "limits": {**ALONE, NVIDIA: "1"}}
    ),
    "api-server": (asking(*API), TWO, {"requests": {"cpu": "1", "memory": "200M"}, "limits": {"cpu": "2"}}),
    "limits alone": (asking(amount("cpu", "1500m")), TWO, {"requests": {"cpu": "1500m"}, "limits": {"cpu": "1500m"}}),
    "a device, by its requests": (
        asking(amount(GPU, requests=1)), APART, {"requests": {GPU: "1"}, "limits": {GPU: "1"}}
    ),
    "a device that is in use": (asking(amount(GPU, 1)), USED, {"requests": {GPU: "1"}, "limits": {GPU: "1"}}),
    "no device that is in use, where it is only wanted": (asking(wanted(GPU)), USED, {}),
    "the heavier of two devices": (
        asking(wanted(GPU, weight=3), wanted(FPGA, weight=4)), APART, {"requests": {FPGA: "1"}, "limits": {FPGA: "1"}}
    ),
    "among equals the first by name": (
        asking(wanted(GPU), wanted(FPGA)), APART, {"requests": {FPGA: "1"}, "limits": {FPGA: "1"}}
    ),
    "what the pod asks for already": (
        asking(wanted(GPU), containers=[container("a", {GPU: 1}, {GPU: 1})]),
        APART,
        {"requests": {GPU: 1}, "limits": {GPU: 1}},
    ),
    "in place of its own": (
        asking(*API, containers=[container("a", {"cpu": "4", "x.y/z": 1}, {"cpu": "8", "memory": "1Gi", "x.y/z": 1})]),
        cluster([offering("node-a", {"x.y/z": 1})]),
        {
            "requests": {"cpu": "1", "x.y/z": 1, "memory": "200M"},
            "limits": {"cpu": "2", "memory": "1Gi", "x.y/z": 1},
        },
    ),
    "limits of a bound worker": (
        pod(containers=[container("pe", ALONE)], annotations=BOUND), TWO, {"requests": ALONE, "limits": ALONE}
    ),
    "requirements of a bound worker, and the limit that they lack": (
        asking(amount("cpu", requests=4), amount("memory", 1000), annotations=BOUND),
        TWO,
        {"requests": ALONE, "limits": ALONE},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("found", "inventory", "expected"), GIVEN.values(), ids=GIVEN)
def test_the_container_gets(found: Json, inventory: Inventory, expected: Json) -> None:
    assert resources(found, inventory) == [expected]


@pytest.mark.parametrize(("found", "inventory", "_"), GIVEN.values(), ids=GIVEN)
def test_a_second_pass_adds_nothing(found: Json, inventory: Inventory, _: Json) -> None:
    """Reinvocation by the API server, after another webhook changed something."""
    made = finished(found, inventory, Policy())
    assert finished(made, inventory, Policy()) == made
    additions = decided(made, inventory).additions
    assert additions
    assert additions.missing == ()


@pytest.mark.parametrize(("found", "inventory", "_"), GIVEN.values(), ids=GIVEN)
def test_a_second_pass_leaves_the_same_nodes(found: Json, inventory: Inventory, _: Json) -> None:
    before, after = decided(found, inventory).verdict, decided(finished(found, inventory, Policy()), inventory).verdict
    assert before
    assert after
    assert after.candidates == before.candidates


def test_a_device_in_use_after_all_takes_nothing_back() -> None:
    inventory = cluster([equipped("node-a", 1)])
    made = finished(asking(wanted(GPU)), inventory, Policy())
    assert finished(made, USED, Policy()) == made


def test_what_was_given_is_annotated_by_what_asked_for_it() -> None:
    made = finished(asking(*CORE), GPUS, Policy())
    assert made["metadata"]["annotations"][keys.INJECTED] == (
        '{"resources":["hardware cpu 4","hardware memory 1G","hardware nvidia.com/gpu 1"]}'
    )


WARNINGS: dict[str, tuple[Json, Inventory, tuple[str, ...]]] = {
    "all given": (asking(*CORE), GPUS, ()),
    "a wish that nobody meets": (
        asking(*CORE),
        TWO,
        ("hardware nvidia.com/gpu 1 is not requested: no node that could run this pod has it free",),
    ),
    "cores that are shared after all": (
        asking(amount("cpu", 4, of="a"), amount("memory", 100, of="a"), containers=[container("a"), container("mesh")]),
        TWO,
        ('the 4 cpus of container "a" are not exclusive: container "mesh" has no cpu limit',),
    ),
    "amounts that are overruled": (
        asking(amount("cpu", 2), requests={"cpu": "500m"}),
        TWO,
        ('requests cpu 500m of container "runtime" become 2: hardware cpu 2 asks for it',),
    ),
}


@pytest.mark.parametrize(("found", "inventory", "expected"), WARNINGS.values(), ids=WARNINGS)
def test_the_user_is_warned_of(found: Json, inventory: Inventory, expected: tuple[str, ...]) -> None:
    assert decided(found, inventory).warnings == expected


def test_what_is_wanted_never_refuses_a_pod() -> None:
    wishes = [wanted(GPU, 99), label("disk", "ssd", mandatory=False)]
    assert not decided(asking(*wishes), TWO).refused


def test_where_nodes_are_to_come_a_requirement_waits_for_them() -> None:
    found = decided(asking(amount(GPU, 1), wanted(FPGA)), TWO, Policy(elastic=True))
    assert found.warnings == (
        "hardware example.com/fpga 1 is not requested: no node that could run this pod has it free",
        "no node yet: hardware example.com/gpu 1 cannot hold: 0 of 2 nodes can run this pod.",
    )
    assert found.additions
    assert [made.requests for made in found.additions.resources] == [{GPU: "1"}]
