"""HostPool objects, as they are submitted and answered."""

from collections.abc import Iterable
from typing import Any

from tests.builders import Json, cluster, review
from webhook.admission.answer import Answer
from webhook.admission.validate import validate
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.node import Node
from webhook.placement.objects.pool import Pool


def host_pool(object_name: str | None = "ib-blue", /, **spec: Any) -> Json:
    """A HostPool object."""
    return {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "HostPool",
        "metadata": {"name": object_name} if object_name else {"generateName": "p-"},
        "spec": spec,
    }


ELASTIC = Policy(elastic=True)
"""Hosts may still come, so that it does not matter how many there are."""


def validated(
    found: object,
    *pools: Pool,
    old: object = None,
    nodes: Iterable[Node] = (),
    policy: Policy | None = None,
    **fields: object,
) -> Answer:
    """The answer to a HostPool that is created, or changed from ``old``."""
    operation = "CREATE" if old is None else "UPDATE"
    body = review(found, **{"operation": operation, "old": old} | fields, kind="HostPool", group="streams.ibm.com")
    return validate(body, cluster(nodes, pools), policy or Policy())
