"""The benchmark of watches tells of lives of pods as an API server does."""

import json

from bench.servers.lives import SIZE, VERSION, chunks, life
from bench.watching import row
from webhook.cluster.objects import wire
from webhook.cluster.objects.items import decode
from webhook.cluster.objects.pods import bound_pod


def test_a_life_is_seven_events_of_one_pod() -> None:
    told = [(kind, bool(pod["spec"].get("nodeName")), pod["metadata"]["uid"]) for kind, pod in life(7)]
    uid = "5a1f0c3e-8a52-4c1e-9d2b-000000000007"
    assert told == [("ADDED", False, uid), *[("MODIFIED", True, uid)] * 5, ("DELETED", True, uid)]


def test_its_pod_is_one_that_the_product_reads() -> None:
    *_, (_, last) = life(7)
    pod, notes = bound_pod(decode(last, wire.PodObject))
    assert pod is not None
    assert (pod.node, pod.terminating, dict(pod.requests), notes) == (
        "node-7", True, {"cpu": 200, "memory": 128 << 20, "pods": 1}, [],
    )  # fmt: skip


def test_every_event_is_a_chunk_with_a_version_of_its_own() -> None:
    told = [*chunks(2)]
    size, line, end = told[8].split(b"\r\n")
    event = json.loads(line)
    assert (len(told), int(size, 16), end, event["object"]["metadata"]["resourceVersion"]) == (
        14, len(line), b"", str(VERSION + 9),
    )  # fmt: skip
    assert SIZE - 500 < len(line) < SIZE + 500


def test_a_row_has_events_a_second_and_milliseconds() -> None:
    assert row(50, 0.0000951) == "| 350 | 0.095 |"
