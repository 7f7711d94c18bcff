"""Which fields of an existing HostPool can be changed, and how kubectl shows a HostPool."""

import pytest

from tests.e2e.chart.objects.hostpools import POOLS, SPACE, Spec, create
from tests.e2e.client.api import Api, RefusedError
from tests.e2e.live.bare_plane import BarePlane

SELECTOR: Spec = {"selector": {"matchLabels": {"a": "b"}}}

CHANGES: dict[str, tuple[Spec, Spec, str]] = {
    "another name": ({"name": "a"}, {"name": "b"}, "name"),
    "a name added": ({}, {"name": "b"}, "name"),
    "the name removed": ({"name": "a"}, {"name": None}, "name"),
    "another job": ({"job": "a"}, {"job": "b"}, "job"),
    "a job added": ({}, {"job": "b"}, "job"),
    "the job removed": ({"job": "a"}, {"job": None}, "job"),
    "another host": ({"hosts": ["a"]}, {"hosts": ["b"]}, "hosts"),
    "the same hosts in another order": ({"hosts": ["a", "b"]}, {"hosts": ["b", "a"]}, "hosts"),
    "hosts added": ({}, {"hosts": ["a"]}, "hosts"),
    "the hosts removed": ({"hosts": ["a"]}, {"hosts": None}, "hosts"),
    "another size": ({"size": 1}, {"size": 2}, "size"),
    "a size added": ({}, {"size": 2}, "size"),
    "the size removed": ({"size": 2}, {"size": None}, "size"),
    "other tags": ({"tags": ["a"]}, {"tags": ["b"]}, "tags"),
    "tags added": ({}, {"tags": ["b"]}, "tags"),
    "the tags removed": ({"tags": ["a"]}, {"tags": None}, "tags"),
    "another selector": (SELECTOR, {"selector": {"matchLabels": {"a": "c"}}}, "selector"),
    "a selector added": ({}, {"selector": {}}, "selector"),
    "the selector removed": ({"selector": {}}, {"selector": None}, "selector"),
    "another mode": ({"size": 1}, {"mode": "Exclusive"}, "mode"),
    "the mode removed": ({"size": 1, "mode": "Exclusive"}, {"mode": None}, "mode"),
}  # fmt: skip


@pytest.mark.parametrize(("before", "change", "field"), CHANGES.values(), ids=CHANGES.keys())
def test_a_pool_that_exists_cannot_be_changed(pools: Api, before: Spec, change: Spec, field: str) -> None:
    create(pools, "kept", before)
    try:
        with pytest.raises(RefusedError) as refused:
            pools.patch(f"{POOLS}/kept", {"spec": change})
    finally:
        pools.delete(f"{POOLS}/kept")
    sentence = f"spec.{field}: Invalid value: cannot be changed: create another HostPool instead"
    assert (refused.value.code, sentence in refused.value.message) == (422, True), refused.value.message


def test_whether_nodes_may_still_come_can_be_changed(pools: Api) -> None:
    create(pools, "grows", {"size": 2})
    assert pools.patch(f"{POOLS}/grows", {"spec": {"elastic": True}})["spec"]["elastic"] is True


def test_the_status_is_a_resource_of_its_own(pools: Api) -> None:
    create(pools, "stands", {"size": 1})
    status = {"phase": "Ready", "hosts": [{"index": 0, "name": "node-1"}], "readyHosts": 1}
    assert "status" not in pools.patch(f"{POOLS}/stands", {"status": status})
    assert pools.patch(f"{POOLS}/stands/status", {"status": status})["status"] == status


def test_one_index_stands_for_one_host(pools: Api) -> None:
    create(pools, "twice", {"size": 2})
    hosts = [{"index": 0, "name": "node-1"}, {"index": 0, "name": "node-2"}]
    with pytest.raises(RefusedError, match=r"status\.hosts\[1\]: Duplicate value"):
        pools.patch(f"{POOLS}/twice/status", {"status": {"hosts": hosts}})


@pytest.mark.parametrize("word", ["sthp", "hostpool", "hostpools", "streamshostpool", "streamshostpools", "streams"])
@pytest.mark.usefixtures("pools")
def test_kubectl_finds_pools_by(unattended: BarePlane, word: str) -> None:
    done = unattended.kubectl("get", word, "--namespace", SPACE)
    assert done.returncode == 0, done.stderr


def test_kubectl_shows_how_a_pool_stands(unattended: BarePlane, pools: Api) -> None:
    create(pools, "shown", {"name": "P1", "size": 2, "mode": "Exclusive"})
    pools.patch(f"{POOLS}/shown/status", {"status": {"name": "P1", "phase": "Pending", "readyHosts": 1}})
    head, row = unattended.kubectl("get", "sthp", "shown", "--namespace", SPACE).stdout.splitlines()
    assert head.split() == ["NAME", "POOL", "MODE", "SIZE", "READY", "HOSTS", "STATUS", "AGE"]
    assert row.split()[:6] == ["shown", "P1", "Exclusive", "2", "1", "Pending"]
