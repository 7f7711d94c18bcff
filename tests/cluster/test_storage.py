"""Claims, volumes and storage classes as the API server writes them."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from webhook.cluster.objects.kinds import CLAIMS, STORAGE, STORAGE_CLASSES, VOLUMES, AnyKind
from webhook.cluster.objects.metadata import MalformedError
from webhook.cluster.objects.storage import read_claim, read_class, read_volume
from webhook.cluster.snapshot.snapshot import read_snapshot
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.pod import NodeTerm, Requirement
from webhook.placement.objects.volumes import UNREAD, Claim, PersistentVolume, StorageClass

ON_A = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["a"]}]}]
TERMS = (NodeTerm(match_expressions=(Requirement("kubernetes.io/hostname", "In", ("a",)),)),)
DEFAULT = {"storageclass.kubernetes.io/is-default-class": "true"}


def claim(name: str = "c", **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "apps"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def volume(name: str = "v", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def storage_class(name: str = "fast", annotations: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, "annotations": annotations}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": metadata, **fields}


@pytest.mark.parametrize(
    ("found", "value"),
    [
        (claim(volumeName="v", storageClassName="fast"), Claim("apps", "c", "v", "fast")),
        (claim(storageClassName=""), Claim("apps", "c", storage_class="")),
        (claim(), Claim("apps", "c")),
        ({"metadata": {"name": "c"}}, Claim("default", "c")),
    ],
    ids=["bound", "of no class", "of the default class", "bare"],
)
def test_a_claim(found: dict[str, Any], value: Claim) -> None:
    assert read_claim(found) == (value, [])


@pytest.mark.parametrize(
    ("found", "terms"),
    [
        (volume(nodeAffinity={"required": {"nodeSelectorTerms": ON_A}}), TERMS),
        (volume(nodeAffinity={"required": {}}), ()),
        (volume(nodeAffinity={}), None),
        (volume(), None),
    ],
    ids=["on a node", "without terms", "that requires nothing", "anywhere"],
)
def test_a_volume(found: dict[str, Any], terms: tuple[NodeTerm, ...] | None) -> None:
    assert read_volume(found) == (PersistentVolume("v", terms), [])


TOPOLOGY = [{"matchLabelExpressions": [{"key": "kubernetes.io/hostname", "values": ["a"]}]}]


@pytest.mark.parametrize(
    ("found", "value"),
    [
        (storage_class(volumeBindingMode="WaitForFirstConsumer"), StorageClass("fast", waits=True)),
        (storage_class(volumeBindingMode="Immediate"), StorageClass("fast")),
        (storage_class(provisioner="kubernetes.io/no-provisioner"), StorageClass("fast", by_hand=True)),
        (storage_class(allowedTopologies=TOPOLOGY), StorageClass("fast", terms=TERMS)),
        (storage_class(allowedTopologies=[{}]), StorageClass("fast", terms=(NodeTerm(match_expressions=()),))),
        (storage_class(annotations=DEFAULT), StorageClass("fast", default=True)),
        (storage_class(annotations={"x": "y"}), StorageClass("fast")),
    ],
    ids=["waits", "does not", "by hand", "in some places", "in no place", "default", "another annotation"],
)
def test_a_class(found: dict[str, Any], value: StorageClass) -> None:
    assert read_class(found) == (value, [])


@pytest.mark.parametrize("kind", STORAGE, ids=lambda kind: kind.name)
def test_a_nameless_object_is_malformed(kind: AnyKind) -> None:
    with pytest.raises(MalformedError, match="metadata.name: missing"):
        kind.read({"metadata": {}})


def test_a_snapshot_may_hold_them(tmp_path: Path) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}
    found = [node, claim(volumeName="v"), volume(), storage_class()]
    (tmp_path / "all.json").write_bytes(msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": found}))
    inventory = Inventory()
    report = read_snapshot(tmp_path, inventory)
    assert (inventory.volumes.claim(("apps", "c")), inventory.volumes.volume("v")) == (
        Claim("apps", "c", "v"),
        PersistentVolume("v"),
    )
    assert inventory.volumes.class_named("fast") == StorageClass("fast")
    assert "1 PersistentVolumeClaim, 1 PersistentVolume, 1 StorageClass; 0 finished" in str(report)


def test_what_goes_is_forgotten() -> None:
    inventory = Inventory()
    for kind, found, key in (
        (CLAIMS, claim(), "apps/c"),
        (VOLUMES, volume(), "v"),
        (STORAGE_CLASSES, storage_class(), "fast"),
    ):
        value, _ = kind.read(found)
        kind.put(inventory, value)
        assert kind.value_key(value) == key
        kind.drop(inventory, key)
    volumes = inventory.volumes
    assert (volumes.claim(("apps", "c")), volumes.volume("v"), volumes.class_named("fast")) == (UNREAD, None, None)
