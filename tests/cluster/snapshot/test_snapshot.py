"""A cluster read from files as kubectl prints them."""

import json
from pathlib import Path

import pytest
import yaml

from tests.cluster.objects import (
    Recorder,
    claim_template,
    consumer,
    device_class,
    intent,
    job,
    limit_range,
    listed,
    namespace,
    node,
    node_topology,
    pod,
    pool,
    priority_class,
    resource_claim,
    resource_slice,
    runtime_class,
    taint_rule,
)
from tests.yaml_values import loaded
from webhook.cluster.objects.report import Report, SnapshotError
from webhook.cluster.snapshot.snapshot import read_snapshot
from webhook.placement.devices.published.devices import DevicePart
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Phase, Pool, PoolHost

KUBECTL_YAML = """\
apiVersion: v1
items:
- apiVersion: v1
  kind: Node
  metadata:
    annotations:
      node.alpha.kubernetes.io/ttl: "0"
      volumes.kubernetes.io/controller-managed-attach-detach: "true"
    creationTimestamp: "2026-01-01T00:00:00Z"
    labels:
      beta.kubernetes.io/arch: amd64
      kubernetes.io/hostname: worker-1
      streams.ibm.com/hostpool: source
    name: worker-1
    resourceVersion: "4711"
    uid: 0b1c8b5e-0000-4000-8000-000000000001
  spec:
    podCIDR: 10.244.1.0/24
    podCIDRs:
    - 10.244.1.0/24
    providerID: kind://docker/kind/worker-1
    taints:
    - effect: NoExecute
      key: node.kubernetes.io/unreachable
      timeAdded: "2026-01-02T00:00:00Z"
    unschedulable: true
  status:
    addresses:
    - address: 172.18.0.3
      type: InternalIP
    - address: worker-1
      type: Hostname
    allocatable:
      cpu: "8"
      ephemeral-storage: 1055762868Ki
      hugepages-1Gi: "0"
      memory: 32859060Ki
      pods: "110"
    capacity:
      cpu: "8"
      memory: 32859060Ki
      pods: "110"
    conditions:
    - lastHeartbeatTime: "2026-01-02T00:00:00Z"
      lastTransitionTime: "2026-01-02T00:00:00Z"
      message: Kubelet stopped posting node status.
      reason: NodeStatusUnknown
      status: Unknown
      type: Ready
    nodeInfo:
      architecture: amd64
      kubeletVersion: v1.34.0
- apiVersion: v1
  kind: Pod
  metadata:
    annotations:
      streams.ibm.com/placement: 'Source: host(MyPool); Sink: hostIsolation'
    creationTimestamp: "2026-01-01T00:00:00Z"
    labels:
      streams.ibm.com/job: parallel
      streams.ibm.com/pe: parallel-0
    name: parallel-0-abcde
    namespace: team
    uid: 0b1c8b5e-0000-4000-8000-000000000002
  spec:
    containers:
    - image: streams:1
      imagePullPolicy: IfNotPresent
      name: pe
      resources:
        limits:
          cpu: 500m
        requests:
          cpu: 250m
          memory: 64Mi
    nodeName: worker-1
    tolerations:
    - effect: NoExecute
      key: node.kubernetes.io/not-ready
      operator: Exists
      tolerationSeconds: 300
  status:
    phase: Running
    startTime: "2026-01-01T00:00:00Z"
- apiVersion: streams.ibm.com/v1
  kind: HostPool
  metadata:
    annotations:
      kubectl.kubernetes.io/last-applied-configuration: |
        {"apiVersion":"streams.ibm.com/v1","kind":"HostPool","spec":{"size":1}}
    creationTimestamp: "2026-01-01T00:00:00Z"
    finalizers:
    - streams.ibm.com/hostpool
    generation: 1
    name: my-pool
    namespace: team
    uid: 0b1c8b5e-0000-4000-8000-000000000003
  spec:
    elastic: false
    mode: Shared
    name: MyPool
    size: 1
    tags:
    - source
  status:
    conditions:
    - lastTransitionTime: "2026-01-01T00:00:00Z"
      message: ""
      reason: Allocated
      status: "True"
      type: Ready
    eligible: 1
    hosts:
    - index: 0
      name: worker-1
      uid: 0b1c8b5e-0000-4000-8000-000000000001
    observedGeneration: 1
    phase: Ready
kind: List
metadata:
  resourceVersion: ""
"""

WORKER = Node(
    name="worker-1",
    uid="0b1c8b5e-0000-4000-8000-000000000001",
    labels={
        "beta.kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": "worker-1",
        "streams.ibm.com/hostpool": "source",
    },
    taints=(
        Taint("node.kubernetes.io/unreachable", "", "NoExecute"),
        Taint("node.kubernetes.io/unschedulable", "", "NoSchedule"),
        Taint("node.kubernetes.io/unreachable", "", "NoSchedule"),
    ),
    addresses=("172.18.0.3", "worker-1"),
    allocatable={
        "cpu": 8000,
        "ephemeral-storage": 1055762868 << 10,
        "hugepages-1Gi": 0,
        "memory": 32859060 << 10,
        "pods": 110,
    },
)
ELEMENT = PodInfo(
    uid="0b1c8b5e-0000-4000-8000-000000000002",
    namespace="team",
    node="worker-1",
    requests={"cpu": 250, "memory": 64 << 20, "pods": 1},
    job="parallel",
    pe="parallel-0",
    pools=("MyPool",),
    labels={"streams.ibm.com/job": "parallel", "streams.ibm.com/pe": "parallel-0"},
    isolated=("Sink",),
)
POOL = Pool(
    namespace="team",
    name="my-pool",
    spl_name="MyPool",
    size=1,
    tags=("source",),
    phase=Phase.READY,
    assigned=(PoolHost(0, "worker-1", "0b1c8b5e-0000-4000-8000-000000000001"),),
    reason="Allocated",
    created="2026-01-01T00:00:00Z",
)
NOTHING = {
    "Node": 0,
    "Pod": 0,
    "HostPool": 0,
    "Job": 0,
    "HPAIntent": 0,
    "Namespace": 0,
    "DeviceClass": 0,
    "ResourceSlice": 0,
    "ResourceClaim": 0,
    "ResourceClaimTemplate": 0,
    "DeviceTaintRule": 0,
    "NodeResourceTopology": 0,
    "LimitRange": 0,
    "RuntimeClass": 0,
    "PriorityClass": 0,
}


def put(folder: Path, **files: object) -> None:
    """Write files: text and bytes as they are, everything else as JSON; ``a_yaml`` is ``a.yaml``."""
    for name, content in files.items():
        path = folder / ".".join(name.rsplit("_", 1))
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content, indent=4))


def read(folder: Path) -> tuple[Recorder, Report]:
    sink = Recorder()
    return sink, read_snapshot(folder, sink)


def skipped(folder: Path) -> list[str]:
    """What is not used of the folder, to which one node is added so that it can be read."""
    put(folder, **{"~node_json": node("a-node")})
    sink, report = read(folder)
    assert "a-node" in sink.nodes
    assert report.skipped_count == len(report.skipped)
    return [str(finding) for finding in report.skipped]


def test_a_second_text_that_is_not_json_is_named_by_its_place(tmp_path: Path) -> None:
    put(tmp_path, a_json='{"kind": "Pod"}\n{"kind": \n')
    assert skipped(tmp_path) == [
        "a.json: Pod number 1: apiVersion or kind is missing",
        "a.json: document 2, from byte 16: input data was truncated",
    ]


@pytest.mark.parametrize(
    "form", ["yaml", "yml", "json", "one YAML document each", "one file each", "one JSON text each", "JSON as YAML"]
)
def test_what_kubectl_prints_is_read_in_every_form(tmp_path: Path, form: str) -> None:
    objects = loaded(KUBECTL_YAML)["items"]
    if form == "json":
        put(tmp_path, all_json=loaded(KUBECTL_YAML))
    elif form == "one YAML document each":
        put(tmp_path, all_yaml=yaml.safe_dump_all(objects))
    elif form == "one JSON text each":
        put(tmp_path, all_json="".join(json.dumps(item, indent=4) + "\n" for item in objects))
    elif form == "JSON as YAML":
        put(tmp_path, all_yaml="".join(json.dumps(item, indent=4) + "\n" for item in objects))
    elif form == "one file each":
        put(tmp_path, **{f"{number}_json": item for number, item in enumerate(objects)})
    else:
        put(tmp_path, **{f"all_{form}": KUBECTL_YAML})
    sink, report = read(tmp_path)
    assert report == Report(NOTHING | {"Node": 1, "Pod": 1, "HostPool": 1})
    assert (sink.nodes, sink.pods, sink.pools) == (
        {WORKER.name: WORKER},
        {ELEMENT.uid: ELEMENT},
        {("team", "my-pool"): POOL},
    )


def test_a_snapshot_fills_the_inventory_that_decisions_are_made_on(tmp_path: Path) -> None:
    put(tmp_path, all_yaml=KUBECTL_YAML)
    inventory = Inventory()
    read_snapshot(tmp_path, inventory)
    assert (inventory.nodes.everything.bit_count(), inventory.nodes.capacity.used("cpu", 0)) == (1, 250)


def test_lists_of_the_api_server_have_members_without_a_kind(tmp_path: Path) -> None:
    for name, version, item in (
        ("NodeList", "v1", node()),
        ("PodList", "v1", pod()),
        ("HostPoolList", "streams.ibm.com/v1", pool()),
        ("JobList", "streams.ibm.com/v1", job()),
        ("HPAIntentList", "streams.ibm.com/v1", intent()),
        ("NamespaceList", "v1", namespace()),
        ("DeviceClassList", "resource.k8s.io/v1", device_class()),
        ("ResourceSliceList", "resource.k8s.io/v1", resource_slice()),
        ("ResourceClaimList", "resource.k8s.io/v1", resource_claim()),
        ("ResourceClaimTemplateList", "resource.k8s.io/v1", claim_template()),
        ("DeviceTaintRuleList", "resource.k8s.io/v1alpha3", taint_rule()),
        ("NodeResourceTopologyList", "topology.node.k8s.io/v1alpha2", node_topology()),
        ("LimitRangeList", "v1", limit_range()),
        ("RuntimeClassList", "node.k8s.io/v1", runtime_class()),
        ("PriorityClassList", "scheduling.k8s.io/v1", priority_class()),
    ):
        del item["kind"], item["apiVersion"]
        put(tmp_path, **{f"{name}_json": listed(item, kind=name, version=version)})
        put(tmp_path, **{f"{name}_yaml": "kind: ConfigMapList\napiVersion: v1\nitems: []"})
    assert read(tmp_path)[1] == Report(dict.fromkeys(NOTHING, 1), ignored=15)


def test_of_two_classes_of_a_resource_the_newer_counts(tmp_path: Path) -> None:
    older = device_class("a.example.com", created="2026-01-01T00:00:00Z")
    newer = device_class("b.example.com", created="2026-01-02T00:00:00Z")
    put(tmp_path, a_json=older, b_json=newer, c_json=device_class("c.example.com"), d_json=node())
    inventory = Inventory()
    read_snapshot(tmp_path, inventory)
    assert inventory.devices.classes.class_of("example.com/gpu") == "b.example.com"


def test_devices_of_a_snapshot_are_known_if_it_has_slices(tmp_path: Path) -> None:
    put(tmp_path, a_json=node(), b_json=device_class(), c_json=resource_claim(), d_json=claim_template())
    without, _ = read(tmp_path)
    put(tmp_path, e_json=resource_slice())
    found, report = read(tmp_path)
    assert (without.devices.readable, found.devices.readable) == ({}, dict.fromkeys(DevicePart, True))
    assert str(report) == (
        "1 Node, 0 Pod, 0 HostPool, 0 Job, 0 HPAIntent, 0 Namespace, 1 DeviceClass, 1 ResourceSlice, 1 ResourceClaim, "
        "1 ResourceClaimTemplate; 0 finished, 0 skipped, 0 ignored"
    )


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1alpha3"])
def test_taint_rules_are_read_in_every_version(tmp_path: Path, version: str) -> None:
    put(tmp_path, a_json=node(), b_json=taint_rule(version=version))
    assert [*read(tmp_path)[0].devices.rules] == ["broken-gpu"]


def test_a_list_may_be_empty(tmp_path: Path) -> None:
    put(tmp_path, a_json={"apiVersion": "v1", "kind": "List", "items": None}, b_json=listed(), c_json=node())
    assert read(tmp_path)[1] == Report(NOTHING | {"Node": 1})


def test_objects_of_other_kinds_are_counted_and_nothing_more(tmp_path: Path) -> None:
    others = [
        {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}},
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x"}},
        {"apiVersion": "streams.ibm.com/v1", "kind": "ProcessingElement"},
        {"apiVersion": "apps/v1", "kind": "Deployment"},
    ]
    put(tmp_path, all_json=listed(node(), *others), one_yaml=yaml.safe_dump_all(others))
    assert read(tmp_path)[1] == Report(NOTHING | {"Node": 1}, ignored=8)


def test_finished_pods_are_counted_and_hold_nothing(tmp_path: Path) -> None:
    put(tmp_path, all_json=listed(node(), pod("a", phase="Succeeded"), pod("b", phase="Failed"), pod("c")))
    sink, report = read(tmp_path)
    assert ([*sink.pods], report) == (["uid-c"], Report(NOTHING | {"Node": 1, "Pod": 1}, finished=2))


def test_a_report_is_one_line(tmp_path: Path) -> None:
    put(tmp_path, all_json=listed(node(), pod("a", phase="Failed"), pod("b"), pool(size=0), {"kind": "X"}, job()))
    counts = "1 Node, 1 Pod, 0 HostPool, 1 Job, 0 HPAIntent, 0 Namespace, 0 DeviceClass"
    assert str(read(tmp_path)[1]) == f"{counts}; 1 finished, 2 skipped, 0 ignored"


def test_an_intent_is_known_by_its_namespace_and_name(tmp_path: Path) -> None:
    put(
        tmp_path, all_json=listed(node(), intent(namespace="edge")), again_yaml=yaml.safe_dump(intent(namespace="edge"))
    )
    sink, report = read(tmp_path)
    assert [*sink.intents.found] == [("edge", "fwall")]
    assert [str(finding) for finding in report.skipped] == [
        "all.json: HPAIntent edge/fwall: an earlier HPAIntent has the same name"
    ]


def test_an_intent_with_something_wrong_in_it_is_there_and_noted(tmp_path: Path) -> None:
    put(tmp_path, all_json=listed(node(), intent(consumer({"name": "cpu", "limits": "lots"}))))
    sink, report = read(tmp_path)
    path = "spec.consumers[0].requirements[0].limits"
    [problem] = sink.intents.found["default", "fwall"].problems
    assert (problem.field, report.counts["HPAIntent"]) == (f"HPAIntent fwall {path}", 1)
    assert [str(finding) for finding in report.noted] == [
        f'all.json: HPAIntent default/fwall: {path}: "lots" is not a Kubernetes quantity'
    ]


def test_an_intent_without_a_spec_asks_for_nothing(tmp_path: Path) -> None:
    put(tmp_path, all_json=listed(node(), {**intent(), "spec": None}))
    sink, report = read(tmp_path)
    assert (sink.intents.found["default", "fwall"].consumers, report.noted) == ((), ())


NAMESPACES = {
    "with the label": (namespace(), {"edge"}),
    "with another value": (namespace(inject="disabled"), set()),
    "with an empty value": (namespace(inject=""), set()),
    "without the label": (namespace(inject=None), set()),
    "without any label": ({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "edge"}}, set()),
}


@pytest.mark.parametrize(("found", "enabled"), NAMESPACES.values(), ids=NAMESPACES)
def test_intents_hold_unasked_in_a_namespace(tmp_path: Path, found: object, enabled: set[str]) -> None:
    put(tmp_path, all_json=listed(node(), found))
    sink, report = read(tmp_path)
    assert (sink.intents.enabled, report.counts["Namespace"], report.ignored) == (
        enabled,
        len(enabled),
        1 - len(enabled),
    )


def test_a_namespace_counts_once(tmp_path: Path) -> None:
    put(tmp_path, all_json=listed(node(), namespace(), namespace(inject=None)))
    sink, report = read(tmp_path)
    assert sink.intents.enabled == {"edge"}
    assert [str(finding) for finding in report.skipped] == [
        "all.json: Namespace edge: an earlier Namespace has the same name"
    ]


def test_parts_that_are_left_out_are_noted(tmp_path: Path) -> None:
    put(
        tmp_path,
        nodes_json=node(status={"allocatable": {"cpu": "four"}}),
        pods_json=pod(spec={"overhead": {"cpu": "1 "}}, namespace="team"),
    )
    report = read(tmp_path)[1]
    assert [str(finding) for finding in report.noted] == [
        'nodes.json: Node node-a: status.allocatable[cpu]: "four" is not a quantity, it counts as 0',
        'pods.json: Pod team/web-1: spec.overhead[cpu]: "1 " is not a quantity, it counts as 0',
    ]
    assert (report.noted_count, report.skipped) == (2, ())


def test_one_poisoned_object_among_many_is_the_only_one_missing(tmp_path: Path) -> None:
    many = [node(f"node-{number}") for number in range(250)]
    many[123]["status"] = "poison"
    put(tmp_path, nodes_json=listed(*many), nodes_yaml=yaml.safe_dump(listed(pod(uid=5), pod("fine"))))
    sink, report = read(tmp_path)
    assert (len(sink.nodes), [*sink.pods]) == (249, ["uid-fine"])
    assert [str(finding) for finding in report.skipped] == [
        "nodes.json: Node node-123: status: expected `object | null`, got `str`",
        "nodes.yaml: Pod default/web-1: metadata.uid: expected `str | null`, got `int`",
    ]


@pytest.mark.parametrize(
    ("item", "finding"),
    [
        pytest.param(
            pool(size="10"),
            "HostPool default/ib-blue: spec.size: expected `int | null`, got `str`",
            id="size is text",
        ),
        pytest.param(
            pool(tag=["ib"]), "HostPool default/ib-blue: spec: object contains unknown field `tag`", id="unknown field"
        ),
        pytest.param(
            pool(size=0), "HostPool default/ib-blue: spec.size: 0 is not between 1 and 5000", id="rule of a pool"
        ),
        pytest.param(
            job({"name": "a"}, {"name": "a"}),
            "Job default/parallel: spec.processingElements[1].name: "
            '"a" is also the name of spec.processingElements[0]',
            id="rule of a job",
        ),
        pytest.param(
            node(labels={"a": 1}),
            "Node node-a: metadata.labels[...]: expected `str`, got `int`",
            id="label is a number",
        ),
        pytest.param(
            node(spec={"taints": [{"key": "a"}, "b"]}),
            "Node node-a: spec.taints[1]: expected `object`, got `str`",
            id="taint is text",
        ),
        pytest.param({"apiVersion": "v1", "kind": "Node"}, "Node number 1: metadata.name: missing", id="no name"),
        pytest.param(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": 5}},
            "Node number 1: metadata.name: expected `str | null`, got `int`",
            id="name is a number",
        ),
        pytest.param({"metadata": {"name": "x"}}, "object x: apiVersion or kind is missing", id="no kind"),
        pytest.param({"kind": "Node"}, "Node number 1: apiVersion or kind is missing", id="no apiVersion"),
        pytest.param({"kind": 5}, "object number 1: kind: expected `str`, got `int`", id="kind is a number"),
        pytest.param([], "object number 1: expected `object`, got `array`", id="not an object"),
        pytest.param(listed(node()), "List number 1: a list inside a list is not read", id="list in a list"),
        pytest.param(
            pool() | {"apiVersion": "streams.ibm.com/v2"},
            "HostPool default/ib-blue: apiVersion: streams.ibm.com/v2 is not known, only streams.ibm.com/v1 is",
            id="another version",
        ),
        pytest.param(
            pod("a\x1b[31m\u202e", spec=5), "Pod default/a\\x1b[31m\\u202e: spec: expected `object | null`, got `int`",
            id="name with control characters",
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["json", "yaml"])
def test_an_object_that_cannot_be_used_is_named(tmp_path: Path, form: str, item: object, finding: str) -> None:
    content = json.dumps(listed(item)) if form == "json" else yaml.safe_dump(listed(item))
    put(tmp_path, **{f"all_{form}": content})
    assert skipped(tmp_path) == [f"all.{form}: {finding}"]


@pytest.mark.parametrize(
    ("file", "content", "finding"),
    [
        pytest.param("a_json", "", "a.json: input data was truncated", id="empty JSON"),
        pytest.param("a_json", '{"kind": ', "a.json: input data was truncated", id="half-written JSON"),
        pytest.param("a_json", " x", "a.json: JSON is malformed: invalid character (byte 1)", id="no JSON at all"),
        pytest.param("a_json", "[]", "a.json: expected `object`, got `array`", id="JSON array"),
        pytest.param("a_json", '{"kind": null}', "a.json: kind: expected `str`, got `null`", id="kind is null"),
        pytest.param("a_json", b'{"kind": "\xff"}', "a.json: not UTF-8 text", id="invalid UTF-8"),
        pytest.param(
            "a_json", "\ufeff{}", "a.json: JSON is malformed: invalid character (byte 0)", id="byte order mark"
        ),
        pytest.param("a_json", '{"x": ' + "[" * 100_000, "a.json: nested too deeply", id="deep JSON"),
        pytest.param(
            "a_json",
            '{"kind": "List", "apiVersion": "v1", "items": {}}',
            "a.json: items: expected `array | null`, got `object`",
            id="items are no list",
        ),
        pytest.param("a_yaml", "a: [", "a.yaml: line 2, column 1: did not find expected node content", id="half YAML"),
        pytest.param("a_yaml", "just text", "a.yaml: expected `object`, got `str`", id="YAML text"),
        pytest.param("a_yaml", "- 1", "a.yaml: expected `object`, got `array`", id="YAML list"),
        pytest.param("a_yaml", "[" * 100_000, "a.yaml: line 1: nested more than 200 levels deep", id="deep YAML"),
        pytest.param("a_yaml", "{}", "a.yaml: object number 1: apiVersion or kind is missing", id="empty object"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, file: str, content: str | bytes, finding: str) -> None:
    put(tmp_path, **{file: content})
    assert skipped(tmp_path) == [finding]


def test_a_bad_document_spares_the_others_of_its_file(tmp_path: Path) -> None:
    put(tmp_path, all_yaml=f"{json.dumps(node('a'))}\n---\na: [\n---\n{json.dumps(node('b'))}\n")
    sink, report = read(tmp_path)
    assert ([*sink.nodes], [str(finding) for finding in report.skipped]) == (
        ["a", "b"],
        ["all.yaml: line 4, column 1: did not find expected node content"],
    )


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").symlink_to("nowhere")
    (tmp_path / "b.json").symlink_to("/proc/self/mem")
    assert skipped(tmp_path) == [
        "a.json: cannot be read: not a regular file",
        "b.json: cannot be read: Input/output error",
    ]


@pytest.mark.parametrize(
    ("items", "finding"),
    [
        pytest.param([node(), node(uid="other")], "Node node-a: an earlier Node has the same name", id="node"),
        pytest.param(
            [pod("a", uid="u"), pod("b", uid="u")], "Pod default/b: an earlier Pod has the same uid", id="pod"
        ),
        pytest.param(
            [pool(), pool(size=2)], "HostPool default/ib-blue: an earlier HostPool has the same name", id="pool"
        ),
        pytest.param([job(), job({})], "Job default/parallel: an earlier Job has the same name", id="job"),
    ],
)
def test_of_two_objects_with_one_name_the_first_counts(tmp_path: Path, items: list[object], finding: str) -> None:
    put(tmp_path, a_json=items[0], b_json=items[1])
    assert skipped(tmp_path) == [f"b.json: {finding}"]


def test_one_name_in_two_namespaces_is_two_objects(tmp_path: Path) -> None:
    put(tmp_path, all_json=listed(pool(), pool(metadata={"name": "ib-blue", "namespace": "team"})))
    assert skipped(tmp_path) == []


def test_a_thousand_findings_are_named_and_all_are_counted(tmp_path: Path) -> None:
    put(tmp_path, all_json=listed(node(), *[{}] * 1001))
    report = read(tmp_path)[1]
    assert (len(report.skipped), report.skipped_count) == (1000, 1001)


def test_a_finding_is_cut_when_it_is_too_long(tmp_path: Path) -> None:
    put(tmp_path, all_json=listed(node("n" * 1000, spec=5)))
    assert skipped(tmp_path) == [f"all.json: Node {'n' * 485}..."]


@pytest.mark.parametrize(
    ("files", "rest"),
    [
        pytest.param({}, "", id="empty folder"),
        pytest.param({"pods_json": pod()}, "", id="no node"),
        pytest.param(
            {"a_json": "{", "b_json": node(spec=5)},
            " (2 skipped, the first is a.json: input data was truncated)",
            id="nothing readable",
        ),
    ],
)
def test_a_folder_without_a_node_is_not_a_cluster(tmp_path: Path, files: dict[str, object], rest: str) -> None:
    put(tmp_path, **files)
    with pytest.raises(SnapshotError) as caught:
        read(tmp_path)
    advice = 'put there what "kubectl get nodes,pods -A -o yaml" prints'
    assert str(caught.value) == f"the folder {tmp_path} holds no Node: {advice}{rest}"


def test_a_missing_folder_is_not_a_cluster(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError) as caught:
        read(tmp_path / "none")
    assert str(caught.value) == f"the folder {tmp_path}/none cannot be listed: No such file or directory"


def test_a_reading_can_be_abandoned_between_two_files(tmp_path: Path) -> None:
    put(tmp_path, a_json=node("a"), b_json=node("b"))
    sink = Recorder()
    with pytest.raises(SnapshotError) as caught:
        read_snapshot(tmp_path, sink, abandoned=lambda: bool(sink.nodes))
    assert (str(caught.value), [*sink.nodes]) == (f"reading the folder {tmp_path} was abandoned", ["a"])
