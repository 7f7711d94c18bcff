"""Whatever happens, in whatever order: in the end a sink holds what a fresh reading of what is left gives."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

from kubeapi.client.connection import Connection
from tests.apiserver.paths import PATHS, Json, path_of
from tests.apiserver.server import ApiServer, status
from tests.cluster.live.watched_cluster import FAST, WatchedCluster, until
from tests.cluster.objects import (
    Recorder,
    claim_template,
    consumer,
    device_class,
    intent,
    job,
    limit_range,
    namespace,
    node,
    node_topology,
    one_gpu,
    pod,
    pool,
    priority_class,
    resource_claim,
    resource_slice,
    runtime_class,
    taint_rule,
)
from tests.suite.example_count import examples
from webhook.cluster.objects.kinds import KINDS
from webhook.cluster.watch.store import Store

pytestmark = pytest.mark.integration

VARIANTS: dict[str, tuple[Callable[[str, str], Json], ...]] = {
    "nodes": (
        lambda name, uid: node(name, uid=uid),
        lambda name, uid: node(name, uid=uid, labels={"zone": uid}),
        lambda name, uid: node(name, uid=uid, status={"allocatable": 5}),
        lambda name, uid: node(name, uid=uid, spec={"taints": [{"effect": "NoSchedule"}]}),
    ),
    "pods": (
        lambda name, uid: pod(name, uid=uid),
        lambda name, uid: pod(name, uid=uid, spec={"nodeName": f"node-{uid}"}),
        lambda name, uid: pod(name, uid=uid, phase="Succeeded"),
        lambda name, uid: pod(name, uid=uid, spec={"containers": 5}),
    ),
    "streamshostpools": (
        lambda name, uid: pool(metadata={"name": name, "namespace": "default"}, size=int(uid) + 1),
        lambda name, uid: pool(metadata={"name": name, "namespace": "default"}, name=f"P{uid}"),
        lambda name, uid: pool(metadata={"name": name, "namespace": "default"}, mode=uid),
    ),
    "streamsjobs": (
        lambda name, uid: job(name=name, uid=uid),
        lambda name, uid: job({"name": f"pe-{uid}"}, name=name),
        lambda name, uid: job(int(uid), name=name),
    ),
    "streamshpaintents": (
        lambda name, uid: intent(name=name, uid=uid),
        lambda name, uid: intent(consumer({"name": "cpu", "limits": 1}, name=uid), name=name),
        lambda name, uid: intent(5, name=name, uid=uid),
        lambda name, uid: intent(name=name, uid=uid, labels=5),
    ),
    "namespaces": (
        lambda name, _: namespace(name, "enabled"),
        lambda name, _: namespace(name, None),
        namespace,
    ),
    "deviceclasses": (
        lambda name, uid: device_class(name, f"example.com/gpu-{uid}"),
        lambda name, _: device_class(name, None),
        device_class,
    ),
    "resourceslices": (
        lambda name, uid: resource_slice(name, {"name": f"gpu-{uid}"}, node=name),
        lambda name, _: resource_slice(name, 5),
        lambda name, _: resource_slice(name, node=name),
    ),
    "resourceclaims": (
        lambda name, uid: resource_claim(name, one_gpu(count=int(uid))),
        lambda name, _: resource_claim(name, one_gpu(count="many")),
    ),
    "resourceclaimtemplates": (
        lambda name, uid: claim_template(name, one_gpu(count=int(uid))),
        lambda name, _: claim_template(name, {"devices": 5}),
    ),
    "devicetaintrules": (
        lambda name, uid: taint_rule(name, device=f"gpu-{uid}"),
        lambda name, _: taint_rule(name, "None"),
        lambda name, _: taint_rule(name, deviceClassName="gpu.example.com"),
    ),
    "noderesourcetopologies": (
        lambda name, uid: node_topology(name, int(uid)),
        lambda name, _: node_topology(name, "many"),
    ),
    "limitranges": (
        lambda name, uid: limit_range(name, default={"cpu": uid}),
        lambda name, _: limit_range(name, max={"memory": "x"}),
    ),
    "runtimeclasses": (
        lambda name, uid: runtime_class(name, overhead={"podFixed": {"cpu": uid}}),
        lambda name, _: runtime_class(name, overhead=5),
    ),
    "priorityclasses": (
        lambda name, uid: priority_class(name, int(uid)),
        lambda name, _: priority_class(name, "high"),
    ),
}
"""What an object can look like; some of them cannot be used, or hold nothing."""

resources = st.sampled_from([*PATHS])
puts = st.tuples(st.just("put"), resources, st.integers(0, 5), st.integers(0, 3), st.integers(0, 2))
deletes = st.tuples(st.just("delete"), resources, st.integers(0, 5))
faults = st.tuples(
    st.sampled_from(["gone list", "gone page", "gone watch", "broken list", "garbage", "bookmark"]), resources
)
outages = st.tuples(st.sampled_from(["compact", "restart", "pause", "turn"]))
histories = st.lists(puts | puts | deletes | faults | outages, max_size=40)


CLUSTER_SCOPED = {
    "nodes", "namespaces", "deviceclasses", "resourceslices", "devicetaintrules", "noderesourcetopologies",
    "runtimeclasses", "priorityclasses",
}  # fmt: skip

TIMEOUTS = {"answer": 0.2, "silence": 0.3}
"""A server that stops leaves some connections half open."""


async def happen(server: ApiServer, what: str, *how: Any) -> None:
    """One thing that can happen to an API server."""
    if what == "put":
        resource, name, variant, uid = how
        makers = VARIANTS[resource]
        server.store(resource, makers[variant % len(makers)](f"object-{name}", f"{name}{uid}"))
    elif what == "delete":
        resource, name = how
        space = "" if resource in CLUSTER_SCOPED else "default"
        if path_of(PATHS[resource], f"object-{name}", space) in server.objects:
            server.remove(resource, f"object-{name}", space)
    elif what.startswith("gone"):
        server.answers[how[0], what.removeprefix("gone ")].append(lambda: status(410))
    elif what == "broken list":
        server.answers[how[0], "list"].append(lambda: web.Response(text="{"))
    elif what == "garbage":
        server.send(how[0], b"garbage\n")
    elif what == "bookmark":
        server.bookmark(how[0])
    elif what == "compact":
        server.storage.compact()
    elif what == "restart":
        await server.stop()
        await server.start()
    else:
        await asyncio.sleep(0.01 if what == "pause" else 0)


def final(server: ApiServer) -> Recorder:
    """What a fresh reading of all objects gives."""
    sink = Recorder()
    for kind in KINDS:
        store = Store(kind, sink, lambda _: None)
        for item in server.storage.all(PATHS[kind.resource]):
            store.put(Raw(json.dumps(item).encode()))
        store.listed(readable=True)
    return sink


def known(sink: Recorder) -> dict[str, Any]:
    """What the sink was told; volumes are asked for when they are needed, and node groups are not always watched."""
    return {name: found for name, found in vars(sink).items() if name not in {"volumes", "node_groups"}}


async def live(before: list[tuple[Any, ...]], history: list[tuple[Any, ...]], chunk: int | None) -> None:
    """Let all of it happen, some of it while it is being watched, and wait until nothing is left to know."""
    server = ApiServer()
    server.chunk = chunk
    async with server.running():
        for what, *how in before:
            await happen(server, what, *how)
        connection = Connection(server.configuration())
        pace = replace(FAST, page=2, least=0.001, most=0.005, most_away=0.005, between_lists=0.001, **TIMEOUTS)
        async with WatchedCluster(pace, connection=connection).running(synced=False) as watched:
            for what, *how in history:
                await happen(server, what, *how)
            await until(lambda: watched.cluster.synced and known(watched.sink) == known(final(server)), limit=10.0)


@examples(200)
@given(before=st.lists(puts, max_size=20), history=histories, chunk=st.none() | st.integers(1, 50))
def test_any_history_ends_with_what_there_is(
    before: list[tuple[Any, ...]], history: list[tuple[Any, ...]], chunk: int | None
) -> None:
    asyncio.run(live(before, history, chunk))
