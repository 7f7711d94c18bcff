"""The status of a HostPool, as the controller writes it (``docs/hostpool.md``). Pure."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

from webhook.controller.hostpools.pool_object import StoredPool
from webhook.placement.inventory.objects import Phase, PoolHost
from webhook.placement.text.problem import enumerated

NAMED: Final = 20
"""Workloads named of those that run on exclusive hosts; a cluster has a handful of agents."""

MESSAGE_LIMIT: Final = 2048
"""Characters of a message; the definition allows 32,768, and nobody reads them."""

Document = dict[str, Any]


class State(Struct, frozen=True):
    """What is to be said of a pool: why it is ready or not, and what is wrong with hosts that it has."""

    phase: Phase
    reason: str
    message: str
    hosts: tuple[PoolHost, ...] = ()
    ready: int | None = None
    """How many hosts are there and marked; ``None`` for a pool without hosts of its own."""
    eligible: int | None = None
    degraded: Sequence[str] = ()
    """Sentences without their full stops; none if all is well."""
    sleepers: int = 0
    """Pods that wait and may come to its hosts, whosever these are; the message says so."""
    guests: tuple[str, ...] | None = None
    """Who runs on its exclusive hosts because he tolerates them; ``None`` for a pool without such hosts."""


def status_of(stored: StoredPool, state: State, now: str) -> Document | None:
    """The merge patch of the status; ``None`` if the object says all of it already."""
    wanted: Document = {
        "name": stored.pool and stored.pool.spl_name,
        "phase": state.phase.value,
        "hosts": [{"index": host.index, "name": host.name, "uid": host.uid} for host in state.hosts],
        "readyHosts": state.ready,
        "eligible": state.eligible,
        "conditions": _conditions(stored, state, now),
        "observedGeneration": stored.metadata.generation,
    }
    said = {**dict.fromkeys(wanted), "hosts": [], **stored.status}
    if all(said[field] == value for field, value in wanted.items()):
        return None
    return {"metadata": {"resourceVersion": stored.metadata.resource_version}, "status": wanted}


def _conditions(stored: StoredPool, state: State, now: str) -> list[Document]:
    """Ours, each since it last turned; those of others stay."""
    ready = state.phase is Phase.READY
    degraded = "; ".join(state.degraded)
    ours = {
        "Ready": _condition(ready, state.reason, state.message),
        "Degraded": _condition(bool(degraded), "HostsInTrouble" if degraded else "HostsServe", degraded),
    }
    if state.guests is not None:
        ours["Exclusive"] = _condition(
            not state.guests, "OthersTolerate" if state.guests else "NobodyElse", shared(state)
        )
    there = stored.status.get("conditions")
    before = {found.get("type"): found for found in there or () if isinstance(found, dict)}
    for type_, condition in ours.items():
        old = before.get(type_, {})
        turned = old.get("status") != condition["status"] or not old.get("lastTransitionTime")
        condition |= {"lastTransitionTime": now if turned else old["lastTransitionTime"]}
        before[type_] = {"type": type_, **condition, "observedGeneration": stored.metadata.generation}
    return list(before.values())


def shared(state: State) -> str:
    """Who else runs on the hosts, in a sentence without its full stop; nothing if nobody does."""
    if not state.guests:
        return ""
    return f"these tolerate its taint and run on its hosts: {enumerated(state.guests, NAMED)}"


def _condition(is_so: bool, reason: str, message: str) -> Document:  # noqa: FBT001 -- it is the value of the condition
    shown = message if len(message) <= MESSAGE_LIMIT else f"{message[: MESSAGE_LIMIT - 3]}..."
    return {"status": str(is_so), "reason": reason, "message": shown}
