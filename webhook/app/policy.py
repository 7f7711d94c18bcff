"""The installation's choices, as the core sees them."""

from webhook.placement.inventory.foreign_pods import parse_namespaces
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.quota import parse_quota
from webhook.placement.kube.selector_text import parse_selector
from webhook.settings import Settings


def policy_of(settings: Settings) -> Policy:
    """The settings that change decisions; ``ValueError`` for a selector that is none."""
    everybody = settings.strict or settings.exclusive_strangers == "all"
    excluded = parse_namespaces(settings.excluded_namespaces)
    return Policy(
        host_binding=settings.host_binding,
        unknown_annotations=settings.unknown_annotations,
        elastic=settings.elastic,
        unsatisfiable_pods=settings.unsatisfiable_pods,
        audit=settings.mode == "audit",
        verify_pods=settings.verify_pods,
        exclusive_effect=settings.exclusive_effect,
        poolable=parse_selector(settings.poolable_nodes),
        quota=parse_quota(settings.exclusive_quota),
        pool_quota=parse_quota(settings.pool_quota),
        guard_nodes=settings.guard_nodes,
        guard_bindings=settings.guard_bindings or settings.strict,
        strict=settings.strict,
        spared=excluded if everybody else None,
        excluded=excluded,
    )


def inventory_of(settings: Settings) -> Inventory:
    """An empty inventory that counts whatever these settings need."""
    return Inventory(policy_of(settings).spared)
