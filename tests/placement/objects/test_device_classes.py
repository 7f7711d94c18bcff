"""Extended resources that DeviceClasses map, and ResourceClaims: what only the scheduler knows refuses nobody."""

import itertools
from typing import Any

import pytest

from tests.builders import OUTRIGHT, Json, cluster, decided, job, node, nodes, pod
from tests.placement.hardware_containers import GPU, amount, equipped, required, wanted
from tests.placement.planning.at_once import job_spec, judged
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.pod import Resources
from webhook.placement.objects.device_classes import DeviceClass, DeviceClasses
from webhook.placement.objects.jobs.job import Element, StreamsJob
from webhook.placement.objects.jobs.job_model import JobModel
from webhook.placement.objects.node import Node
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault

CLASS = DeviceClass("gpu.example.com", GPU)
IMPLICIT_OF = "deviceclass.resource.kubernetes.io/"
IMPLICIT = f"{IMPLICIT_OF}gpu.example.com"
MONDAY, TUESDAY = "2026-03-02T09:00:00Z", "2026-03-03T09:00:00Z"
CLAIMS: Json = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "mine"}]}
CLAIMED = "spec.resourceClaims: ResourceClaims are not judged; the pod waits until devices that meet them are free"
SCHEDULED = "devices of DeviceClass gpu.example.com are not judged; the pod waits until some are free"


def mapped(*machines: Node, classes: tuple[DeviceClass, ...] = (CLASS,)) -> Inventory:
    """A cluster with these DeviceClasses; of two plain nodes, if none are given."""
    inventory = cluster(machines or nodes(2), jobs=[job({"parallel-0": ""})])
    for found in classes:
        inventory.devices.put_class(found)
    return inventory


def asking(name: str = GPU, count: str = "1", **tweaks: Any) -> Json:
    both = {name: count}
    return pod(containers=[{"name": "runtime", "resources": {"requests": both, "limits": both}}], **tweaks)


@pytest.mark.parametrize("name", [GPU, IMPLICIT])
def test_a_resource_of_a_class_refuses_no_pod(name: str) -> None:
    found = decided(asking(name), mapped())
    assert (found.refused, found.warnings) == (False, (f"{name}: {SCHEDULED}",))


@pytest.mark.parametrize(
    "classes",
    [
        pytest.param((), id="no class"),
        pytest.param((DeviceClass("gpu.example.com"),), id="a class without a resource"),
        pytest.param((DeviceClass("nic.example.com", "example.com/nic"),), id="the class of another resource"),
    ],
)
def test_a_resource_of_no_class_and_no_node_refuses_it(classes: tuple[DeviceClass, ...]) -> None:
    assert decided(asking(), mapped(classes=classes)).headline == (
        "requests example.com/gpu 1 cannot hold: 0 of 2 nodes can run this pod."
    )


def test_several_resources_share_a_warning() -> None:
    classes = [DeviceClass(f"{name}.example.com", f"example.com/{name}") for name in ("fpga", "gpu", "nic")]
    both = {found.resource: 1 for found in classes}
    found = pod(containers=[{"name": "runtime", "resources": {"requests": both, "limits": both}}])
    assert decided(found, mapped(classes=tuple(classes))).warnings == (
        (
            "example.com/fpga, example.com/gpu and 1 more: devices of DeviceClasses fpga.example.com, gpu.example.com "
            "and 1 more are not judged; the pod waits until some are free"
        ),
    )


def test_all_else_that_it_requests_is_judged() -> None:
    both = {GPU: "1", "cpu": "64"}
    found = pod(containers=[{"name": "runtime", "resources": {"requests": both, "limits": both}}])
    assert decided(found, mapped()).headline == "requests cpu 64 cannot hold: 0 of 2 nodes can run this pod."


def test_a_claim_is_warned_of() -> None:
    found = decided(pod(**CLAIMS), mapped())
    assert (found.refused, found.warnings) == (False, (CLAIMED,))


def test_devices_are_left_to_the_scheduler() -> None:
    found = decided(asking(placement='host("node-a")'), mapped())
    assert (found.refused, found.additions and found.additions.node_name) == (False, "")


def test_devices_are_not_to_be_had_past_the_scheduler() -> None:
    found = decided(asking(placement='host("node-a")', annotations=OUTRIGHT), mapped())
    assert (found.fault, found.message) == (
        Fault.INVALID,
        (
            "metadata.annotations[streams.ibm.com/host-binding]: nodeName bypasses the scheduler, which alone enforces "
            "devices for example.com/gpu: set it to auto, or remove what only the scheduler enforces"
        ),
    )


# Hardware


@pytest.mark.parametrize("name", [GPU, IMPLICIT])
def test_required_hardware_of_a_class_counts_as_offered(name: str) -> None:
    found = decided(pod(annotations=required(amount(name, 1))), mapped())
    assert (found.refused, found.warnings) == (False, (f"{name}: {SCHEDULED}",))
    assert found.additions
    assert [given.limits for given in found.additions.resources] == [{name: "1"}]


def test_hardware_given_before_is_kept() -> None:
    found = decided(asking(annotations=required(amount(GPU, 1))), mapped())
    assert (found.refused, found.additions and found.additions.resources) == (False, ())


def test_optional_hardware_of_a_class_is_left_out() -> None:
    found = decided(pod(annotations=required(wanted(GPU))), mapped())
    assert found.additions
    assert (found.additions.resources, found.warnings) == (
        (),
        (
            (
                "hardware example.com/gpu 1 is not requested: no node that could run this pod has it free, and devices "
                "of DeviceClass gpu.example.com are not judged"
            ),
        ),
    )


def test_optional_hardware_that_a_node_has_is_given_beside_devices_of_a_class() -> None:
    other = DeviceClass("nic.example.com", "example.com/nic")
    found = decided(
        pod(annotations=required(amount("example.com/nic", 1), wanted(GPU))),
        mapped(equipped("node-a", 1), classes=(other,)),
    )
    assert found.additions
    assert [sorted(given.requests) for given in found.additions.resources] == [["example.com/gpu", "example.com/nic"]]


@pytest.mark.parametrize("more", [{}, {"cpu": "2"}])
def test_a_share_of_the_resources_of_a_job_may_be_devices(more: dict[str, str]) -> None:
    inventory = mapped()
    stated = Resources(requests={GPU: "1", **more}, limits={GPU: "1", **more})
    inventory.jobs["default", "parallel"] = JobModel(
        StreamsJob("default", "parallel", (Element("parallel-0"),), resources=stated)
    )
    found = decided(pod(), inventory)
    assert (found.refused, found.warnings) == (False, (f"{GPU}: {SCHEDULED}",))
    assert found.additions
    assert [given.limits for given in found.additions.resources] == [stated.limits]


# Jobs


def test_a_job_is_told_once_what_is_left_to_the_scheduler() -> None:
    both = {GPU: "1"}
    containers = [{"name": "main", "resources": {"requests": both, "limits": both}}]
    element = {"template": {"spec": {"containers": containers, **CLAIMS}}}
    found = judged(job_spec(*({"name": f"app-{at}", **element} for at in range(3))), mapped())
    said = tuple(f"processing element app-0: {warning}" for warning in (f"{GPU}: {SCHEDULED}", CLAIMED))
    assert (found.refused, found.warnings) == (False, said)


# The classes


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param({"a": MONDAY, "b": TUESDAY, "c": MONDAY}, "b", id="the newest"),
        pytest.param({"a": MONDAY, "b": TUESDAY, "c": TUESDAY}, "b", id="the first by name of equally old ones"),
        pytest.param({"a": "", "b": "", "c": ""}, "a", id="the first by name of those that are not created"),
        pytest.param({"a": "", "b": "", "c": MONDAY}, "c", id="one that is created before those that are not"),
    ],
)
def test_of_several_classes_the_one_of_the_scheduler_counts(found: dict[str, str], expected: str) -> None:
    for names in itertools.permutations(found):
        classes = DeviceClasses()
        for name in names:
            classes.put(DeviceClass(name, GPU, found[name]))
        assert [classes.class_of(name) for name in (GPU, f"{IMPLICIT_OF}a", "cpu")] == [expected, "a", ""]


def test_a_class_that_is_made_again_is_the_newest() -> None:
    classes = DeviceClasses()
    for name, created in (("a", MONDAY), ("b", MONDAY), ("b", TUESDAY)):
        classes.put(DeviceClass(name, GPU, created))
    assert classes.class_of(GPU) == "b"


def test_an_older_class_counts_again_once_the_newest_is_gone() -> None:
    classes = DeviceClasses()
    for name, created in (("a", MONDAY), ("b", TUESDAY)):
        classes.put(DeviceClass(name, GPU, created))
    classes.drop("b")
    assert classes.class_of(GPU) == "a"


def test_the_warning_names_the_class_of_the_scheduler() -> None:
    inventory = mapped(classes=(DeviceClass("a.example.com", GPU, MONDAY), DeviceClass("b.example.com", GPU, TUESDAY)))
    assert decided(asking(), inventory).warnings == (
        f"{GPU}: devices of DeviceClass b.example.com are not judged; the pod waits until some are free",
    )


def test_a_class_that_goes_is_forgotten() -> None:
    classes = DeviceClasses()
    classes.put(CLASS)
    classes.drop(CLASS.name)
    assert (classes.class_of(GPU), classes.class_of(IMPLICIT)) == ("", "")


def test_the_version_counts_changes_alone() -> None:
    classes = DeviceClasses()
    versions = []
    for change in (classes.put, classes.put):
        change(CLASS)
        versions.append(classes.version)
    classes.drop("other")
    assert [*versions, classes.version] == [1, 1, 1]


def test_a_class_that_is_replaced_maps_its_new_resource_alone() -> None:
    inventory = mapped()
    inventory.devices.put_class(DeviceClass(CLASS.name, "example.com/other"))
    assert decided(asking(), inventory).refused
    assert not decided(asking("example.com/other"), inventory).refused


def test_a_pod_that_waits_for_a_device_still_needs_a_node() -> None:
    found = decided(asking(annotations={keys.PLACEMENT: 'host("gone")'}), mapped(node("node-a")))
    assert found.headline == 'host("gone") cannot hold: 0 of 1 node can run this pod.'
