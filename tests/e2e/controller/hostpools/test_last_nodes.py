"""Two exclusive pools ask for the last nodes: one gets them, and the status of the other one says why it does not."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.controller.controller_process import ControllerProcess
from tests.e2e.controller.pools import condition, create_pool, exclusive, hosts, phase, pools, wait_for, wait_until_gone
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import namespace

SPACE: Final = "last"
TIMES: Final = 3


@pytest.fixture(scope="module", autouse=True)
def admin(bare: ControlPlane, controller: ControllerProcess) -> Api:
    del controller
    namespace(bare.admin, SPACE)
    return bare.admin


def pair(admin: Api, number: int) -> list[Object]:
    """Two pools of six of the ten nodes, made at once; what became of them."""
    wanted = [exclusive(f"{letter}-{number}", SPACE, 6) for letter in "pq"]
    with ThreadPoolExecutor(2) as clients:
        paths = list(clients.map(lambda pool: create_pool(admin, pool), wanted))
    until(lambda: {phase(admin.get(path)) for path in paths} == {"Ready", "Failed"}, "both are decided")
    return sorted((admin.get(path) for path in paths), key=phase)


@pytest.mark.parametrize("number", range(TIMES))
def test_one_of_them_gets_them_and_the_other_says_why(admin: Api, number: int) -> None:
    failed, ready = pair(admin, number)
    assert (len(hosts(ready)), hosts(failed)) == (6, [])
    assert condition(failed)["message"] == "it needs 6 hosts and 4 nodes are eligible"
    path = f"{pools(SPACE)}/{{}}"
    admin.delete(path.format(ready["metadata"]["name"]))
    later = wait_for(admin, path.format(failed["metadata"]["name"]))
    assert len(hosts(later)) == 6, json.dumps(later["status"])
    admin.delete(path.format(failed["metadata"]["name"]))
    wait_until_gone(admin, path.format(failed["metadata"]["name"]))
