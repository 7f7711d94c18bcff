"""Family ``resources``: the node has room for the pod's requests (``docs/verdicts.md``).

A pod that the scheduler places may wait for others to finish, so its requests are compared with what nodes have to give
(allocatable). A pod bound by ``nodeName`` does not wait: its requests are compared with what is free on that node now.
Requests are in milli-units of cpu and whole units of everything else.
"""

import functools
from collections.abc import Iterable, Iterator
from typing import ClassVar, Final

from webhook.placement.annotations.hardware import together
from webhook.placement.constraints.constraint import Constraint, ConstraintDefaults, Reason, Spread
from webhook.placement.kube.amounts import PODS, SAID, Tally, amount, ordered
from webhook.placement.kube.bits import Bits, slots
from webhook.placement.provision.effects import Effect, SetResources, UseClaim
from webhook.placement.provision.grants import clause_of
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import ClauseName
from webhook.placement.text.clause import Clause, Source
from webhook.placement.text.fix import LOWER, AddNode, Advice, Fix
from webhook.placement.text.problem import Problem, enumerated
from webhook.placement.text.rule import Rule

_ONE: Tally = {PODS: 1}

_Requests = tuple[tuple[str, int], ...]
"""Requested amounts by resource name, as a value that results can be kept by."""

_KEPT: Final = 1024
"""Cached requests: more than a cluster has templates at work at a time."""

_KEPT_LENGTH: Final = 1024
"""Characters of the names of requests that are cached; a pod may request thousands, by names of any length."""


class Room(ConstraintDefaults, frozen=True, gc=False):
    """The condition that the node has room for ``requests``: free room on ``pinned`` nodes, else allocatable.

    If the requests come from hardware requirements, or from the pod's Job or processing element, ``said`` names these,
    and ``grants`` is what they give to containers. ``overrules`` tells that the amount can be lowered but not dropped:
    it is the Job's, or a container itself asks for more than the hardware requirement does. ``hardware`` tells that
    the amounts are those of hardware requirements. ``added`` names the LimitRange and RuntimeClass by which the API
    server adds to the pod's own requests. The names of ``long`` requests have too many characters for a cache.
    """

    spread: ClassVar[Spread] = Spread.FREE
    requests: Tally
    pinned: Bits = 0
    said: Clause | None = None
    grants: tuple[SetResources | UseClaim, ...] = ()
    overrules: bool = False
    hardware: bool = False
    soft: bool = False
    node: str = ""
    added: str = ""
    long: bool = False

    @property
    def rule(self) -> str:
        """That of hardware if the amounts are those of hardware requirements, else that of requests."""
        return Rule.HARDWARE if self.hardware else Rule.REQUESTS

    @property
    def verb(self) -> str:
        """``drop`` for hardware requirements; ``lower`` if the container's own request would be left and is larger."""
        return "drop" if self.said and not self.overrules else LOWER

    @property
    def clause(self) -> Clause | None:
        """The requests; ``None`` for the place of the pod itself, which no user writes."""
        if self.said or PODS in self.requests:
            return self.said
        return (_clause if self.long else _kept_clause)(tuple(self.requests.items()), self.added)

    def filter(self, world: World) -> Bits:
        """Nodes with room for all of the requests."""
        return self._fits(self.requests, world)

    def inject(self, _world: World) -> Iterable[Effect]:
        """What hardware requirements give to containers; the pod's own requests need no effect."""
        return self.grants

    def explain(self, world: World, out: Bits) -> Iterator[Reason]:
        """Each node under the first resource that it lacks."""
        remaining = out
        for resource in ordered(self.requests):
            if not remaining:
                return
            short = remaining & ~self._fits({resource: self.requests[resource]}, world)
            remaining &= ~short
            for nodes, free in ((short & ~self.pinned, ""), (short & self.pinned, " free")):
                if nodes:
                    yield self._reason(resource, nodes, free)

    def fix(self, world: World, out: Bits) -> Fix | None:
        """Add a node with more room or, for pinned nodes, free some room."""
        if out & ~self.pinned:
            return AddNode(having=f"{self._wanted()} to offer" if self.clause else "room for one more pod")
        if not out & world.inventory.nodes.capacity.fits(self.requests):
            return None
        return Advice(f"free {self._wanted()} on one node" if self.clause else "let another pod on the node finish")

    def _fits(self, requests: Tally, world: World) -> Bits:
        """Nodes with room for these requests."""
        capacity = world.inventory.nodes.capacity
        fitting = capacity.fits(requests)
        for slot in slots(self.pinned & fitting):
            if not capacity.holds(slot, requests):
                fitting &= ~(1 << slot)
        return fitting

    def _wanted(self) -> str:
        """The requests in words."""
        return (_words if self.long else _kept_words)(tuple(self.requests.items()))

    def _reason(self, resource: str, nodes: Bits, free: str) -> Reason:
        """Why these nodes lack the resource; ``free`` is " free" for pinned nodes."""
        if resource == PODS:
            return Reason("runs its maximum number of pods", "run their maximum number of pods", nodes)
        what = f"less than {resource} {amount(resource, self.requests[resource])}{free}"
        return Reason(f"has {what}", f"have {what}", nodes)


def parse(ask: Ask, world: World) -> Iterable[Constraint | Problem]:
    """One constraint for what the pod requests, and a standing one for its place among the pods of a node.

    Each resource that mandatory hardware requirements give is a constraint of its own, and so are all resources that
    the pod's Job or processing element states. Grants of optional requirements are made only for amounts that the pod
    requests itself; they go with the standing constraint, and so do the default of processing elements and claims. Of
    resources that a DeviceClass maps there is no amount to judge, but what containers are given.
    """
    pinned = _pinned(ask, world)
    wanted = ask.requests[PODS]
    asked = {resource: amount for resource, amount in ask.requests.items() if resource != PODS}
    long = len("".join(asked)) > _KEPT_LENGTH
    stated = ask.provision.stated
    silent: tuple[SetResources | UseClaim, ...] = ask.provision.claims
    if not ask.provision.grants and not (stated and stated[0].firm):
        silent += stated
        place = Room(_ONE if wanted == 1 else {PODS: wanted}, pinned, grants=silent)
        return (Room(asked, pinned, added=_added(ask, asked), long=long), place) if asked else (place,)
    rooms: list[Room] = []
    shares = {grant.resource: asked.pop(grant.resource) for grant in stated if grant.firm and grant.resource in asked}
    if shares:
        rooms.append(Room(shares, pinned, _said(stated[0].cause, shares), stated, overrules=True))
    else:
        silent += stated
    for resource, grants in _by_resource(ask.provision.grants).items():
        total, own = asked.pop(resource, 0), wanted * ask.provision.own.get(resource, 0)
        firm = [clause_of(grant) for grant in grants if grant.firm]
        if firm:
            given = {resource: total} if total else {}
            overrules = resource in ask.provision.overruled
            rooms.append(Room(given, pinned, together(firm), grants, overrules=overrules, hardware=True))
        else:
            silent += grants
        if 0 < own <= total:
            asked[resource] = own
    return (
        *rooms,
        *([Room(asked, pinned, added=_added(ask, asked), long=long)] if asked else []),
        Room({PODS: wanted}, pinned, grants=silent),
    )


def _added(ask: Ask, asked: Tally) -> str:
    """The objects by whose defaults and overhead the API server adds to these requests; empty for an arrived pod."""
    if ask.completed is None:
        return ""
    names = dict.fromkeys(name for resource, name in ask.completed.given.items() if resource in asked)
    causes = [f"LimitRange {name}" for name in names]
    runtime = ask.completed.plugins.runtime
    if runtime and not runtime.overhead.keys().isdisjoint(asked):
        causes.append(f"RuntimeClass {runtime.name}")
    return f" ({enumerated(causes, SAID)})" if causes else ""


def _said(cause: str, shares: Tally) -> Clause:
    """The resources that a Job or its processing element states, as a clause."""
    return Clause(Source.STATED, (cause, *shares.items()), f"{_kept_words(tuple(shares.items()))} ({cause})")


def _clause(requests: _Requests, added: str) -> Clause:
    return Clause(Source.REQUESTS, requests, f"requests {_words(requests)}{added}")


def _words(requests: _Requests) -> str:
    amounts = dict(requests)
    return enumerated(ordered(amounts), SAID, lambda name: f"{name} {amount(name, amounts[name])}")


_kept_clause = functools.lru_cache(_KEPT)(_clause)
"""Cache of the clauses of pods: a refusal asks for one many times."""

_kept_words = functools.lru_cache(_KEPT)(_words)
"""Cache of requests in words: pods of one template have the same, and a refusal names them several times."""


def _by_resource(grants: Iterable[SetResources]) -> dict[str, tuple[SetResources, ...]]:
    """What hardware requirements give, resource by resource, in the order of messages."""
    given: dict[str, tuple[SetResources, ...]] = {}
    for grant in grants:
        given[grant.resource] = (*given.get(grant.resource, ()), grant)
    return {resource: given[resource] for resource in ordered(given)}


def _pinned(ask: Ask, world: World) -> Bits:
    """The nodes to which the pod is bound by ``nodeName``, where it needs free room at once."""
    pinned = world.named(ask.spec.node_name) if ask.spec.node_name else 0
    hosts = ask.by_name.get(ClauseName.HOST)
    if hosts and ask.binding == "nodeName" and ClauseName.HOST not in ask.soft:
        for clause in hosts:
            if isinstance(clause.argument, str):
                pinned |= world.nodes_of_host(clause.argument)
    return pinned
