"""A pod and its patch: what the tests of operations share."""

from typing import Any

import jsonpatch
import msgspec

from tests.builders import cluster, job, node, pool, typed
from webhook.admission.patch import encode, operations
from webhook.placement.decision.decision import decide
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.request.world import World
from webhook.placement.text import keys

Json = dict[str, Any]

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

OTHER = {"key": "disk", "operator": "In", "values": ["ssd"]}

OURS = {"key": "streams.ibm.com/hostpool", "operator": "In", "values": ["ib"]}

POOLED = cluster([node("node-a", labels={keys.TAG: "ib", "disk": "ssd"})], pools=[pool(tags=["ib"])], jobs=[job({})])


def steps(found: Json, inventory: Inventory) -> list[Json]:
    """The operations for a pod that is admitted."""
    decision = decide(typed(found), "default", World(inventory, Policy()))
    assert decision.additions, decision.message
    made: list[Json] = msgspec.json.decode(encode(operations(typed(found), decision.additions)))
    return made


def after(found: Json, inventory: Inventory) -> Json:
    """The pod with its patch applied."""
    made: Json = jsonpatch.apply_patch(found, steps(found, inventory))
    return made


def terms(found: Json) -> list[Json]:
    """Required node terms."""
    made: list[Json] = found["spec"]["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
    return made
