"""Workloads sent to ``/validate``."""

from tests.builders import Json, review
from tests.workload_templates import group
from webhook.admission.answer import Answer
from webhook.admission.validate import validate
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy


def submitted(
    found: Json, inventory: Inventory, policy: Policy | None = None, *, old: object = None, by: str = "alice"
) -> Answer:
    """What is said about the workload, made ``by`` an account; with ``old``, about the change."""
    operation, kind = "CREATE" if old is None else "UPDATE", found["kind"]
    body = review(found, operation, old=old, kind=kind, group=group(kind), userInfo={"username": by})
    return validate(body, inventory, policy or Policy())
