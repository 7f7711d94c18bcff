"""Refusals of replicas are short and plain, name nobody, and are always the same."""

import re
from typing import Any

import pytest

from tests.builders import bound_pod, cluster, node, nodes, pool
from tests.workload_templates import crowded
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.objects.pool import Phase
from webhook.placement.text import keys
from webhook.placement.text.problem import MESSAGE_LIMIT

LONG = {f"{'k' * 60}.example.com/{at}": "" for at in range(12)}
"""Labels whose names fill a line of reasons."""


def test_reasons_that_find_no_room_are_counted() -> None:
    lacking = [node(f"n{at}", labels={key: "" for key in LONG if not key.endswith(f"/{at}")}) for at in range(12)]
    inventory = cluster([*lacking, node("whole", labels=LONG)])
    message = crowded('hostExlocation("a")', 2, inventory, nodeSelector=LONG).message
    assert (len(message) <= MESSAGE_LIMIT, re.findall(r"\n  and (\d+) more reasons\n", message)) == (True, ["7"])


@pytest.mark.parametrize(
    ("placement", "tweaks"),
    [
        pytest.param(", ".join(f'hostExlocation("{at:02}{"x" * 60}")' for at in range(30)), {}, id="long tokens"),
        pytest.param('hostExlocation("a")', {"nodeSelector": LONG}, id="long labels"),
        pytest.param(
            'hostColocation("a")', {"requests": {f"example.com/{at}{'r' * 50}": "1" for at in range(9)}}, id="resources"
        ),
    ],
)
def test_a_refusal_is_never_longer_than_an_event_holds(placement: str, tweaks: dict[str, Any]) -> None:
    offers = dict.fromkeys(tweaks.get("requests", {}), 2)
    roomy = node(labels=tweaks.get("nodeSelector", {}), pods=200, **offers)
    decision = crowded(placement, 300, cluster([roomy]), **tweaks)
    assert decision.refused
    assert re.fullmatch(rf"[\x20-\x7e\n]{{1,{MESSAGE_LIMIT}}}", decision.message)


def test_the_same_request_gets_the_same_text() -> None:
    def refusal(inventory: Inventory) -> str:
        return crowded('host(MyPool), hostExlocation("a")', 9, inventory).message

    tagged = [node(f"node-{at}", labels={keys.TAG: "x"} if at % 3 else {}) for at in range(6)]
    pools = [pool(tags=["x"], phase=Phase.PENDING)]
    assert refusal(cluster(tagged, pools)) == refusal(cluster(reversed(tagged), pools))


def test_it_names_no_node_and_no_other_workload() -> None:
    inventory = cluster(nodes(2), pods=[bound_pod("node-a", uid="u", labels={keys.EXLOCATION + keys.digest("a"): "a"})])
    assert not re.search("node-a|node-b|parallel|default", crowded('hostExlocation("a")', 2, inventory).message)
