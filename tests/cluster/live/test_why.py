"""``why`` on a cluster that answers: pods that wait, workloads, pools, jobs, and users who may not read everything."""

import asyncio
import json
import re
from typing import Any

import jsonschema
import pytest
from aiohttp import web

from tests.apiserver.paths import Json, path_of
from tests.apiserver.server import ApiServer, Seen, status
from tests.cli.test_schemas import schema
from tests.cluster.objects import job, node, pod, pool
from webhook.cli import main
from webhook.cluster.queries import object_facts

pytestmark = pytest.mark.integration

CREATED = "2026-09-01T08:00:00Z"
LATER = "2026-09-01T09:00:00Z"
PLACEMENT = "streams.ibm.com/placement"
UNTOUCHED = (
    "    admission added nothing to it: when it was created, the webhook was not called (is its namespace "
    "excluded?) or was in audit mode; change that, and recreate it"
)
SCHEDULER = "0/2 nodes are available: 2 Insufficient cpu."


def waiting(name: str, placement: str = "", *, cpu: str = "1", **metadata: Any) -> Json:
    """A pod without a node, of which the scheduler has said so."""
    annotations = {PLACEMENT: placement} if placement else {}
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}
    found = pod(
        name, spec=spec, phase="Pending", **{"creationTimestamp": CREATED, "annotations": annotations} | metadata
    )
    found["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "message": SCHEDULER}]
    return found


def event(about: Json, message: str, reason: str = "FailedCreate", **times: Any) -> Json:
    metadata = about["metadata"]
    return {
        "metadata": {"name": f"{metadata['name']}.{len(message)}", "namespace": "default"},
        "type": "Warning",
        "reason": reason,
        "message": message,
        "involvedObject": {"kind": about["kind"], "name": metadata["name"], "uid": metadata["uid"]},
        **times,
    }


def deployment(**spec: Any) -> Json:
    template = {
        "metadata": {"labels": {"app": "web"}, "annotations": {PLACEMENT: 'host("node-a")'}},
        "spec": {"containers": [{"name": "c"}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default", "uid": "d", "creationTimestamp": CREATED},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template, **spec},
    }


def put(server: ApiServer, collection: str, thing: Json) -> Json:
    return server.put(path_of(collection, thing["metadata"]["name"], thing["metadata"].get("namespace", "")), thing)


def forbid(server: ApiServer, *resources: str) -> None:
    """Refuse to list or read these resources."""

    async def refuse(seen: Seen) -> Any:
        await asyncio.sleep(0)
        return status(403, "no", reason="Forbidden") if seen.resource in resources else None

    server.before = refuse


async def asked(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = await asyncio.to_thread(main, ["why", *words])
    said = capfd.readouterr()
    return code, said.out, said.err


def host(name: str = "node-a", **more: Any) -> Json:
    """A node as a kubelet registers it."""
    return node(name, labels={"kubernetes.io/hostname": name}, **more)


async def told(capfd: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    _, out, err = await asked(capfd, *words, "-o", "json")
    assert err == ""
    found: dict[str, Any] = json.loads(out)
    jsonschema.Draft202012Validator(schema("why")).validate(found)
    return found


async def test_a_pod_that_no_node_can_run(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    taints = [{"key": "dedicated", "effect": "NoSchedule", "timeAdded": LATER}]
    server.store("nodes", host(creationTimestamp=CREATED, spec={"taints": taints}))
    made = server.store("pods", waiting("w", 'host("node-b")'))
    put(server, "/api/v1/events", event(made, "quota is\nexceeded", lastTimestamp=LATER))
    code, out, err = await asked(capfd, "w")
    assert (code, err) == (1, "")
    head, *lines = out.splitlines()
    assert head.startswith("Pod default/w: waits for a node, created ")
    assert lines == [
        '  asks for placement: host("node-b")',
        "  submitted today it would be refused, 0 of 1 node can run it",
        "  No node is open to this pod: 0 of 1 node can run this pod.",
        "    1 node is not named node-b",
        "  Nearest fix: no single change helps; the pod needs a node that meets all of it.",
        "  the scheduler says: 0/2 nodes are available: 2 Insufficient cpu.",
        "  FailedCreate of Pod w: quota is\\nexceeded",
        "  since it was created:",
        UNTOUCHED,
        '  out: node-a (host("node-b"): is not named node-b)',
    ]


async def test_the_words_of_the_scheduler_are_shown_once(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    server.store("nodes", host())
    made = server.store("pods", waiting("w"))
    put(server, "/api/v1/events", event(made, SCHEDULER, "FailedScheduling", lastTimestamp=LATER))
    put(server, "/api/v1/events", event(made, "0/1 nodes are available", "FailedScheduling", lastTimestamp=CREATED))
    _, out, _ = await asked(capfd, "w")
    assert [line for line in out.splitlines() if "available" in line] == [
        f"  the scheduler says: {SCHEDULER}",
        "  FailedScheduling of Pod w: 0/1 nodes are available",
    ]


async def test_a_pod_that_runs_is_told_nothing_of_the_time_when_it_waited(
    server: ApiServer, capfd: pytest.CaptureFixture[str]
) -> None:
    server.store("nodes", host())
    made = server.store("pods", pod("w"))
    put(server, "/api/v1/events", event(made, SCHEDULER, "FailedScheduling", lastTimestamp=LATER))
    put(server, "/api/v1/events", event(made, "the image cannot be pulled", "Failed", lastTimestamp=LATER))
    assert [one["reason"] for one in (await told(capfd, "w"))["events"]] == ["Failed"]


async def test_a_pod_waits_for_room_that_others_have_taken(
    server: ApiServer, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("node-a", "node-b"):
        server.store("nodes", host(name, creationTimestamp=LATER))
    server.store(
        "pods",
        pod("old", spec={"nodeName": "node-a", "containers": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]}),
    )
    annotations = {
        "streams.ibm.com/waits": "no node now: both are full\nand more",
        PLACEMENT: 'hostExlocation("apart")',
    }
    labels = {"streams.ibm.com/job": "j"}
    server.store("pods", waiting("w", cpu="2", annotations=annotations, labels=labels))
    code, out, _ = await asked(capfd, "pod/w")
    assert (code, out.splitlines()[1:]) == (
        0,
        [
            '  asks for placement: hostExlocation("apart")',
            "  submitted today it would be admitted, 2 of 2 nodes can run it",
            "  the scheduler says: 0/2 nodes are available: 2 Insufficient cpu.",
            "  since it was created:",
            "    when it was created, it had to wait: no node now: both are full",
            UNTOUCHED,
            "  candidates: node-a, node-b",
            "  out: node-a (has less than cpu 2 free now)",
        ],
    )


async def test_a_pod_waits_for_a_device_that_a_claim_holds(
    server: ApiServer, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("node-a", "node-b"):
        server.store("nodes", host(name))
    slice_spec = {"driver": "gpu", "nodeName": "node-a", "pool": {"name": "node-a"}, "devices": [{"name": "gpu-0"}]}
    server.store("resourceslices", {"metadata": {"name": "node-a"}, "spec": slice_spec})
    server.store("deviceclasses", {"metadata": {"name": "gpu"}, "spec": {}})
    claim = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
    named = {"name": "gpu", "namespace": "default"}
    server.store("resourceclaimtemplates", {"metadata": named, "spec": {"spec": claim}})
    results = [{"request": "r", "driver": "gpu", "pool": "node-a", "device": "gpu-0"}]
    held = {"allocation": {"devices": {"results": results}}}
    taken = {"metadata": {"name": "train", "namespace": "team-b"}, "spec": claim, "status": held}
    server.store("resourceclaims", taken)
    made = waiting("w", labels={"streams.ibm.com/job": "j"})
    made["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    server.store("pods", made)
    _, out, _ = await asked(capfd, "pod/w")
    few = "has too few free devices for ResourceClaimTemplate gpu now: ResourceClaim team-b/train holds some"
    assert out.splitlines()[-3:] == [
        "  candidates: node-a",
        "  out: node-b (ResourceClaimTemplate gpu: has no device of DeviceClass gpu)",
        f"  out: node-a ({few})",
    ]
    forbid(server, "resourceclaims")
    found = await told(capfd, "pod/w")
    assert found["unread"] == ["resourceclaims.resource.k8s.io"]
    assert "team-b" not in json.dumps(found)


async def test_a_pod_that_runs_would_not_get_its_node_again(
    server: ApiServer, capfd: pytest.CaptureFixture[str]
) -> None:
    condition = {"type": "Ready", "status": "False", "lastTransitionTime": LATER}
    server.store("nodes", host(status={"conditions": [condition]}))
    server.store("nodes", host("node-b"))
    server.store(
        "streamshostpools",
        pool(
            tags=["t"],
            metadata={
                "name": "mine",
                "namespace": "default",
                "generation": 2,
                "managedFields": [
                    {"fieldsV1": {"f:spec": {}}, "time": LATER},
                    {"fieldsV1": {"f:status": {}}, "time": LATER, "subresource": "status"},
                ],
            },
            status={
                "conditions": [{"type": "Degraded", "status": "True", "message": "h", "lastTransitionTime": LATER}]
            },
        ),
    )
    annotations = {PLACEMENT: "host(mine)", "streams.ibm.com/injected": "{}"}
    server.store("pods", pod("w", creationTimestamp=CREATED, annotations=annotations))
    code, out, _ = await asked(capfd, "w")
    head, *lines = out.splitlines()
    # The age is that of today; ages have tests of their own.
    assert re.fullmatch("Pod default/w: Running on node-a, created [0-9]+d ago", head)
    assert (code, lines) == (
        1,
        [
            "  asks for placement: host(mine)",
            "  submitted today it would be refused, 0 of 2 nodes can run it",
            "  host(mine) cannot hold: 0 of 2 nodes can run this pod.",
            "    2 nodes are not in HostPool mine (tag t)",
            (
                "  Nearest fix: label one more node streams.ibm.com/hostpool=t (only 1 of 2 nodes helps), or "
                "drop host(mine) (1 node would fit)."
            ),
            "  since it was created:",
            "    2026-09-01T09:00:00Z HostPool mine: condition Degraded became True: h",
            "    2026-09-01T09:00:00Z HostPool mine: its spec was changed",
            "    2026-09-01T09:00:00Z node node-a is not ready",
            "  out: node-a, node-b (host(mine): is not in HostPool mine (tag t))",
        ],
    )


async def test_a_pod_whose_placement_would_be_written_otherwise(
    server: ApiServer, capfd: pytest.CaptureFixture[str]
) -> None:
    server.store("nodes", host())
    annotations = {PLACEMENT: 'host("node-a"), hostExlocation("apart")', "streams.ibm.com/injected": "{}"}
    server.store("pods", pod("w", annotations=annotations, labels={"streams.ibm.com/job": "j"}))
    code, out, _ = await asked(capfd, "w")
    assert (code, out.splitlines()) == (
        0,
        [
            "Pod default/w: Running on node-a",
            '  asks for placement: host("node-a"), hostExlocation("apart")',
            "  submitted today it would be admitted, 1 of 1 node can run it",
            "  since it was created:",
            "    admission would write metadata.labels, spec.affinity differently today: recreate it to get that",
            "  candidates: node-a",
        ],
    )


async def test_a_workload_with_its_pods_and_what_keeps_them_back(
    server: ApiServer, capfd: pytest.CaptureFixture[str]
) -> None:
    server.store("nodes", host())
    made = put(server, "/apis/apps/v1/deployments", deployment())
    sets = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": "web-1",
            "namespace": "default",
            "uid": "rs",
            "labels": {"app": "web"},
            "ownerReferences": [{"uid": "d"}],
        },
    }
    put(server, "/apis/apps/v1/replicasets", sets)
    put(server, "/api/v1/events", event(sets, "denied", eventTime=LATER))
    put(server, "/api/v1/events", event(made, "first", series={"lastObservedTime": CREATED}))
    owned = {"labels": {"app": "web"}, "ownerReferences": [{"uid": "rs"}]}
    server.store("pods", pod("web-1-a", **owned))
    server.store("pods", waiting("web-1-b", **owned))
    server.store("pods", pod("web-1-c", **owned, deletionTimestamp=LATER))
    server.store("pods", pod("web-of-others", labels={"app": "web"}))
    code, out, _ = await asked(capfd, "deploy", "web")
    assert (code, out.splitlines()[1:]) == (
        0,
        [
            '  asks for placement: host("node-a")',
            "  submitted today it would be admitted, 1 of 1 node can run it",
            "  FailedCreate of ReplicaSet web-1: denied",
            "  FailedCreate of Deployment web: first",
            "  pod web-1-b: Pending: 0/2 nodes are available: 2 Insufficient cpu.",
            "  pod web-1-a: Running on node-a",
            "  pod web-1-c: Terminating on node-a",
            "  candidates: node-a",
        ],
    )


async def test_of_many_replica_sets_those_that_are_to_have_pods_are_asked_about(
    server: ApiServer, capfd: pytest.CaptureFixture[str]
) -> None:
    """A Deployment keeps ten that are over. After a rollback the one that counts is neither the last nor the newest."""
    server.store("nodes", host())
    put(server, "/apis/apps/v1/deployments", deployment())
    for number in range(11):
        metadata = {"name": f"web-{number:02}", "namespace": "default", "uid": f"rs-{number}", "labels": {"app": "web"}}
        metadata |= {"ownerReferences": [{"uid": "d"}], "creationTimestamp": f"2026-09-{10 + number}T08:00:00Z"}
        made = {"kind": "ReplicaSet", "metadata": metadata, "spec": {"replicas": 2 * (number == 9)}}
        put(server, "/apis/apps/v1/replicasets", made)
    put(server, "/api/v1/events", event(made | {"metadata": metadata | {"name": "web-09", "uid": "rs-9"}}, "denied"))
    owned = {"labels": {"app": "web"}, "ownerReferences": [{"uid": "rs-9"}]}
    for number in range(12):
        server.store("pods", waiting(f"web-09-{number}", **owned))
    put(server, "/api/v1/events", event(waiting("web-09-0"), "unbound"))
    found = await told(capfd, "deployment/web")
    assert [each["message"] for each in found["events"]] == ["denied", "unbound"]


async def test_of_many_long_warnings_the_latest_are_shown_in_part(
    server: ApiServer, capfd: pytest.CaptureFixture[str]
) -> None:
    server.store("nodes", host())
    made = server.store("pods", waiting("w"))
    for number in range(9):
        text = str(number) * (2000 + number)
        put(server, "/api/v1/events", event(made, text, lastTimestamp=f"2026-09-01T0{(number * 5) % 9}:00:00Z"))
    found = await told(capfd, "w")
    assert [each["at"][11:13] for each in found["events"]] == ["08", "07", "06"]
    assert {(len(each["message"]), each["message"][-4:]) for each in found["events"]} == {
        (1024, f"{number}...") for number in (7, 5, 3)
    }


async def test_a_pod_that_asks_for_nothing_is_never_refused(
    server: ApiServer, capfd: pytest.CaptureFixture[str]
) -> None:
    server.store("nodes", host(spec={"taints": [{"key": "dedicated", "effect": "NoSchedule"}]}))
    server.store("pods", waiting("w"))
    code, out, _ = await asked(capfd, "w")
    assert (code, out.splitlines()[1:]) == (
        0,
        [
            "  it does not ask for placement: submitted today it would be admitted, and wait, 0 of 1 node can run it",
            "  No node is open to this pod: 0 of 1 node can run this pod.",
            "    1 node has the taint dedicated:NoSchedule",
            "  Nearest fix: tolerate dedicated:NoSchedule.",
            "  the scheduler says: 0/2 nodes are available: 2 Insufficient cpu.",
            "  out: node-a (has the taint dedicated:NoSchedule)",
        ],
    )
    assert (await told(capfd, "w"))["verdict"] == "waits"


async def test_a_pool(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    server.store("nodes", host())
    status_ = {
        "phase": "Pending",
        "conditions": [{"type": "Ready", "status": "False", "message": "1 of 2 hosts", "lastTransitionTime": LATER}],
    }
    metadata = {"name": "mine", "namespace": "default", "creationTimestamp": CREATED}
    server.store("streamshostpools", pool(size=2, metadata=metadata, status=status_))
    code, out, _ = await asked(capfd, "hostpool/mine")
    assert (code, out.splitlines()[1:]) == (
        1,
        [
            "  submitted today it would be refused",
            "  HostPool mine cannot be completed: it needs 2 hosts and 1 node is eligible.",
            "  Nearest fix: add a node, or lower size to 1.",
            "  since it was created:",
            "    2026-09-01T09:00:00Z HostPool mine: condition Ready became False: 1 of 2 hosts",
            "  candidates: node-a",
        ],
    )


async def test_a_job_of_streams_and_one_of_its_elements(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    server.store("nodes", host())
    element = {
        "name": "e",
        "template": {"spec": {"containers": [{"name": "c"}]}},
        "operators": [{"name": "Op", "placement": 'host("node-z")'}],
    }
    server.store("streamsjobs", job(element))
    labels = {"streams.ibm.com/job": "parallel", "streams.ibm.com/pe": "e"}
    server.store("pods", waiting("e-1", 'host("node-z")', labels=labels, ownerReferences=[{"uid": "pe"}]))
    put(
        server,
        "/apis/streams.ibm.com/v1/streamspes",
        {
            "apiVersion": "streams.ibm.com/v1",
            "kind": "ProcessingElement",
            "metadata": {"name": "e", "namespace": "default", "uid": "pe"},
            "spec": {},
            "status": {"phase": "Pending"},
        },
    )
    code, out, _ = await asked(capfd, "streamsjob/parallel")
    assert (code, out.splitlines()) == (
        1,
        [
            "Job default/parallel: not reconciled by a controller yet",
            "  submitted today it would be refused",
            '  processing element e: host("node-z") cannot hold: 0 of 1 node can run this pod.',
            "    1 node is not named node-z",
            '  Nearest fix: add a node named node-z, or drop host("node-z") (1 node would fit).',
            "  pod e-1: Pending: 0/2 nodes are available: 2 Insufficient cpu.",
        ],
    )
    code, out, _ = await asked(capfd, "pe/e")
    assert (code, out.splitlines()) == (
        1,
        [
            "ProcessingElement default/e: Pending",
            "  submitted today it would be refused, 0 of 1 node can run it",
            '  host("node-z") cannot hold: 0 of 1 node can run this pod.',
            "    1 node is not named node-z",
            '  Nearest fix: add a node named node-z, or drop host("node-z") (1 node would fit).',
            "  pod e-1: Pending: 0/2 nodes are available: 2 Insufficient cpu.",
            '  out: node-a (host("node-z"): is not named node-z)',
        ],
    )


async def test_an_element_without_a_pod(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    metadata = {"name": "e", "namespace": "default", "uid": "pe", "deletionTimestamp": LATER}
    put(server, "/apis/streams.ibm.com/v1/streamspes", {"kind": "ProcessingElement", "metadata": metadata})
    code, out, _ = await asked(capfd, "pe/e")
    assert (code, out.splitlines()) == (
        0,
        ["ProcessingElement default/e: is being deleted", "  the current admission verdict cannot be determined"],
    )


@pytest.mark.parametrize("resource", ["nodes", "pods"])
async def test_a_user_who_may_not_read_the_cluster_learns_what_the_object_says(
    server: ApiServer, capfd: pytest.CaptureFixture[str], resource: str
) -> None:
    put(server, "/apis/apps/v1/deployments", deployment())
    forbid(server, resource, "events", "namespaces")
    code, out, err = await asked(capfd, "deployment/web")
    assert (code, err) == (0, "")
    pods = ["pods"] if resource == "pods" else []
    unread = ", ".join(dict.fromkeys([*pods, "events", resource, "namespaces"]))
    assert out.splitlines()[1:] == [
        '  asks for placement: host("node-a")',
        "  the current admission verdict cannot be determined",
        f"  you may not list {unread}: results that depend on them are left out",
    ]


async def test_nodes_that_were_tainted_or_added_later(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    taint = {"key": "dedicated", "effect": "NoSchedule"}
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-09-01T09:30:00.5+00:30"}
    metadata = {"creationTimestamp": LATER, "labels": {}}
    server.store("nodes", node("node-a", spec={"taints": [{**taint, "timeAdded": LATER}]}))
    server.store(
        "nodes",
        node("node-b", spec={"taints": [taint]}, status={"conditions": [{"type": "DiskPressure"}, ready]}, **metadata),
    )
    server.missing.add("streamsjobs")
    server.store("pods", waiting("w"))
    assert (await told(capfd, "w"))["changes"] == [
        {"at": LATER, "text": "node node-a got the taint dedicated:NoSchedule"},
        {"at": LATER, "text": "node node-b was added"},
        {"at": LATER, "text": "node node-b is ready"},
    ]


async def test_warnings_of_the_verdict_are_shown(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    server.store("nodes", host())
    server.store("pods", waiting("w", "partitionIsolation"))
    _, out, _ = await asked(capfd, "w")
    assert (
        "  warning: partitionIsolation controls fusion, which is complete: it has no effect on the pod"
        in out.splitlines()
    )


async def test_a_user_who_may_not_read_intents_gets_a_verdict_without_them(
    server: ApiServer, capfd: pytest.CaptureFixture[str]
) -> None:
    server.store("nodes", host())
    server.store("pods", waiting("w"))
    forbid(server, "streamshpaintents")
    found = await told(capfd, "w")
    assert (found["verdict"], found["candidates"]) == ("fits", ["node-a"])
    assert found["unread"] == ["streamshpaintents.streams.ibm.com"]


async def test_history_that_may_not_be_read_is_left_out(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    server.store("nodes", host(creationTimestamp=LATER))
    server.store("pods", pod("w", creationTimestamp=CREATED))

    async def refuse(seen: Seen) -> Any:
        await asyncio.sleep(0)
        return status(403, "no", reason="Forbidden") if seen.path == "/api/v1/nodes/node-a" else None

    server.before = refuse
    assert (await told(capfd, "w"))["changes"] == []
    server.before = lambda _: asyncio.sleep(0)
    assert (await told(capfd, "w"))["changes"] == [{"at": LATER, "text": "node node-a was added"}]


async def test_what_is_not_there_is_wrong_use(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    server.store("nodes", host())
    hint = "give another one with --namespace, or TYPE/NAME"
    said = f"streams-placement: namespace default has no Pod that you may see: {hint}\n"
    assert await asked(capfd, "web") == (2, "", said)
    server.store("pods", waiting("web-1"))
    said = 'streams-placement: namespace default has no Pod "web-l", did you mean web-1? there are: web-1\n'
    assert await asked(capfd, "web-l") == (2, "", said)
    said = 'streams-placement: namespace default has no Pod "other", there are: web-1\n'
    assert await asked(capfd, "other") == (2, "", said)
    said = f"streams-placement: namespace default has no Job that you may see: {hint}"
    assert await asked(capfd, "job/apps") == (2, "", f"{said}; for a Job of streams.ibm.com write stj/apps\n")
    server.answers["pods", "list"].append(lambda: status(403, "no", reason="Forbidden"))
    assert (await asked(capfd, "other"))[0] == 2


TROUBLE: dict[str, tuple[str, str]] = {
    "the object": ("/api/v1/namespaces/default/pods/w", "Pod w could not be read: the API server answers 500: etcd"),
    "names of others": (
        "/api/v1/namespaces/default/pods",
        "Pod gone could not be read: the API server answers 500: etcd",
    ),
    "its warnings": (
        "/api/v1/namespaces/default/events",
        "Pod w could not be read: the API server answers 500: etcd",
    ),
    "the cluster": ("/api/v1/nodes", "Pod w could not be read: the API server answers 500: etcd"),
    "a node": ("/api/v1/nodes/node-a", "the cluster could not be read: the API server answers 500: etcd"),
}


@pytest.mark.parametrize("what", TROUBLE)
async def test_an_api_server_in_trouble(server: ApiServer, capfd: pytest.CaptureFixture[str], what: str) -> None:
    path, said = TROUBLE[what]
    server.store("nodes", host())
    server.store("pods", pod("w"))

    async def fail(seen: Seen) -> Any:
        await asyncio.sleep(0)
        return status(500, "etcd") if seen.path == path else None

    server.before = fail
    code, out, err = await asked(capfd, "gone" if what == "names of others" else "w")
    assert (code, out, err) == (3, "", f"streams-placement: {said}\n")


async def test_an_answer_that_is_not_an_object(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    server.answers["pods", "GET"].append(lambda: web.Response(text="[]", content_type="application/json"))
    code, _, err = await asked(capfd, "w")
    assert (code, err) == (
        3,
        "streams-placement: Pod w could not be read: an object cannot be read: Expected `object`, got `array`\n",
    )


async def test_a_pod_that_cannot_be_understood_has_no_verdict(
    server: ApiServer, capfd: pytest.CaptureFixture[str]
) -> None:
    server.store("nodes", host())
    server.store("pods", waiting("w") | {"spec": {"containers": "many", "schedulingGates": [{"name": "quota"}]}})
    code, out, _ = await asked(capfd, "w")
    assert (code, out.splitlines()[0].partition(",")[0]) == (
        0,
        "Pod default/w: waits until its scheduling gates are removed: quota",
    )


async def test_pods_of_a_cron_job_belong_to_its_jobs(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    server.store("nodes", host())
    template = {"spec": {"containers": [{"name": "c"}]}}
    metadata = {"name": "night", "namespace": "default", "uid": "cron"}
    spec = {"schedule": "@daily", "jobTemplate": {"spec": {"template": template}}}
    put(
        server,
        "/apis/batch/v1/cronjobs",
        {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": metadata,
            "spec": spec,
        },
    )
    put(
        server,
        "/apis/batch/v1/jobs",
        {
            "kind": "Job",
            "metadata": {
                "name": "night-1",
                "namespace": "default",
                "uid": "j1",
                "ownerReferences": [{"uid": "cron"}],
            },
        },
    )
    for number in range(22):
        server.store("pods", pod(f"night-1-{number:02}", ownerReferences=[{"uid": "j1"}]))
    code, out, _ = await asked(capfd, "cronjob/night")
    lines = out.splitlines()
    assert (code, lines[0], lines[-2]) == (0, "CronJob default/night: 22 pods (22 Running)", "  and 2 more pods")


async def test_no_more_than_so_many_pods_are_read(
    server: ApiServer, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webhook.cluster.queries.object_facts.PODS", 2)
    put(server, "/apis/apps/v1/statefulsets", deployment() | {"kind": "StatefulSet"})
    for number in range(3):
        server.store("pods", pod(f"web-{number}", labels={"app": "web"}, ownerReferences=[{"uid": "d"}]))
    assert len((await told(capfd, "sts/web"))["pods"]) == 2


async def test_a_pool_that_the_watch_has_not_brought_has_no_verdict(
    server: ApiServer, capfd: pytest.CaptureFixture[str]
) -> None:
    server.store("nodes", host())
    server.store("streamshostpools", pool("mine", size=-1))
    _, out, err = await asked(capfd, "hostpool", "mine")
    assert out.splitlines() == [
        "HostPool default/mine: not reconciled by a controller yet",
        "  the current admission verdict cannot be determined",
    ]
    assert (
        err == "streams-placement: warning: cluster: HostPool default/mine: spec.size: -1 is not between 1 and 5000\n"
    )


RAYS = "/apis/ray.io/v1/rayclusters"
JOB_SETS = "/apis/jobset.x-k8s.io/v1alpha2/jobsets"


def owned(made: Json, owner: Json) -> Json:
    """The object as one of the owner's."""
    made["metadata"]["ownerReferences"] = [{"kind": owner["kind"], "name": "x", "uid": owner["metadata"]["uid"]}]
    return made


def ray(workers: int) -> Json:
    metadata = {"labels": {"streams.ibm.com/job": "ray"}, "annotations": {PLACEMENT: 'hostExlocation("ray")'}}
    template = {"metadata": metadata, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}
    spec = {
        "headGroupSpec": {"template": {"spec": {"containers": [{"name": "head"}]}}},
        "workerGroupSpecs": [{"groupName": "g", "replicas": workers, "template": template}],
    }
    named = {"name": "tune", "namespace": "default", "uid": "ray", "creationTimestamp": CREATED}
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": named, "spec": spec}


async def test_an_application_whose_pods_wait(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    server.store("nodes", host(creationTimestamp=CREATED))
    made = put(server, RAYS, ray(2))
    labels = {"streams.ibm.com/job": "ray"}
    server.store("pods", owned(waiting("tune-worker", 'hostExlocation("ray")', labels=labels), made))
    server.store("pods", waiting("other"))
    put(server, "/api/v1/events", event(made, "1 pod of it waits", "PlacementWaiting", lastTimestamp=LATER))
    code, out, err = await asked(capfd, "raycluster/tune")
    assert (code, err) == (1, "")
    head, *lines = out.splitlines()
    assert head.startswith("RayCluster default/tune: 1 pod (1 Pending), created ")
    assert lines[:3] == [
        '  asks for worker g: placement: hostExlocation("ray")',
        "  submitted today it would be refused",
        '  hostExlocation("ray") cannot hold: 1 of 2 pods fits (worker g).',
    ]
    assert "  PlacementWaiting of RayCluster tune: 1 pod of it waits" in lines
    assert lines[-1] == f"  pod tune-worker: Pending: {SCHEDULER}"


async def test_an_application_that_runs_is_judged_in_place_of_its_pods(
    server: ApiServer, capfd: pytest.CaptureFixture[str]
) -> None:
    server.store("nodes", host(creationTimestamp=CREATED))
    made = put(server, RAYS, ray(1))
    running = waiting("tune-worker", 'hostExlocation("ray")', cpu="8", labels={"streams.ibm.com/job": "ray"})
    running["spec"]["nodeName"] = "node-a"
    server.store("pods", owned(running, made))
    found = await told(capfd, "raycluster/tune")
    assert (found["verdict"], [one["name"] for one in found["pods"]]) == ("fits", ["tune-worker"])


async def test_pods_of_an_application_are_found_through_what_its_operator_makes(
    server: ApiServer, capfd: pytest.CaptureFixture[str]
) -> None:
    def of(name: str) -> Json:
        return {"metadata": {"name": name, "namespace": "default", "uid": name}}

    template = {"spec": {"containers": [{"name": "c"}]}}
    spec = {"replicatedJobs": [{"name": "work", "template": {"spec": {"template": template}}}]}
    made = put(
        server, JOB_SETS, {"kind": "JobSet", "apiVersion": "jobset.x-k8s.io/v1alpha2", **of("train"), "spec": spec}
    )
    batch = put(server, "/apis/batch/v1/jobs", owned({"kind": "Job", **of("train-work")}, made))
    server.store("nodes", host(creationTimestamp=CREATED))
    server.store("pods", owned(waiting("train-work-0"), batch))

    async def served(seen: Seen) -> Any:
        await asyncio.sleep(0)
        if seen.path.startswith("/apis/jobset.x-k8s.io/v1/"):
            return status(404, "no such version", reason="NotFound")
        return status(403, "no", reason="Forbidden") if seen.resource == "statefulsets" else None

    server.before = served
    found = await told(capfd, "jobset/train")
    assert (found["kind"], found["verdict"], found["asks"]) == ("JobSet", "fits", [])
    assert [one["name"] for one in found["pods"]] == ["train-work-0"]
    assert found["unread"] == ["statefulsets.apps"]
    code, _, err = await asked(capfd, "jobset/none")
    assert (code, err) == (2, 'streams-placement: namespace default has no JobSet "none", there are: train\n')


async def test_an_application_of_a_kind_that_is_not_served(
    server: ApiServer, capfd: pytest.CaptureFixture[str]
) -> None:
    async def missing(seen: Seen) -> Any:
        await asyncio.sleep(0)
        return status(404, "no such kind", reason="NotFound") if "jobset" in seen.path else None

    server.before = missing
    code, _, err = await asked(capfd, "jobset/train")
    assert (code, "namespace default has no JobSet that you may see" in err) == (2, True)


async def test_of_a_crowded_namespace_some_objects_are_read(
    server: ApiServer, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_facts, "_NAMESPACE", 1)
    made = put(server, RAYS, ray(2))
    for at in range(3):
        server.store("pods", owned(waiting(f"tune-{at}"), made))
    assert [one["name"] for one in (await told(capfd, "raycluster/tune"))["pods"]] == ["tune-0"]
