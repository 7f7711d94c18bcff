"""ResourceClaimTemplates of devices that requirements describe: made for pods, shared, and deleted when unused."""

import asyncio
from typing import Any

import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.apiserver.paths import pod_path
from tests.controller.controlled_cluster import ControlledCluster
from webhook.controller.claimtemplates.template_object import template_object
from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys

GPU = DescribedDevices("gpu.example.com", count=2)
NIC = DescribedDevices("nic.example.com", same="resource.kubernetes.io/pcieRoot")
TEXTS = {
    GPU: "[{device: {class: gpu.example.com, count: 2}}]",
    NIC: "[{device: {class: nic.example.com, sameAttribute: resource.kubernetes.io/pcieRoot}}]",
}
COLLECTION = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates"
EVERYWHERE = "/apis/resource.k8s.io/v1/resourceclaimtemplates"
MINUTE = 60


def path(described: DescribedDevices = GPU) -> str:
    return f"{COLLECTION}/{described.template}"


def using(
    controlled: ControlledCluster, name: str = "p", described: DescribedDevices = GPU, text: str | None = None
) -> None:
    """A pod that gets a claim from the template; its annotation describes the devices if it says nothing else."""
    said = TEXTS[described] if text is None else text
    metadata = {"annotations": {keys.HARDWARE: said} if said else {}}
    claims = [{"name": "gpu", "resourceClaimTemplateName": described.template}]
    spec = {"nodeName": "node-a", "containers": [], "resourceClaims": claims}
    controlled.kube.create(pod_path(name), metadata=metadata, spec=spec, status={"phase": "Running"})


def made(controlled: ControlledCluster) -> list[str]:
    return [one["metadata"]["name"] for one in controlled.kube.all(EVERYWHERE)]


def stored(controlled: ControlledCluster, described: DescribedDevices, **changes: Any) -> None:
    """A template as the controller makes it, but for these changes."""
    controlled.kube.create(path(described), **({**template_object("default", described)} | changes))


def told(controlled: ControlledCluster) -> list[tuple[str, str]]:
    return controlled.candidate.of_pods.all


async def test_pods_that_describe_the_same_share_a_template(controlled: ControlledCluster) -> None:
    await controlled.lead()
    for name in ("a", "b"):
        using(controlled, name)
    using(controlled, "c", NIC)
    controlled.pod("without", "node-a")
    await asyncio.sleep(1)
    assert sorted(made(controlled)) == sorted([GPU.template, NIC.template])
    (found,) = [one for one in controlled.kube.all(EVERYWHERE) if one["metadata"]["name"] == NIC.template]
    assert found["spec"] == template_object("default", NIC)["spec"]
    assert len(controlled.candidate.line.writes) == 2
    assert told(controlled) == []


async def test_pods_that_were_there_before_get_theirs(controlled: ControlledCluster) -> None:
    using(controlled)
    await controlled.lead(1)
    assert made(controlled) == [GPU.template]


async def test_a_pod_may_use_several(controlled: ControlledCluster) -> None:
    await controlled.lead()
    using(controlled, "a", text="")
    using(controlled, "b", text=f"{TEXTS[NIC][:-1]}, {TEXTS[GPU][1:-1]}, {{name: cpu, limits: 1}}]")
    await asyncio.sleep(1)
    assert (made(controlled), told(controlled)) == ([GPU.template], [])


async def test_none_is_made_where_that_is_switched_off() -> None:
    controlled = ControlledCluster("node-a", policy=Policy(described_devices=False))
    using(controlled)
    await controlled.lead()
    using(controlled, "b")
    await asyncio.sleep(MINUTE)
    assert made(controlled) == []
    await controlled.end()


async def test_an_hpaintent_describes_those_of_its_consumers(controlled: ControlledCluster) -> None:
    device = {"class": "gpu.example.com", "count": 2}
    consumer = {"name": "web", "apiVersion": "apps/v1", "kind": "Deployment"}
    other = {**consumer, "name": "db", "requirements": [{"name": "cpu", "limits": 1}]}
    spec = {"consumers": [other, {**consumer, "requirements": [{"device": device}]}]}
    controlled.kube.create("/apis/streams.ibm.com/v1/namespaces/default/streamshpaintents/i", spec=spec)
    await controlled.lead()
    using(controlled, text="")
    await asyncio.sleep(1)
    assert made(controlled) == [GPU.template]


async def test_a_pod_whose_devices_nothing_describes_any_more_is_told(controlled: ControlledCluster) -> None:
    await controlled.lead()
    using(controlled, text="[{name: cpu, limits: 1}]")
    await asyncio.sleep(4)
    before = list(told(controlled))
    await asyncio.sleep(3)
    assert (before, made(controlled)) == ([], [])
    assert told(controlled) == [
        (
            "DevicesNotDescribed",
            (
                f"ResourceClaimTemplate {GPU.template} is no longer described by an annotation or HPAIntent: delete "
                "the pod to have it recreated"
            ),
        )
    ]


async def test_a_template_of_a_name_of_the_users_own_is_left_to_the_user(controlled: ControlledCluster) -> None:
    await controlled.lead()
    claims = [{"name": "gpu", "resourceClaimTemplateName": "hpa-gpus"}]
    spec = {"nodeName": "node-a", "containers": [], "resourceClaims": claims}
    controlled.kube.create(pod_path("p"), metadata={}, spec=spec, status={"phase": "Pending"})
    await asyncio.sleep(MINUTE)
    assert (made(controlled), told(controlled)) == ([], [])


async def test_a_template_that_exists_needs_no_description(controlled: ControlledCluster) -> None:
    stored(controlled, GPU)
    await controlled.lead()
    using(controlled, text="")
    await asyncio.sleep(MINUTE)
    assert (told(controlled), controlled.candidate.line.writes) == ([], [])


async def test_a_template_goes_ten_minutes_after_its_last_pod(controlled: ControlledCluster) -> None:
    await controlled.lead()
    using(controlled, "a")
    using(controlled, "b")
    await asyncio.sleep(1)
    controlled.kube.delete(pod_path("a"))
    await asyncio.sleep(11 * MINUTE)
    controlled.kube.change(pod_path("b"), {"status": {"phase": "Succeeded"}})
    await asyncio.sleep(10 * MINUTE - 1)
    before = made(controlled)
    await asyncio.sleep(2)
    assert (before, made(controlled)) == ([GPU.template], [])


async def test_a_pod_that_comes_in_time_keeps_it(controlled: ControlledCluster) -> None:
    await controlled.lead()
    using(controlled, "a")
    await asyncio.sleep(1)
    controlled.kube.delete(pod_path("a"))
    await asyncio.sleep(9 * MINUTE)
    using(controlled, "b")
    await asyncio.sleep(30 * MINUTE)
    assert made(controlled) == [GPU.template]
    assert len(controlled.candidate.line.writes) == 1


async def test_one_that_comes_while_it_is_deleted_gets_a_new_one(controlled: ControlledCluster) -> None:
    stored(controlled, GPU)
    await controlled.lead()
    came = []

    def just_before(changed: str) -> None:
        if changed == path() and not came:
            came.append(changed)
            using(controlled)

    controlled.candidate.line.before = just_before
    await asyncio.sleep(11 * MINUTE)
    assert [what if isinstance(what, str) else "create" for _, what in controlled.candidate.line.writes] == [
        "delete",
        "create",
    ]
    assert made(controlled) == [GPU.template]


async def test_one_that_was_changed_meanwhile_is_not_deleted(controlled: ControlledCluster) -> None:
    stored(controlled, GPU)
    await controlled.lead()
    changed = []

    def just_before(at: str) -> None:
        if at == path() and not changed:
            changed.append(at)
            controlled.kube.change(path(), {"metadata": {"annotations": {"kept": "yes"}}})

    controlled.candidate.line.before = just_before
    await asyncio.sleep(11 * MINUTE)
    before = made(controlled)
    await asyncio.sleep(10 * MINUTE)
    assert (before, made(controlled)) == ([GPU.template], [])


@pytest.mark.parametrize(
    "changes",
    [{"metadata": {"labels": {}}}, {"spec": template_object("default", NIC)["spec"]}],
    ids=["without the label", "with other content"],
)
async def test_a_template_of_someone_else_is_never_deleted(
    controlled: ControlledCluster, changes: dict[str, Any]
) -> None:
    stored(controlled, GPU, **changes)
    controlled.kube.create(f"{COLLECTION}/mine", spec=template_object("default", GPU)["spec"])
    await controlled.lead(30 * MINUTE)
    assert sorted(made(controlled)) == sorted([GPU.template, "mine"])


async def test_the_pods_of_a_template_with_other_content_are_told(controlled: ControlledCluster) -> None:
    stored(controlled, GPU, spec=template_object("default", NIC)["spec"])
    await controlled.lead()
    using(controlled)
    await asyncio.sleep(1)
    assert told(controlled) == [
        (
            "DevicesNotDescribed",
            (
                f"ResourceClaimTemplate {GPU.template} has different content than 2 devices of DeviceClass "
                "gpu.example.com: delete it to have it recreated"
            ),
        )
    ]
    controlled.kube.delete(path())
    await asyncio.sleep(1)
    assert controlled.kube.objects[path()]["spec"] == template_object("default", GPU)["spec"]


async def test_at_most_a_hundred_are_made_in_a_namespace(controlled: ControlledCluster) -> None:
    every = [DescribedDevices(f"class-{number}") for number in range(102)]
    await controlled.lead()
    for number, described in enumerate(every):
        using(controlled, f"p{number}", described, f"[{{device: {{class: class-{number}}}}}]")
    await asyncio.sleep(10)
    told_of = {about.name for about in controlled.candidate.of_pods.about}
    assert (len(made(controlled)), len(told_of)) == (100, 2)
    assert told(controlled)[0][1].endswith("is not created: at most 100 may exist in a namespace")
    for number in range(50):
        controlled.kube.delete(pod_path(f"p{number}"))
    await asyncio.sleep(11 * MINUTE)
    assert len(made(controlled)) == 52


async def test_the_hundred_count_before_the_watch_has_brought_them(controlled: ControlledCluster) -> None:
    controlled.delays = {EVERYWHERE: 5.0}
    every = [DescribedDevices(f"class-{number}") for number in range(101)]
    for number, described in enumerate(every):
        using(controlled, f"p{number}", described, f"[{{device: {{class: class-{number}}}}}]")
    await controlled.lead(4)
    assert len(made(controlled)) == 100


async def test_what_the_api_server_refuses_is_told_and_tried_again(controlled: ControlledCluster) -> None:
    await controlled.lead()
    controlled.candidate.line.failures.append(ApiError(Cause.INVALID, "the selector does not compile"))
    using(controlled)
    await asyncio.sleep(1)
    assert told(controlled) == [
        (
            "DevicesNotDescribed",
            (
                f"ResourceClaimTemplate {GPU.template} of 2 devices of DeviceClass gpu.example.com cannot be made: the "
                "selector does not compile"
            ),
        )
    ]
    await asyncio.sleep(30)
    assert made(controlled) == [GPU.template]


async def test_what_fails_otherwise_is_tried_again_at_once(controlled: ControlledCluster) -> None:
    await controlled.lead()
    controlled.candidate.line.failures.append(ApiError(Cause.UNREACHABLE, "no connection"))
    using(controlled)
    await asyncio.sleep(2)
    assert (made(controlled), told(controlled)) == ([GPU.template], [])


async def test_one_that_another_made_at_the_same_time_serves_as_well(controlled: ControlledCluster) -> None:
    controlled.delays = {EVERYWHERE: 5.0}
    await controlled.lead()
    stored(controlled, GPU)
    using(controlled)
    await asyncio.sleep(10)
    assert (made(controlled), told(controlled)) == ([GPU.template], [])


async def test_a_deletion_that_fails_is_tried_again(controlled: ControlledCluster) -> None:
    stored(controlled, GPU)
    await controlled.lead(10 * MINUTE - 5)
    controlled.candidate.line.failures.append(ApiError(Cause.UNREACHABLE, "no connection"))
    await asyncio.sleep(MINUTE)
    assert made(controlled) == []


async def test_the_first_ten_pods_are_told(controlled: ControlledCluster) -> None:
    stored(controlled, GPU, spec=template_object("default", NIC)["spec"])
    for number in range(12):
        using(controlled, f"p{number}")
    await controlled.lead()
    assert len({about.name for about in controlled.candidate.of_pods.about}) == 10


async def test_a_pod_that_is_being_deleted_uses_none(controlled: ControlledCluster) -> None:
    await controlled.lead()
    using(controlled)
    await asyncio.sleep(1)
    controlled.kube.change(pod_path("p"), {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})
    await asyncio.sleep(11 * MINUTE)
    assert made(controlled) == []
