"""HostPools in a namespace of their own, which do not depend on the rest of the chart."""

import contextlib
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Final, TypeAlias
from urllib.parse import urlencode

from tests.e2e.chart.rendering import CHART
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import namespace

Spec: TypeAlias = dict[str, Any]

SPACE: Final = "rules"
POOLS: Final = f"/apis/streams.ibm.com/v1/namespaces/{SPACE}/streamshostpools"


def expression(operator: str, *values: str, key: str = "zone") -> Spec:
    return {"selector": {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}}


@contextlib.contextmanager
def served(plane: ControlPlane) -> Iterator[Api]:
    """An API server that knows HostPools, with or without the rest of the chart."""
    done = plane.kubectl("apply", "-f", str(CHART / "crds"))
    assert done.returncode == 0, done.stderr
    namespace(plane.admin, SPACE)
    until(lambda: plane.admin.send("GET", POOLS).code == HTTPStatus.OK, "HostPools are served")
    yield plane.admin
    plane.admin.delete(POOLS)


def pool(name: str, spec: Spec | None) -> Object:
    metadata = {"name": name, "namespace": SPACE}
    return {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "HostPool",
        "metadata": metadata,
        **({} if spec is None else {"spec": spec}),
    }


def create(pools: Api, name: str, spec: Spec | None, **query: str) -> Object:
    made: Object = pools.call("POST", f"{POOLS}?{urlencode(query)}", pool(name, spec)).body
    return made


def ask(pools: Api, spec: Spec | None, **query: str) -> Object:
    """What would be stored."""
    return create(pools, "asked", spec, dryRun="All", **query)
