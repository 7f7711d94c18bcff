"""Exclusive CPUs: the rules of Kubernetes for class Guaranteed, and those of the kubelet's static CPU manager."""

import pytest

from tests.builders import Json
from tests.placement.hardware_containers import FIRST, container, guaranteed, spec
from webhook.placement.kube.containers import at, resources_at
from webhook.placement.kube.pod import PodSpec
from webhook.placement.kube.quantity import NANO
from webhook.placement.provision.exclusive_cpus import amounts, exclusive, flaw

BOTH = {"cpu": "2", "memory": "1Gi"}
POD_LEVEL = "the pod has resources at pod level, which the CPU manager does not count"

GUARANTEED: dict[str, PodSpec] = {
    "requests are limits": spec(guaranteed()),
    "limits alone": spec(container(limits=BOTH)),
    "however they are written": spec(container(requests={"cpu": 2, "memory": 2**30}, limits=BOTH)),
    "a fraction of a core": spec(guaranteed(cpu="1500m")),
    "every container": spec(guaranteed("a"), guaranteed("b"), init=(guaranteed("i"),)),
    "other resources do not count": spec(
        container(requests=BOTH, limits={**BOTH, "example.com/gpu": "1", "ephemeral-storage": "1Gi"})
    ),
}


@pytest.mark.parametrize("found", GUARANTEED.values(), ids=GUARANTEED)
def test_a_pod_is_guaranteed_if_every_container_has_its_limits(found: PodSpec) -> None:
    assert flaw(found) == ""


FLAWS: dict[str, tuple[PodSpec, str]] = {
    "nothing at all": (spec({"name": "a"}), 'container "a" has no cpu limit'),
    "requests alone": (spec(container("a", BOTH)), 'container "a" has no cpu limit'),
    "no memory": (spec(container("a", limits={"cpu": "1"})), 'container "a" has no memory limit'),
    "no cpu": (spec(container("a", limits={"memory": "1Gi"})), 'container "a" has no cpu limit'),
    "a limit of nothing": (
        spec(container("a", limits={"cpu": "0", "memory": "1Gi"})), 'container "a" has no cpu limit'
    ),
    "a limit that is none": (
        spec(container("a", limits={"cpu": "two", "memory": "1Gi"})), 'container "a" has no cpu limit'
    ),
    "a request that is none": (
        spec(container("a", {"cpu": "two"}, BOTH)), 'container "a" has a cpu request that differs from its limit'
    ),
    "less cpu requested": (
        spec(container("a", {"cpu": "1"}, BOTH)), 'container "a" has a cpu request that differs from its limit'
    ),
    "less memory requested": (
        spec(container("a", {"memory": "1"}, BOTH)), 'container "a" has a memory request that differs from its limit'
    ),
    "a request of nothing": (
        spec(container("a", {"memory": "0"}, BOTH)), 'container "a" has a memory request that differs from its limit'
    ),
    "another container": (spec(guaranteed(), container("mesh", {"cpu": "10m"})), 'container "mesh" has no cpu limit'),
    "an init container": (
        spec(guaranteed(), init=(guaranteed("i"), container("j"))), 'init container "j" has no cpu limit'
    ),
    "a sidecar": (
        spec(guaranteed(), init=(container("mesh", restartPolicy="Always"),)), 'init container "mesh" has no cpu limit'
    ),
    "the pod's own cpu": (spec(guaranteed(), resources={"limits": BOTH}), POD_LEVEL),
    "the pod's own huge pages": (spec(guaranteed(), resources={"limits": {"hugepages-2Mi": "2Mi"}}), POD_LEVEL),
    "the pod's own nothing": (spec(guaranteed(), resources={}), POD_LEVEL),
}  # fmt: skip
"""Kubernetes looks at nothing but the pod's own resources where a pod has such, be it none of them."""


@pytest.mark.parametrize(("found", "expected"), FLAWS.values(), ids=FLAWS)
def test_the_first_flaw_is_named(found: PodSpec, expected: str) -> None:
    assert flaw(found) == expected


CORES: dict[str, tuple[Json, int]] = {
    "one": (guaranteed(cpu="1"), 1),
    "several": (guaranteed(cpu="4"), 4),
    "in thousandths": (guaranteed(cpu="3000m"), 3),
    "limits alone": (container(limits=BOTH), 2),
    "a fraction": (guaranteed(cpu="1500m"), 0),
    "less than one": (guaranteed(cpu="500m"), 0),
    "a request below the limit": (container("a", {"cpu": "1", "memory": "1Gi"}, BOTH), 0),
    "no memory": (container("a", limits={"cpu": "4"}), 0),
    "nothing": ({"name": "a"}, 0),
}


@pytest.mark.parametrize(("found", "expected"), CORES.values(), ids=CORES)
def test_a_container_gets_whole_cores_for_itself(found: Json, expected: int) -> None:
    assert exclusive(at(spec(found), FIRST)) == expected


@pytest.mark.parametrize(
    ("requests", "limits", "expected"),
    [
        pytest.param({"cpu": "500m"}, {"cpu": "1"}, (NANO // 2, NANO), id="both"),
        pytest.param(None, {"cpu": "1"}, (NANO, NANO), id="a limit is the request"),
        pytest.param({"memory": "1"}, {"cpu": "1"}, (NANO, NANO), id="beside requests of others"),
        pytest.param({"cpu": "1"}, None, (NANO, 0), id="no limit"),
        pytest.param({"cpu": "x"}, {"cpu": "y"}, (0, 0), id="what is no quantity"),
        pytest.param(None, None, (0, 0), id="nothing"),
    ],
)
def test_amounts_are_a_request_and_a_limit(
    requests: Json | None, limits: Json | None, expected: tuple[int, int]
) -> None:
    assert amounts(resources_at(spec(container("a", requests, limits)), FIRST), "cpu") == expected
