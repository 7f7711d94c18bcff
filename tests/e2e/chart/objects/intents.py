"""HPAIntents as users submit them."""

from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

from tests.e2e.chart.objects.hostpools import SPACE
from tests.e2e.client.api import Object

Spec: TypeAlias = dict[str, Any]

EXAMPLES: Final = Path(__file__).parents[4] / "examples" / "cluster" / "hpaintents.yaml"
WORKLOAD: Final = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "api-server"}
CPU: Final = {"name": "cpu", "limits": 1}
FIRST: Final = "spec.consumers[0].requirements[0]"
"""The path of the only requirement."""


def path(space: str) -> str:
    """Where the API server has them."""
    return f"/apis/streams.ibm.com/v1/namespaces/{space}/streamshpaintents"


def intent(spec: object, name: str = "asked", space: str = SPACE) -> Object:
    metadata = {"name": name, "namespace": space}
    return {"apiVersion": "streams.ibm.com/v1", "kind": "HPAIntent", "metadata": metadata, "spec": spec}


def of(*requirements: object, workload: object = WORKLOAD, **more: object) -> Spec:
    """An intent with one consumer."""
    return {"consumers": [{"consumer": workload, "requirements": list(requirements), **more}]}


def samples() -> dict[str, Spec]:
    """The intents of the examples, which are those of the EMCO design."""
    items = yaml.safe_load(EXAMPLES.read_text())["items"]
    return {item["metadata"]["name"]: item["spec"] for item in items if item["kind"] == "HPAIntent"}
