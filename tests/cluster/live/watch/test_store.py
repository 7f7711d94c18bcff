"""The objects of one kind: what can be used is in the sink, what cannot is named, and lists take away what is gone."""

import json
from typing import Any

import pytest
from msgspec import Raw

from tests.cluster.objects import Recorder, consumer, intent, limit_range, namespace, node, pod, pool
from webhook.cluster.objects import items
from webhook.cluster.objects.kinds import (
    CLAIM_TEMPLATES,
    DEVICE_CLASSES,
    INTENTS,
    JOBS,
    KINDS,
    LIMIT_RANGES,
    NAMESPACES,
    NODE_TOPOLOGIES,
    NODES,
    PODS,
    POOLS,
    PRIORITY_CLASSES,
    RESOURCE_CLAIMS,
    RESOURCE_SLICES,
    RUNTIME_CLASSES,
    TAINT_RULES,
    AnyKind,
)
from webhook.cluster.objects.report import FINDING_LIMIT, Finding
from webhook.cluster.watch.store import Store
from webhook.placement.objects.node import Node


class StoreWithSink:
    """A shelf, its sink, and what it told."""

    def __init__(self, kind: AnyKind = NODES, sink: Recorder | None = None) -> None:
        self.told: list[Finding] = []
        self.sink = sink or Recorder()
        self.store = Store(kind, self.sink, self.told.append)

    def put(self, *objects: Any) -> None:
        for item in objects:
            self.store.put(raw(item))

    def listing(self, *objects: Any) -> None:
        self.store.begin()
        self.put(*objects)
        for _ in self.store.end():
            pass

    @property
    def sentences(self) -> list[str]:
        return [str(finding) for finding in self.told]


def raw(item: object) -> Raw:
    return Raw(json.dumps(item).encode())


def bad(name: str = "node-a") -> dict[str, Any]:
    return node(name, status={"allocatable": ["cpu"]})


BAD = "Node node-a: status.allocatable: expected `object | null`, got `array`"


def test_an_object_goes_into_the_sink() -> None:
    kept = StoreWithSink()
    kept.put(node())
    assert ([*kept.sink.nodes], [*kept.store.known]) == (["node-a"], ["node-a"])


def test_an_object_that_is_gone_leaves_the_sink() -> None:
    kept = StoreWithSink()
    kept.put(node())
    kept.store.remove("node-a")
    assert (kept.sink.nodes, [*kept.store.known]) == ({}, [])


def test_removing_what_is_not_there_is_nothing() -> None:
    kept = StoreWithSink()
    kept.store.remove("node-a")
    assert not kept.store.known


def test_a_list_takes_away_what_it_does_not_name() -> None:
    kept = StoreWithSink()
    kept.put(node("node-a"), node("node-b"))
    kept.listing(node("node-b"), node("node-c"))
    assert [*kept.sink.nodes] == ["node-b", "node-c"]


def test_nothing_is_taken_away_before_the_list_is_complete() -> None:
    kept = StoreWithSink()
    kept.put(node("node-a"))
    kept.store.begin()
    kept.put(node("node-b"))
    assert [*kept.sink.nodes] == ["node-a", "node-b"]


def test_a_list_that_was_broken_off_does_not_matter_to_the_next() -> None:
    kept = StoreWithSink()
    kept.put(node("node-a"))
    kept.store.begin()
    kept.put(node("node-b"))
    kept.listing(node("node-a"))
    assert [*kept.sink.nodes] == ["node-a"]


def test_what_is_removed_during_a_list_is_removed_once() -> None:
    kept = StoreWithSink()
    kept.put(node("node-a"))
    kept.store.begin()
    kept.store.remove("node-a")
    assert [*kept.store.end()] == []


def test_an_object_that_cannot_be_used_is_named() -> None:
    kept = StoreWithSink()
    kept.put(bad())
    assert (kept.sink.nodes, kept.sentences, [*kept.store.skipped]) == ({}, [BAD], ["node-a"])


def test_an_object_that_cannot_be_used_any_more_leaves_the_sink() -> None:
    kept = StoreWithSink()
    kept.put(node(), bad())
    assert (kept.sink.nodes, kept.sentences) == ({}, [BAD])


def test_a_bad_object_is_told_of_once() -> None:
    kept = StoreWithSink()
    kept.put(bad(), bad())
    kept.listing(bad())
    assert kept.sentences == [BAD]


def test_a_bad_object_that_was_corrected_is_forgotten() -> None:
    kept = StoreWithSink()
    kept.put(bad(), node())
    assert ([*kept.sink.nodes], kept.store.skipped) == (["node-a"], {})


def test_a_bad_object_that_is_gone_is_forgotten() -> None:
    kept = StoreWithSink()
    kept.put(bad("node-a"), bad("node-b"))
    kept.listing(bad("node-b"))
    assert [*kept.store.skipped] == ["node-b"]


def test_a_bad_object_does_not_cost_the_good_ones() -> None:
    kept = StoreWithSink()
    kept.listing(node("node-a"), bad("node-b"), node("node-c"))
    assert [*kept.sink.nodes] == ["node-a", "node-c"]


def test_a_bad_object_without_a_name_is_counted() -> None:
    kept = StoreWithSink()
    kept.listing(["no", "object"], {"metadata": {"name": 5}}, {})
    assert (len(kept.store.skipped), kept.sentences) == (
        3,
        [
            "Node without a name: expected `object`, got `array`",
            "Node without a name: metadata.name: expected `str | null`, got `int`",
            "Node without a name: metadata.name: missing",
        ],
    )


def test_bad_objects_without_a_name_are_forgotten_by_the_next_list() -> None:
    kept = StoreWithSink()
    kept.listing({}, {})
    kept.listing({})
    assert len(kept.store.skipped) == 1


def test_more_bad_objects_than_are_named_are_counted() -> None:
    kept = StoreWithSink()
    kept.listing(*(bad(f"node-{number}") for number in range(FINDING_LIMIT + 2)))
    assert (len(kept.store.skipped), len(kept.told)) == (FINDING_LIMIT + 2, FINDING_LIMIT)


def test_an_object_that_breaks_this_program_is_skipped() -> None:
    class Broken(Recorder):
        def set_node(self, node: Node) -> None:
            raise ZeroDivisionError(node.name)

    kept = StoreWithSink(sink=Broken())
    kept.put(node())
    assert kept.sentences == ["Node node-a: unforeseen: ZeroDivisionError: node-a"]


def test_parts_that_were_left_out_are_told_of_once() -> None:
    odd = node(spec={"taints": [{"effect": "NoSchedule"}]})
    kept = StoreWithSink()
    kept.put(odd, odd)
    assert kept.sentences == ["Node node-a: spec.taints[0].key: missing, the taint is left out"]


def test_parts_that_were_left_out_are_forgotten_when_all_is_used() -> None:
    kept = StoreWithSink()
    kept.put(node(spec={"taints": [{"effect": "NoSchedule"}]}), node())
    assert kept.store.noted == {}


def test_parts_that_were_left_out_are_forgotten_with_the_object() -> None:
    kept = StoreWithSink()
    kept.put(node(spec={"taints": [{"effect": "NoSchedule"}]}))
    kept.listing()
    assert kept.store.noted == {}


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_has_finished_leaves_the_sink(phase: str) -> None:
    kept = StoreWithSink(PODS)
    kept.put(pod(), pod(phase=phase))
    assert (kept.sink.pods, [*kept.store.known]) == ({}, [])


def test_a_pod_is_known_by_its_uid() -> None:
    kept = StoreWithSink(PODS)
    kept.put(pod(uid="one"), pod(uid="two"))
    assert [*kept.sink.pods] == ["one", "two"]


def test_a_pod_without_a_uid_is_known_by_its_name() -> None:
    kept = StoreWithSink(PODS)
    kept.put(pod(uid=None))
    identity = items.identity(raw(pod(uid="")))
    assert (PODS.key(identity), [*kept.sink.pods]) == ("default/web-1", ["default/web-1"])


def test_pods_that_the_sink_has_are_known() -> None:
    kept = StoreWithSink(PODS)
    kept.put(pod())
    assert kept.store.known == {"uid-web-1"} == kept.sink.pods.keys()


def test_pools_of_the_same_name_in_two_namespaces_are_two() -> None:
    kept = StoreWithSink(POOLS)
    kept.put(pool(metadata={"name": "p", "namespace": "a"}), pool(metadata={"name": "p", "namespace": "b"}))
    kept.store.remove("a/p")
    assert [*kept.sink.pools] == [("b", "p")]


def test_a_job_can_be_removed() -> None:
    kept = StoreWithSink(JOBS)
    kept.put({"metadata": {"name": "j", "namespace": "a"}})
    kept.store.remove("a/j")
    assert kept.sink.jobs == {}


def test_an_intent_can_be_removed() -> None:
    kept = StoreWithSink(INTENTS)
    kept.put(intent(name="a"), intent(name="b", namespace="edge"))
    kept.store.remove("default/a")
    assert [*kept.sink.intents.found] == [("edge", "b")]


def test_a_limit_range_can_be_removed() -> None:
    kept = StoreWithSink(LIMIT_RANGES)
    kept.put(limit_range("a"), limit_range("b"))
    kept.store.remove("default/a")
    assert [*kept.sink.pod_defaults.limit_ranges] == [("default", "b")]


def test_what_is_wrong_in_an_intent_is_told_and_it_stays() -> None:
    kept = StoreWithSink(INTENTS)
    kept.put(intent(consumer({"name": "cpu"})))
    assert [*kept.sink.intents.found] == [("default", "fwall")]
    assert kept.sentences == [
        "HPAIntent default/fwall: spec.consumers[0].requirements[0]: needs requests or limits: how much of cpu"
    ]


def test_an_intent_that_is_not_an_object_is_skipped() -> None:
    kept = StoreWithSink(INTENTS)
    kept.put({"metadata": {"name": "a", "labels": 5}})
    assert kept.sentences == ["HPAIntent a: metadata.labels: expected `object | null`, got `int`"]


def test_a_namespace_that_loses_its_label_leaves_the_sink() -> None:
    kept = StoreWithSink(NAMESPACES)
    kept.put(namespace(), namespace(inject=None), namespace("other"))
    assert (kept.sink.intents.enabled, [*kept.store.known]) == ({"other"}, ["other"])


@pytest.mark.parametrize(
    ("kind", "path", "resource"),
    [
        pytest.param(NODES, "/api/v1/nodes", "nodes", id="Node"),
        pytest.param(PODS, "/api/v1/pods", "pods", id="Pod"),
        pytest.param(
            POOLS, "/apis/streams.ibm.com/v1/streamshostpools", "streamshostpools.streams.ibm.com", id="HostPool"
        ),
        pytest.param(JOBS, "/apis/streams.ibm.com/v1/streamsjobs", "streamsjobs.streams.ibm.com", id="Job"),
        pytest.param(
            INTENTS, "/apis/streams.ibm.com/v1/streamshpaintents", "streamshpaintents.streams.ibm.com", id="HPAIntent"
        ),
        pytest.param(NAMESPACES, "/api/v1/namespaces", "namespaces", id="Namespace"),
        pytest.param(
            DEVICE_CLASSES,
            "/apis/resource.k8s.io/v1/deviceclasses",
            "deviceclasses.resource.k8s.io",
            id="DeviceClass",
        ),
        pytest.param(
            RESOURCE_SLICES,
            "/apis/resource.k8s.io/v1/resourceslices",
            "resourceslices.resource.k8s.io",
            id="ResourceSlice",
        ),
        pytest.param(
            RESOURCE_CLAIMS,
            "/apis/resource.k8s.io/v1/resourceclaims",
            "resourceclaims.resource.k8s.io",
            id="ResourceClaim",
        ),
        pytest.param(
            CLAIM_TEMPLATES,
            "/apis/resource.k8s.io/v1/resourceclaimtemplates",
            "resourceclaimtemplates.resource.k8s.io",
            id="ResourceClaimTemplate",
        ),
        pytest.param(
            TAINT_RULES,
            "/apis/resource.k8s.io/v1/devicetaintrules",
            "devicetaintrules.resource.k8s.io",
            id="DeviceTaintRule",
        ),
        pytest.param(
            NODE_TOPOLOGIES,
            "/apis/topology.node.k8s.io/v1/noderesourcetopologies",
            "noderesourcetopologies.topology.node.k8s.io",
            id="NodeResourceTopology",
        ),
        pytest.param(LIMIT_RANGES, "/api/v1/limitranges", "limitranges", id="LimitRange"),
        pytest.param(
            RUNTIME_CLASSES, "/apis/node.k8s.io/v1/runtimeclasses", "runtimeclasses.node.k8s.io", id="RuntimeClass"
        ),
        pytest.param(
            PRIORITY_CLASSES,
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            "priorityclasses.scheduling.k8s.io",
            id="PriorityClass",
        ),
    ],
)
def test_a_kind_knows_where_the_api_server_has_it(kind: AnyKind, path: str, resource: str) -> None:
    assert (kind.path, kind.full_resource) == (path, resource)


def test_of_two_kinds_older_versions_are_read_too() -> None:
    rules = tuple(f"/apis/resource.k8s.io/{version}/devicetaintrules" for version in ("v1", "v1beta2", "v1alpha3"))
    of_nodes = "/apis/topology.node.k8s.io"
    zones = tuple(f"{of_nodes}/{version}/noderesourcetopologies" for version in ("v1", "v1alpha2", "v1alpha1"))
    versions = {kind.name: kind.api.paths for kind in KINDS if len(kind.api.paths) > 1}
    assert versions == {"DeviceTaintRule": rules, "NodeResourceTopology": zones}


def test_fifteen_kinds_are_needed() -> None:
    own = NODES, PODS, POOLS, JOBS, INTENTS, NAMESPACES
    devices = DEVICE_CLASSES, RESOURCE_SLICES, RESOURCE_CLAIMS, CLAIM_TEMPLATES, TAINT_RULES
    assert (*own, *devices, NODE_TOPOLOGIES, LIMIT_RANGES, RUNTIME_CLASSES, PRIORITY_CLASSES) == KINDS
