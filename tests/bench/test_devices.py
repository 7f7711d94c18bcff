"""The benchmark of devices publishes slices and claims that the product reads, and none where it says so."""

import pytest
from msgspec import Raw

from bench.devices import DRIVER, added, decisions, pages, row
from bench.memory import Memory
from tests.cluster.objects import Recorder
from webhook.cluster.snapshot.loader import SnapshotLoader
from webhook.placement.devices.published.claims import DeviceName


def read(nodes: int, each: int) -> Recorder:
    sink = Recorder()
    loader = SnapshotLoader(sink)
    for name, content in pages(nodes, each):
        loader.begin(name)
        loader.document(Raw(content))
    assert loader.report().skipped_count == 0
    return sink


@pytest.mark.parametrize(("each", "slices", "claims"), [(8, 300, 600), (0, 0, 0)])
def test_the_product_reads_every_object(each: int, slices: int, claims: int) -> None:
    devices = read(300, each).devices
    assert (len(devices.slices), len(devices.claims), [*devices.found]) == (slices, claims, [DRIVER])


def test_a_claim_holds_a_device_that_is_published() -> None:
    devices = read(3, 8).devices
    published = {
        DeviceName(found.driver, found.pool, device.name)
        for found in devices.slices.values()
        for device in found.devices
    }
    held = {one.device for claim in devices.claims.values() if claim.allocation for one in claim.allocation.devices}
    assert (len(published), len(held)) == (24, 6)
    assert held < published


def test_a_row_has_memory_and_times() -> None:
    assert row("10 nodes", Memory(100.4, 120.0, 1.25), 3.0) == "| 10 nodes | 100 | 120 | 3.0 | 1.2 |"


def test_what_devices_add_is_told_beside_the_goal() -> None:
    found = added(Memory(100.4, 120.0, 1.25), Memory(116.6, 130.0, 2.0))
    assert found == "devices add 16 MB of resident memory (goal: at most 20)"


def test_decisions_on_pods_with_two_requests_are_measured() -> None:
    found = decisions(20, 8, pods=20)
    assert [*found] == ["no devices", "two requests"]
    assert all(0 < one.median <= one.p99 for one in found.values())
