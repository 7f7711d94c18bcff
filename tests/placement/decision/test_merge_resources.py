"""What has to be written so that containers ask for what they are given."""

import pytest

from tests.placement.hardware_containers import FIRST, container, spec
from webhook.placement.decision.merge import ContainerAmounts, amounts, merge
from webhook.placement.kube.containers import Place
from webhook.placement.kube.pod import Pod, PodSpec
from webhook.placement.kube.quantity import NANO
from webhook.placement.provision.effects import SetResources

SECOND = Place(init=False, at=1)
CORE = SetResources("c", FIRST, "cpu", NANO, NANO)
SOME = SetResources("c", FIRST, "cpu", NANO)
BYTES = SetResources("c", FIRST, "memory", 2**30 * NANO, 2**31 * NANO)

WRITTEN: dict[str, tuple[PodSpec, list[SetResources], tuple[ContainerAmounts, ...]]] = {
    "all of it where there is nothing": (
        spec({"name": "a"}), [CORE], (ContainerAmounts(FIRST, {"cpu": "1"}, {"cpu": "1"}),)
    ),
    "no limit where none is given": (spec(container()), [SOME], (ContainerAmounts(FIRST, {"cpu": "1"}, {}),)),
    "several resources of one container": (
        spec(container()),
        [CORE, BYTES],
        (ContainerAmounts(FIRST, {"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "memory": "2Gi"}),),
    ),
    "each container by itself": (
        spec(container("a"), container("b")),
        [CORE, SetResources("c", SECOND, "cpu", 2 * NANO)],
        (ContainerAmounts(FIRST, {"cpu": "1"}, {"cpu": "1"}), ContainerAmounts(SECOND, {"cpu": "2"}, {})),
    ),
    "only what differs": (
        spec(container("a", {"cpu": "1000m"}, {"cpu": "2"})), [CORE], (ContainerAmounts(FIRST, {}, {"cpu": "1"}),)
    ),
    "nothing of what is there, however it is written": (spec(container("a", {"cpu": "1e0"}, {"cpu": 1})), [CORE], ()),
    "a limit that is not given stays": (spec(container("a", {"cpu": "1"}, {"cpu": "4"})), [SOME], ()),
    "nothing for nobody": (spec(container()), [], ()),
}  # fmt: skip


@pytest.mark.parametrize(("found", "effects", "expected"), WRITTEN.values(), ids=WRITTEN)
def test_amounts_are_written(
    found: PodSpec, effects: list[SetResources], expected: tuple[ContainerAmounts, ...]
) -> None:
    assert amounts(found, effects) == expected


def test_merging_writes_them_and_says_what_asked_for_them() -> None:
    additions, problems = merge(Pod(spec=spec(container())), [CORE, SetResources("d", FIRST, "cpu", NANO, NANO)])
    assert (additions.resources, additions.missing, problems) == (
        (ContainerAmounts(FIRST, {"cpu": "1"}, {"cpu": "1"}),),
        ("resources",),
        (),
    )
    assert additions.injected == '{"resources":["c","d"]}'
