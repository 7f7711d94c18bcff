"""Devices of ``v1beta1`` and ``v1beta2``: read as the same objects of ``v1``."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cluster.objects import GPUS, claim_template, device_class, node, resource_claim, resource_slice
from webhook.cluster.objects.device_claims import read_claim, read_template
from webhook.cluster.objects.device_slices import read_slice
from webhook.cluster.objects.device_versions import in_v1
from webhook.cluster.objects.items import Head
from webhook.cluster.objects.report import Report
from webhook.cluster.snapshot.snapshot import read_snapshot
from webhook.placement.inventory.inventory import Inventory

BETA1: Final = "resource.k8s.io/v1beta1"
BETA2: Final = "resource.k8s.io/v1beta2"
WANTED: Final[dict[str, Any]] = {
    "deviceClassName": GPUS,
    "count": 2,
    "selectors": [{"cel": {"expression": "device.attributes['a'].b"}}],
    "tolerations": [{"key": "example.com/hot", "operator": "Exists"}],
    "capacity": {"requests": {"memory": "4Gi"}},
}
EITHER: Final = [{"name": "big", "deviceClassName": GPUS}, {"name": "small", "deviceClassName": GPUS, "count": 2}]
FIELDS: Final[dict[str, Any]] = {
    "attributes": {"model": {"string": "a"}},
    "capacity": {"memory": {"value": "8Gi"}},
    "taints": [{"key": "example.com/hot", "effect": "NoSchedule"}],
}


def stated(source: dict[str, Any], version: str) -> dict[str, Any]:
    """The object with that apiVersion."""
    return {**source, "apiVersion": version}


def converted(source: dict[str, Any], version: str = BETA1) -> Any:
    return in_v1(Head(version, source["kind"]), stated(source, version))


def report_of(folder: Path, *objects: dict[str, Any]) -> Report:
    """The report of a snapshot with a node and these objects."""
    (folder / "cluster.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node(), *objects]}))
    return read_snapshot(folder, Inventory())


@pytest.mark.parametrize(
    ("flat", "request_of_v1"),
    [
        pytest.param(WANTED, {"exactly": WANTED}, id="all fields"),
        pytest.param({"firstAvailable": EITHER}, {"firstAvailable": EITHER}, id="alternatives"),
        pytest.param(
            {"firstAvailable": EITHER, "deviceClassName": "", "allocationMode": "", "count": 0, "selectors": None},
            {"firstAvailable": EITHER},
            id="empty fields are unset",
        ),
        pytest.param({"adminAccess": False}, {"exactly": {"adminAccess": False}}, id="false is set"),
        pytest.param({"selectors": []}, {"exactly": {"selectors": []}}, id="an empty list is set"),
        pytest.param({"exactly": WANTED}, {}, id="exactly does not exist in v1beta1"),
    ],
)
def test_a_request_of_v1beta1_is_that_of_v1(flat: dict[str, Any], request_of_v1: dict[str, Any]) -> None:
    older = {"devices": {"requests": [{"name": "gpu", **flat}], "constraints": [{"matchAttribute": "a/b"}]}}
    newer = {"devices": {"requests": [{"name": "gpu", **request_of_v1}], "constraints": [{"matchAttribute": "a/b"}]}}
    assert read_claim(converted(resource_claim(spec=older))) == read_claim(resource_claim(spec=newer))
    assert read_template(converted(claim_template(spec=older))) == read_template(claim_template(spec=newer))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        pytest.param({"basic": FIELDS}, FIELDS, id="fields"),
        pytest.param({"basic": None}, {}, id="null"),
        pytest.param({}, {}, id="nothing"),
        pytest.param(FIELDS, {}, id="fields outside of basic do not exist in v1beta1"),
    ],
)
def test_a_device_of_v1beta1_is_that_of_v1(older: dict[str, Any], newer: dict[str, Any]) -> None:
    found = read_slice(converted(resource_slice("s", {"name": "gpu-0", **older})))
    assert found == read_slice(resource_slice("s", {"name": "gpu-0", **newer}))


@pytest.mark.parametrize(
    "source",
    [
        resource_claim(spec={"devices": {"requests": 5}}),
        resource_claim(spec={"devices": {"requests": [5]}}),
        resource_claim(spec={}),
        resource_claim(spec=5),
        resource_slice("s", "gpu-0"),
    ],
)
def test_what_is_of_no_known_form_stays_as_it_is(source: dict[str, Any]) -> None:
    assert converted(source) == stated(source, BETA1)


@pytest.mark.parametrize("version", ["resource.k8s.io/v1", BETA2])
def test_other_versions_are_not_converted(version: str) -> None:
    source = stated(resource_claim(spec={"devices": {"requests": [WANTED]}}), version)
    assert in_v1(Head(version, "ResourceClaim"), source) is source


def test_a_class_has_the_same_fields_in_every_version() -> None:
    source = stated(device_class(), BETA1)
    assert in_v1(Head(BETA1, "DeviceClass"), source) is source


@pytest.mark.parametrize("version", [BETA1, BETA2])
def test_a_snapshot_may_have_devices_of_older_versions(tmp_path: Path, version: str) -> None:
    objects = device_class(), resource_slice(), resource_claim(), claim_template()
    counts = report_of(tmp_path, *(stated(one, version) for one in objects)).counts
    kinds = "DeviceClass", "ResourceSlice", "ResourceClaim", "ResourceClaimTemplate"
    assert [counts[kind] for kind in kinds] == [1, 1, 1, 1]


def test_a_device_whose_basic_is_not_an_object_is_named(tmp_path: Path) -> None:
    report = report_of(tmp_path, stated(resource_slice("s", {"name": "gpu-0", "basic": 5}), BETA1))
    assert [str(finding) for finding in report.skipped] == [
        "cluster.json: ResourceSlice s: spec.devices: basic of a device is not an object"
    ]


def test_members_of_a_list_have_its_version(tmp_path: Path) -> None:
    member = resource_claim(spec={"devices": {"requests": [{"name": "gpu", **WANTED}]}})
    members = [{name: member[name] for name in ("metadata", "spec")}]
    (tmp_path / "claims.json").write_text(
        json.dumps({"kind": "ResourceClaimList", "apiVersion": BETA1, "items": members})
    )
    inventory = Inventory()
    (tmp_path / "node.json").write_text(json.dumps(node()))
    assert read_snapshot(tmp_path, inventory).counts["ResourceClaim"] == 1
    (read_spec,) = [claim.spec for claim in map(inventory.devices.claim, [("default", "gpu")]) if claim]
    assert [choice.count for request in read_spec.requests for choice in request.choices] == [2]
