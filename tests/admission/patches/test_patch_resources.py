"""Patch operations for what containers ask for."""

import pytest

from tests.admission.patches.patch_samples import after, steps
from tests.builders import Json, cluster, nodes, pod
from tests.placement.hardware_containers import GPU, amount, container, equipped, required

ONE = cluster(nodes(1))
DEVICES = cluster([equipped("node-a", 1)])
CORE = required(amount("cpu", 2))
BOTH: Json = {"requests": {"cpu": "2"}, "limits": {"cpu": "2"}}

THERE: dict[str, tuple[Json, list[Json]]] = {
    "nothing": (
        {},
        [
            {"op": "add", "path": "/spec/containers/0/resources", "value": {}},
            {"op": "add", "path": "/spec/containers/0/resources/requests", "value": {"cpu": "2"}},
            {"op": "add", "path": "/spec/containers/0/resources/limits", "value": {"cpu": "2"}},
        ],
    ),
    "null": (
        {"resources": None},
        [
            {"op": "add", "path": "/spec/containers/0/resources", "value": {}},
            {"op": "add", "path": "/spec/containers/0/resources/requests", "value": {"cpu": "2"}},
            {"op": "add", "path": "/spec/containers/0/resources/limits", "value": {"cpu": "2"}},
        ],
    ),
    "no amounts": (
        {"resources": {}},
        [
            {"op": "add", "path": "/spec/containers/0/resources/requests", "value": {"cpu": "2"}},
            {"op": "add", "path": "/spec/containers/0/resources/limits", "value": {"cpu": "2"}},
        ],
    ),
    "amounts that are null": (
        {"resources": {"requests": None, "limits": None}},
        [
            {"op": "add", "path": "/spec/containers/0/resources/requests", "value": {"cpu": "2"}},
            {"op": "add", "path": "/spec/containers/0/resources/limits", "value": {"cpu": "2"}},
        ],
    ),
    "another amount": (
        {"resources": {"requests": {"cpu": "1"}, "limits": {}}},
        [
            {"op": "replace", "path": "/spec/containers/0/resources/requests/cpu", "value": "2"},
            {"op": "add", "path": "/spec/containers/0/resources/limits/cpu", "value": "2"},
        ],
    ),
    "one of both already": (
        {"resources": {"requests": {"cpu": 2}, "limits": {"cpu": "4"}}},
        [{"op": "replace", "path": "/spec/containers/0/resources/limits/cpu", "value": "2"}],
    ),
    "both already": ({"resources": {"requests": {"cpu": "2000m"}, "limits": {"cpu": 2.0}}}, []),
}


@pytest.mark.parametrize(("there", "expected"), THERE.values(), ids=THERE)
def test_amounts_are_written_over(there: Json, expected: list[Json]) -> None:
    found = pod(containers=[{"name": "a", **there}], annotations=CORE)
    assert [step for step in steps(found, ONE) if step["path"].startswith("/spec")] == expected


@pytest.mark.parametrize(("there", "_"), THERE.values(), ids=THERE)
def test_a_second_pass_writes_nothing(there: Json, _: object) -> None:
    made = after(pod(containers=[{"name": "a", **there}], annotations=CORE), ONE)
    assert steps(made, ONE) == []


def test_names_of_devices_are_escaped() -> None:
    found = pod(containers=[container("a", {}, {})], annotations=required(amount(GPU, 1)))
    paths = [step["path"] for step in steps(found, DEVICES)]
    assert "/spec/containers/0/resources/limits/example.com~1gpu" in paths
    assert after(found, DEVICES)["spec"]["containers"][0]["resources"]["limits"] == {GPU: "1"}


def test_each_container_is_written_in_its_place() -> None:
    found = pod(
        containers=[container("a"), container("b")],
        initContainers=[container("i"), container("j")],
        annotations=required(amount("cpu", 2, of="b"), amount("cpu", 2, of="j")),
    )
    spec = after(found, ONE)["spec"]
    assert [made["resources"] for made in (*spec["containers"], *spec["initContainers"])] == [{}, BOTH, {}, BOTH]


def test_what_else_a_container_says_stays() -> None:
    there = {"name": "a", "image": "x", "resources": {"claims": [{"name": "c"}], "limits": {"memory": "1Gi"}}}
    made = after(pod(containers=[there], annotations=CORE), ONE)["spec"]["containers"][0]
    assert made == {
        "name": "a",
        "image": "x",
        "resources": {
            "claims": [{"name": "c"}],
            "limits": {"memory": "1Gi", "cpu": "2"},
            "requests": {"cpu": "2"},
        },
    }
