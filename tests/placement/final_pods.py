"""Finished pods, and what the checks say of them."""

from collections.abc import Callable
from typing import Any

import jsonpatch
import msgspec

from tests.builders import (
    NAMESPACE,
    Json,
    pool,
    typed,
)  # fmt: skip
from webhook.admission.patch import encode, operations
from webhook.placement.checks.verification import undone
from webhook.placement.decision.decision import decide
from webhook.placement.decision.verdict import constraints_of
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.request.ask import read
from webhook.placement.request.world import World
from webhook.placement.text.problem import Problem

Check = Callable[..., Any]


def problems(check: Check, found: Json, inventory: Inventory, policy: Policy) -> list[Problem]:
    """What a check says of a finished pod."""
    world = World(inventory, policy)
    ask, _ = read(typed(found), NAMESPACE, world)
    constraints = constraints_of(ask, world).constraints
    first = typed(found) if check is undone else ask
    return list(check(first, constraints, world))


def finished(found: Json, inventory: Inventory, policy: Policy) -> Json:
    """The pod after the patch."""
    decision = decide(typed(found), NAMESPACE, World(inventory, policy))
    assert decision.additions, decision.message
    patch = msgspec.json.decode(encode(operations(typed(found), decision.additions)))
    made: Json = jsonpatch.apply_patch(found, patch)
    return made


EXCLUSIVE = pool("Closed", size=1, mode="Exclusive", assigned=["node-a"])
