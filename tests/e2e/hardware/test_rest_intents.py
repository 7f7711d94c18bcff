"""An intent that is created through the REST interface is obeyed by the webhook, as one that kubectl applies."""

import http
from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.client.api import Api
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.hardware.applied_workloads import (
    applied,
    container,
    made_of,
    nodes_of,
    resources,
    running,
    space,
    stateful,
)
from tests.e2e.hardware.node_hardware import QAT
from tests.e2e.polling import until
from tests.e2e.rest.hpa_process import INTENTS, HpaProcess
from tests.rest.rest_server import consumer, intent, requirement
from webhook.placement.text import keys

SPACE: Final = "rest-edge"


@pytest.fixture
def server(plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HpaProcess]:
    enabled = {keys.INJECT: keys.ENABLED}
    with (
        space(plane, SPACE, **enabled),
        HpaProcess(tmp_path_factory.mktemp("rest"), plane, "admin", "--namespace", SPACE) as server,
    ):
        yield server


def test_pods_of_a_consumer_get_the_hardware(admin: Api, plane: ControlPlane, server: HpaProcess) -> None:
    """Without an annotation, on a node that has it; and the definition of a wrong one is refused by the webhook."""
    consumers = f"{INTENTS}/fwall/hpa-resource-consumers"
    for path, body in (
        (INTENTS, intent("fwall")),
        (consumers, consumer("core-fwall", container="palo-alto-e3000")),
        (f"{consumers}/core-fwall/resource-requirements", requirement("qat", name=QAT, limits=1)),
        (f"{consumers}/core-fwall/resource-requirements", requirement("cpu", name="cpu", requests=1)),
    ):
        answer = server.ask("POST", path, body)
        assert answer.code == http.HTTPStatus.CREATED, answer
    workload = stateful("core-fwall", SPACE, spec=made_of(container("palo-alto-e3000")))
    dry = f"/apis/apps/v1/namespaces/{SPACE}/statefulsets?dryRun=All"
    greedy = requirement("ram", name="memory", requests=900, units="TB")
    made = server.ask("POST", f"{consumers}/core-fwall/resource-requirements", greedy)
    assert made.code == http.HTTPStatus.CREATED
    until(lambda: admin.send("POST", dry, workload).code == http.HTTPStatus.FORBIDDEN, "the intent is obeyed", 60)
    assert server.ask("DELETE", f"{consumers}/core-fwall/resource-requirements/ram").code == http.HTTPStatus.NO_CONTENT
    until(lambda: admin.send("POST", dry, workload).code == http.HTTPStatus.CREATED, "the change is obeyed", 60)
    applied(plane, workload)
    found = running(admin, SPACE, "core-fwall")
    assert resources(found[0], "palo-alto-e3000")["requests"] == {"cpu": "1", QAT: "1"}
    assert nodes_of(found) == ["qat-1"]
