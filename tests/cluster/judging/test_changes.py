"""Changes of an inventory that are told, and done to another one."""

import pytest
from msgspec.structs import replace

from tests.builders import NAMESPACE, bound_pod, node, pool
from webhook.cluster.judging.changes import ChangeLog, InventoryChange
from webhook.cluster.objects.kinds import DEVICES, KINDS, NODES, PODS, POOLS
from webhook.placement.inventory.inventory import Inventory


def test_what_is_told_makes_another_inventory_the_same() -> None:
    log, told = ChangeLog(), list[InventoryChange]()
    log.listeners.append(told.append)
    kinds = dict(zip(KINDS, log.kinds(), strict=True))
    first, second = Inventory(), Inventory()
    kinds[NODES].put(first, node())
    kinds[NODES].put(first, node("node-b"))
    kinds[PODS].put(first, bound_pod(uid="u"))
    kinds[POOLS].put(first, pool("P"))
    kinds[NODES].drop(first, "node-b")
    for kind in DEVICES:
        kinds[kind].listed(first, True)  # noqa: FBT003 -- as reflectors call it
    for change in told:
        log.apply(change, second)
    assert (first.devices.read, second.devices.read) == (True, True)
    assert [one.name for one in second.nodes.nodes.values()] == ["node-a"]
    assert (list(second.pod_uids), list(second.pools.of_namespace(NAMESPACE))) == (
        list(first.pod_uids),
        list(first.pools.of_namespace(NAMESPACE)),
    )
    assert [change.gone for change in told] == [False, False, False, False, True, *[False] * len(DEVICES)]


def test_every_listener_hears_of_a_change_even_if_one_leaves() -> None:
    log, heard = ChangeLog([NODES]), list[str]()

    def leaves(change: InventoryChange) -> None:
        heard.append(f"first {change.value}")
        log.listeners.remove(leaves)

    log.listeners += [leaves, lambda change: heard.append(f"second {change.value}")]
    (told,) = log.kinds()
    for name in ("a", "b"):
        told.drop(Inventory(), name)
    assert heard == ["first a", "second a", "second b"]


def test_a_listener_is_optional() -> None:
    log, inventory = ChangeLog([NODES]), Inventory()
    (told,) = log.kinds()
    told.put(inventory, node())
    assert len(inventory.nodes.nodes) == 1
    told.listed(inventory, True)  # noqa: FBT003 -- as reflectors call it
    told.drop(inventory, "node-a")
    assert not inventory.nodes.nodes


def refuse(*_: object) -> None:
    raise ValueError("unforeseen")


def test_a_change_is_in_the_inventory_whatever_becomes_of_telling_it() -> None:
    log, inventory = ChangeLog([NODES, *DEVICES]), Inventory()
    log.listeners.append(refuse)
    told, *devices = log.kinds()
    with pytest.raises(ValueError, match="unforeseen"):
        told.put(inventory, node())
    assert list(inventory.nodes.nodes) == [0]
    with pytest.raises(ValueError, match="unforeseen"):
        told.drop(inventory, "node-a")
    assert not inventory.nodes.nodes
    for kind in devices:
        with pytest.raises(ValueError, match="unforeseen"):
            kind.listed(inventory, True)  # noqa: FBT003 -- as reflectors call it
    assert inventory.devices.read


def test_a_change_that_fails_is_told_as_well() -> None:
    log, heard = ChangeLog([replace(NODES, put=refuse, drop=refuse, listed=refuse)]), list[InventoryChange]()
    log.listeners.append(heard.append)
    (told,) = log.kinds()
    for change in (told.put, told.drop, told.listed):
        with pytest.raises(ValueError, match="unforeseen"):
            change(Inventory(), "node-a")
    gone = InventoryChange(0, "node-a", gone=True)
    assert heard == [InventoryChange(0, "node-a"), gone, InventoryChange(0, "node-a", listed=True)]


def test_a_told_kind_is_read_as_before() -> None:
    assert [kind.api for kind in ChangeLog().kinds()] == [kind.api for kind in KINDS]
