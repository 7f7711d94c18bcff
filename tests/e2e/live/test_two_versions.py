"""A definition that serves two versions, whose objects our server converts: the way to go when a field must change."""

import copy
import json
from base64 import b64encode
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.live.bare_plane import ACCOUNT, BarePlane, allow_reading, serve_hostpools
from tests.e2e.live.webhook_process import Server
from tests.e2e.polling import until
from tests.e2e.workloads import namespace
from webhook.cluster.crds.definitions import hostpool_definition
from webhook.cluster.crds.versions import TRIAL

SPACE: Final = "versions"
NAME: Final = "streamshostpools.streams.ibm.com"
POOLS: Final = f"/apis/streams.ibm.com/{{}}/namespaces/{SPACE}/streamshostpools"
OLD, NEW = (POOLS.format(version) for version in ("v1", TRIAL))


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BarePlane]:
    with BarePlane(tmp_path_factory.mktemp("versions"), service_accounts=(ACCOUNT,)) as plane:
        allow_reading(plane.admin)
        serve_hostpools(plane)
        namespace(plane.admin, SPACE)
        plane.admin.call("POST", OLD, pool("before", "v1", size=1, mode="Exclusive"))
        yield plane


@pytest.fixture(scope="module")
def converting(bare: BarePlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Our server, and the definition with both versions, which names it."""
    with Server(tmp_path_factory.mktemp("server"), bare) as server:
        server.wait()
        done = bare.kubectl(
            "apply", "--server-side", "--force-conflicts", "-f", "-", stdin=json.dumps(in_two_versions(server))
        )
        assert done.returncode == 0, done.stderr
        until(lambda: bare.admin.send("GET", NEW).code == HTTPStatus.OK, "both versions are served", 60)
        yield server


def in_two_versions(server: Server) -> Object:
    """The definition of HostPool with ``exclusive`` in place of ``mode`` in its second version."""
    made = hostpool_definition()
    second = copy.deepcopy(made["spec"]["versions"][0]) | {"name": TRIAL, "storage": False}
    spec: dict[str, Any] = second["schema"]["openAPIV3Schema"]["properties"]["spec"]
    del spec["properties"]["mode"]
    spec["properties"]["exclusive"] = {"type": "boolean", "description": "Whether the hosts are reserved."}
    spec["x-kubernetes-validations"] = [
        rule for rule in spec["x-kubernetes-validations"] if ".mode" not in rule["rule"]
    ]
    second["additionalPrinterColumns"] = [
        {"name": "Exclusive", "type": "boolean", "jsonPath": ".spec.exclusive"},
    ]
    made["spec"]["versions"].append(second)
    client = {"url": f"https://127.0.0.1:{server.port}/convert", "caBundle": ca_bundle(server.authority)}
    made["spec"]["conversion"] = {
        "strategy": "Webhook",
        "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]},
    }
    return made


def ca_bundle(authority: Path) -> str:
    """The authority as a field of JSON has it."""
    return b64encode(authority.read_bytes()).decode()


def pool(name: str, version: str, **spec: object) -> Object:
    metadata = {"name": name, "namespace": SPACE}
    return {"apiVersion": f"streams.ibm.com/{version}", "kind": "HostPool", "metadata": metadata, "spec": spec}


def spec_of(admin: Api, path: str, name: str) -> object:
    return stated(admin.get(f"{path}/{name}"))


def stated(found: Object) -> Object:
    """The spec of a pool without the field that has a default in both versions."""
    return {name: value for name, value in found["spec"].items() if name != "elastic"}


def test_what_was_stored_before_is_read_in_the_new_version(bare: BarePlane, converting: Server) -> None:
    del converting
    assert spec_of(bare.admin, NEW, "before") == {"size": 1, "exclusive": True}
    assert spec_of(bare.admin, OLD, "before") == {"size": 1, "mode": "Exclusive"}


def test_what_is_made_in_the_new_version_is_read_in_the_old_one(bare: BarePlane, converting: Server) -> None:
    bare.admin.call("POST", NEW, pool("after", TRIAL, size=2, exclusive=False))
    assert spec_of(bare.admin, OLD, "after") == {"size": 2, "mode": "Shared"}
    assert spec_of(bare.admin, NEW, "after") == {"size": 2, "exclusive": False}
    count = len(bare.admin.get(OLD)["items"])
    until(lambda: converting.gauge("host_pools") == count, "the server knows all pools, as before")


def test_a_change_in_one_version_is_a_change_in_the_other(bare: BarePlane, converting: Server) -> None:
    del converting
    bare.admin.call("POST", NEW, pool("changed", TRIAL, size=1, exclusive=True))
    bare.admin.patch(f"{NEW}/changed", {"spec": {"elastic": True}, "metadata": {"labels": {"team": "a"}}})
    found = bare.admin.get(f"{OLD}/changed")
    assert found["spec"] == {"size": 1, "mode": "Exclusive", "elastic": True}
    assert found["metadata"]["labels"] == {"team": "a"}


def test_more_pools_than_a_slice_are_listed_at_once(bare: BarePlane, converting: Server) -> None:
    del converting
    for number in range(520):
        bare.admin.call("POST", OLD, pool(f"many-{number}", "v1", tags=["a"], mode="Shared"))
    listed = bare.admin.get(NEW)["items"]
    many = [stated(one) for one in listed if one["metadata"]["name"].startswith("many-")]
    assert many == [{"tags": ["a"], "exclusive": False}] * 520


def test_kubectl_shows_either_version(bare: BarePlane, converting: Server) -> None:
    del converting
    shown = bare.kubectl("get", f"streamshostpools.{TRIAL}.streams.ibm.com", "before", "-n", SPACE)
    assert shown.stdout.split() == ["NAME", "EXCLUSIVE", "before", "true"], shown.stderr


def test_without_the_server_the_stored_version_is_served_and_the_other_one_fails(
    bare: BarePlane, converting: Server
) -> None:
    """A server that starts again reads the stored version, so it never waits for its own conversions."""
    converting.process.stop()
    try:
        assert spec_of(bare.admin, OLD, "before") == {"size": 1, "mode": "Exclusive"}
        failed = bare.admin.send("GET", f"{NEW}/before")
        assert failed.code == HTTPStatus.INTERNAL_SERVER_ERROR
        assert "conversion webhook" in failed.message
    finally:
        converting.process.start()
    converting.wait()
    assert spec_of(bare.admin, NEW, "before") == {"size": 1, "exclusive": True}
