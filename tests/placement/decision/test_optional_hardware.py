"""Hardware that a pod only wants."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.builders import JOB, Json, asked, bound_pod, cluster, decided, pod
from tests.placement.hardware_containers import FIRST, FPGA, GPU, container, equipped, offering, required, wanted
from webhook.placement.decision.optional_hardware import GrantedHardware, granted_hardware
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Resources
from webhook.placement.objects.jobs.job import Element, StreamsJob
from webhook.placement.request.world import World

USED = bound_pod("node-b", job="", requests={GPU: 1})
LIGHT, HEAVY = wanted(GPU, weight=2), wanted(FPGA, weight=9)


def granted(found: Json, inventory: Inventory) -> GrantedHardware:
    """What a pod gets that any node could run."""
    return granted_hardware(asked(found, inventory), inventory.nodes.everything, World(inventory, Policy()))


def wishes(inventory: Inventory, *requirements: Json, **tweaks: Any) -> tuple[list[str], list[str]]:
    """The resources that the pod gets, and the warnings."""
    found = granted(pod(annotations=required(*requirements), **tweaks), inventory)
    return [effect.resource for effect in found.given], found.warnings


def none(name: str) -> str:
    return f"hardware {name} 1 is not requested: no node that could run this pod has it free"


GIVEN: dict[str, tuple[Inventory, list[Json], list[str], list[str]]] = {
    "what some node has free": (cluster([equipped("node-a"), equipped("node-b", 1)]), [LIGHT], [GPU], []),
    "nothing that no node has": (cluster([equipped("node-a")]), [LIGHT], [], [none(GPU)]),
    "nothing that is used up": (cluster([equipped("node-b", 1)], pods=[USED]), [LIGHT], [], [none(GPU)]),
    "what is left": (cluster([equipped("node-b", 2)], pods=[USED]), [LIGHT], [GPU], []),
    "nothing of which too little is left": (
        cluster([equipped("node-b", 2)], pods=[USED]),
        [wanted(GPU, 2)],
        [],
        ["hardware example.com/gpu 2 is not requested: no node that could run this pod has it free"],
    ),
    "the heaviest first, where no node has both": (
        cluster([equipped("node-a", 1), equipped("node-b", 0, 1)]), [LIGHT, HEAVY], [FPGA], [none(GPU)]
    ),
    "both from one node": (
        cluster([equipped("node-a", 1), equipped("node-b", 1, 1)]), [LIGHT, HEAVY], [FPGA, GPU], []
    ),
    "the lighter, if the heavier is not there": (cluster([equipped("node-a", 1)]), [LIGHT, HEAVY], [GPU], [none(FPGA)]),
    "nothing on a node that lacks what is required": (
        cluster([equipped("node-a", 1, cpu=1000), equipped("node-b")]),
        [{"name": "cpu", "limits": 2}, LIGHT],
        [],
        [none(GPU)],
    ),
    "cores, beside all others": (cluster([equipped("node-a")]), [wanted("cpu", 8)], ["cpu"], []),
    "no more cores than there are": (
        cluster([equipped("node-a")]),
        [wanted("cpu", 9)],
        [],
        ["hardware cpu 9 is not requested: no node that could run this pod has it free"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("inventory", "requirements", "given", "warnings"), GIVEN.values(), ids=GIVEN)
def test_the_pod_gets(inventory: Inventory, requirements: list[Json], given: list[str], warnings: list[str]) -> None:
    assert wishes(inventory, *requirements) == (given, warnings)


def test_two_containers_get_what_both_can_have() -> None:
    two = [container("a"), container("b")]
    requirements = [wanted(GPU, of=name) for name in ("a", "b")]
    assert wishes(cluster([equipped("node-a", 2)]), *requirements, containers=two) == ([GPU, GPU], [])
    assert wishes(cluster([equipped("node-a", 1)]), *requirements, containers=two) == ([GPU], [none(GPU)])


PAGES = "hugepages-2Mi"
REFUSED = "is not requested: Kubernetes would refuse the pod with it"
HUGE = cluster([offering("node-a", {PAGES: 64 << 20})])


def test_what_would_be_more_than_the_whole_pod_requests_is_left_out() -> None:
    assert wishes(cluster([equipped("node-a")]), wanted("cpu", 2), resources={"requests": {"cpu": "1"}}) == (
        [],
        [
            (
                f'hardware cpu 2 {REFUSED}: spec.resources.requests[cpu]: "1" is less than what the containers request '
                "together, 2 with hardware cpu 2; 2 or more is needed"
            )
        ],
    )


def test_what_the_whole_pod_has_room_for_is_given() -> None:
    found = wishes(cluster([equipped("node-a")]), wanted("cpu", 2), resources={"limits": {"cpu": "3"}})
    assert found == (["cpu"], [])


def test_huge_pages_are_left_out_without_cpu_or_memory() -> None:
    assert wishes(HUGE, wanted(PAGES, "4Mi")) == (
        [],
        [
            (
                f'hardware {PAGES} 4Mi {REFUSED}: spec.containers[0].resources: container "runtime" asks for neither '
                f"cpu nor memory, without which Kubernetes refuses huge pages: hardware {PAGES} 4Mi"
            )
        ],
    )


def test_a_heavier_wish_for_memory_makes_huge_pages_possible() -> None:
    assert wishes(HUGE, wanted(PAGES, "4Mi", 2), wanted("memory", "1Gi", 3)) == (["memory", PAGES], [])


def test_a_wish_for_no_container_was_refused_before() -> None:
    inventory = cluster([equipped("node-a", 1)])
    found = pod(annotations=required(wanted(GPU, of="x")))
    assert asked(found, inventory).provision.problems
    assert granted(found, inventory) == ([], [], [])


def test_a_wish_is_a_choice_of_the_moment() -> None:
    [effect] = granted(pod(annotations=required(LIGHT)), cluster([equipped("node-a", 1)])).given
    assert (effect.place, effect.firm) == (FIRST, False)


def test_only_the_candidates_count() -> None:
    inventory = cluster([equipped("node-a", 1), equipped("node-b")])
    ask = asked(pod(annotations=required(LIGHT)), inventory)
    assert granted_hardware(ask, 0b10, World(inventory, Policy())) == ([], [], [none(GPU)])


def test_room_for_it_is_on_every_node_that_offers_it_though_it_may_be_in_use() -> None:
    """The scheduler may let the pod wait for it there: what is asked for is no longer a wish."""
    inventory = cluster([equipped("node-a", 1), equipped("node-b", 1), equipped("node-c")], pods=[USED])
    [room] = granted(pod(annotations=required(LIGHT)), inventory).rooms
    assert (str(room.constraint.clause), room.nodes) == ("hardware example.com/gpu 1", 0b011)


GIVEN_ANYHOW = [
    pytest.param(StreamsJob("default", JOB, (Element("parallel-0", resources=Resources({GPU: "2"}, {GPU: "2"})),)),
                 id="by its element"),
    pytest.param(StreamsJob("default", JOB, (Element("parallel-0"),), Resources({GPU: "2"}, {GPU: "2"})),
                 id="by its Job"),
]  # fmt: skip


@pytest.mark.parametrize("there", GIVEN_ANYHOW)
@pytest.mark.parametrize("free", [0, 2])
def test_what_a_pod_gets_anyhow_is_nothing_to_wish_for(there: StreamsJob, free: int) -> None:
    """Whether a node has it free must not change who is said to have asked for it."""
    inventory = cluster([equipped("node-b", 2)], [], [replace(USED, requests={GPU: 2 - free})], [there])
    found = pod(annotations=required(wanted(GPU, 2)))
    additions = decided(found, inventory).additions
    assert additions
    assert "hardware" not in additions.injected
    assert asked(found, inventory).provision.wanted == ()


def test_a_wish_that_is_granted_replaces_the_default() -> None:
    policy = Policy(element_requests=Resources({"cpu": "100m", "memory": "128Mi"}))
    additions = decided(pod(annotations=required(wanted("cpu", 2))), cluster([equipped("node-a")]), policy).additions
    assert additions
    assert [found.requests for found in additions.resources] == [{"cpu": "2", "memory": "128Mi"}]
    assert additions.injected == '{"resources":["default of processing elements","hardware cpu 2"]}'


def test_a_wish_that_replaces_all_of_the_default_leaves_no_word_of_it() -> None:
    policy = Policy(element_requests=Resources({"cpu": "100m"}))
    additions = decided(pod(annotations=required(wanted("cpu", 2))), cluster([equipped("node-a")]), policy).additions
    assert additions
    assert additions.injected == '{"resources":["hardware cpu 2"]}'
