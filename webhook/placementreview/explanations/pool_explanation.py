"""Explanation of one HostPool: whether it could get its hosts now, which ones, and what rules out each other node."""

from webhook.admission.unstructured import Unstructured
from webhook.placement.checks.completion import Completion, complete
from webhook.placement.kube.bits import Bits, union
from webhook.placement.objects.pool import Pool
from webhook.placement.request.world import World
from webhook.placement.text.api_kinds import HOST_POOL
from webhook.placement.text.problem import Fault
from webhook.placementreview.explanations.decided_pod import NAMESPACE
from webhook.placementreview.explanations.explanation import Explanation, Removed, names


class PoolExplanation(Explanation, frozen=True):
    """The outcome of submitting a pool: ``hosts`` are the nodes that it would get, by index.

    ``candidates`` are the nodes that could be its hosts; empty for a pool that lists its hosts itself.
    """

    hosts: list[str]


def is_pool(document: Unstructured) -> bool:
    """Whether the object is a HostPool."""
    return (document.get("apiVersion"), document.get("kind")) == (HOST_POOL.api_version, HOST_POOL.name)


def could_be_hosts(pool: Pool, completion: Completion, world: World) -> Bits:
    """The nodes that could be hosts of the pool; none for a pool that lists its hosts itself."""
    out = union(reason.nodes for reason in completion.reasons)
    return world.everything & ~out if pool.hosts is None else 0


def explain_pool(file: str, document: Unstructured, world: World) -> PoolExplanation:
    """Explain the pool as admission would judge it. ``world`` must contain the pool (manifests count as applied)."""
    metadata = document["metadata"]
    name, namespace = metadata["name"], metadata.get("namespace") or NAMESPACE
    pool = world.inventory.pools[namespace, name]
    completion = complete(pool, world)
    refused = bool(completion.refusal)
    return PoolExplanation(
        file=file,
        origin=f"HostPool {name}",
        namespace=namespace,
        verdict="refused" if refused else "admitted",
        code=Fault.FORBIDDEN.value if refused else 200,
        message=completion.refusal.text if completion.refusal else "",
        warnings=[*filter(None, (completion.warning, completion.doubt))],
        candidates=names(could_be_hosts(pool, completion, world), world),
        removed=[Removed("", reason.one, names(reason.nodes, world)) for reason in completion.reasons],
        patch=[],
        before=document,
        after=None if refused else document,
        hosts=list(completion.hosts),
    )
