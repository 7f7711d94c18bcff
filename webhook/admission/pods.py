"""Pods at ``/validate``: created, updated, and bound to a node (``v1 Binding``, or ``pods/binding``).

A created pod must still say what its clauses require, and an updated one keep what was decided. A binding must not put
a pod onto a node that its HostPools exclude, or that is exclusive to another one (``docs/admission.md``).
"""

import functools
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.answer import Answer, PodQuestion, PodRef
from webhook.admission.application_pods import with_owners
from webhook.admission.opt_in import NO_METADATA, believed, concerned, controlled, exempt
from webhook.admission.pool_use import with_rights
from webhook.admission.responses import CheckResult, Objection, allowed, answered, unreadable_object
from webhook.admission.review import MALFORMED, Review
from webhook.placement.checks.unbound_pods import is_exclusive, obstacle, refuse_sleeper, sleeper_changed, waiting_pod
from webhook.placement.checks.verification import undone
from webhook.placement.constraints.constraint import Constraint
from webhook.placement.decision.decision import guard
from webhook.placement.decision.tolerated_hosts import refuse_tolerations
from webhook.placement.decision.verdict import constraints_of
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Metadata, Pod, Toleration
from webhook.placement.kube.size_limits import oversized
from webhook.placement.objects.pod import PodInfo
from webhook.placement.request.ask import Ask, read
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault, Problem, fault_of
from webhook.placement.text.rule import Rule

_POD: Final = msgspec.json.Decoder(Pod)


def created(review: Review, inventory: Inventory, policy: Policy) -> Answer:
    """Check a pod as it will be stored: its requests can be met, and no admission plugin has undone the patch."""
    return _created(review, inventory, policy)


def _created(review: Review, inventory: Inventory, policy: Policy, *, of_application: bool = False) -> Answer:
    """The check of a new pod; one ``of_application`` is known to be of an application of another operator."""
    pod = _POD.decode(review.object)
    waits = of_application or controlled(review, pod.metadata, policy)
    ask, problems = _examined(believed(pod, review), review, World(inventory, policy), waits=waits)
    answer = answered(review, problems, policy)
    if not waits and problems and fault_of(problems) is Fault.FORBIDDEN:
        resume = functools.partial(_created, review, inventory, policy, of_application=True)
        return with_owners(answer, review, policy, resume)
    return with_rights(answer, review, ask, policy) if ask and not controlled(review, pod.metadata, policy) else answer


def _examined(pod: Pod, review: Review, world: World, *, waits: bool) -> tuple[Ask | None, list[Problem]]:
    """What the pod asks for, ``None`` if it can name no HostPool, and what is wrong with it.

    A pod that ``waits`` is one that may wait for a node.
    """
    metadata, namespace = pod.metadata or NO_METADATA, review.namespace
    if exempt(metadata, review):
        says = keys.PLACEMENT in (metadata.annotations or {})
        return (read(pod, namespace, world)[0] if says else None), []
    if not concerned(pod, namespace, world.inventory):
        return None, list(guard(pod, namespace, world).problems)
    if too_much := oversized(pod):
        # What else it says matters in audit mode only: in any other it is refused.
        bare = replace(pod, spec=None)
        return (read(bare, namespace, world)[0] if world.policy.audit else None), list(too_much)
    ask, constraints, problems = _said(pod, namespace, world)
    if problems and world.policy.unsatisfiable_pods == "wait" and waits:
        world = World(world.inventory, world.policy, patient=True)
        ask, constraints, problems = _said(pod, namespace, world)
    return ask, list(_wrong(pod, ask, constraints, problems, world))


def _wrong(
    pod: Pod, ask: Ask, constraints: tuple[Constraint, ...], problems: tuple[Problem, ...], world: World
) -> Iterator[Problem]:
    """What is wrong with a pod that asks for placement; ``problems`` are those of its annotations."""
    if world.policy.verify_pods:
        yield from problems
        if problems:
            return
        if not world.policy.audit:  # nothing was added there that could have been undone
            yield from undone(pod, constraints, world)
    yield from refuse_tolerations(ask, constraints, world)


def _said(pod: Pod, namespace: str, world: World) -> tuple[Ask, tuple[Constraint, ...], tuple[Problem, ...]]:
    """What the pod asks for, what that demands of its node, and all problems."""
    ask, problems = read(pod, namespace, world)
    constraints, more, _ = constraints_of(ask, world)
    return ask, constraints, (*problems, *more)


def updated(review: Review, inventory: Inventory, policy: Policy) -> Answer:
    """Check an updated pod: what the webhook read and wrote must stay, and no sleeper may get onto exclusive hosts."""
    return answered(review, _changes(review, inventory, policy), policy)


def _changes(review: Review, inventory: Inventory, policy: Policy) -> Iterator[Problem]:
    new, old = _POD.decode(review.object), _POD.decode(review.old)
    if (new.metadata or NO_METADATA).deletion_timestamp:
        return
    for field in ("annotations", "labels"):
        yield from _changed(field, getattr(old.metadata, field, None) or {}, getattr(new.metadata, field, None) or {})
    known = set(_tolerations(old))
    for at, toleration in enumerate(_tolerations(new)):
        opens = toleration.key == keys.EXCLUSIVE or (toleration.of_everything and _guarded(inventory))
        if opens and toleration not in known:
            message = f"a toleration of {keys.EXCLUSIVE} cannot be added to a pod: name the HostPool when you create it"
            yield Problem(f"spec.tolerations[{at}]", message, fault=Fault.FORBIDDEN)
    if sleeper_changed(new, old):
        world = World(inventory, policy)
        ask, _ = read(new, review.namespace, world)
        yield from refuse_sleeper(ask, constraints_of(ask, world).constraints, world)


def _changed(field: str, old: dict[str, str], new: dict[str, str]) -> Iterator[Problem]:
    for key in sorted(old.keys() | new.keys()):
        if key.startswith(keys.PREFIX) and key not in keys.FOREIGN and old.get(key) != new.get(key):
            message = "cannot be changed after the pod is created, which fixes its placement; create a new pod"
            yield Problem(f"metadata.{field}[{key}]", message, fault=Fault.FORBIDDEN)


def _tolerations(pod: Pod) -> tuple[Toleration, ...]:
    return (pod.spec and pod.spec.tolerations) or ()


def _guarded(inventory: Inventory) -> bool:
    """Whether a toleration of every taint would let the pod onto exclusive hosts."""
    return bool(inventory.nodes.tainted.get(keys.EXCLUSIVE))


class _ObjectReference(Struct, frozen=True, gc=False):
    """The node in a Binding."""

    name: str = ""


class _Binding(Struct, frozen=True, gc=False):
    """``v1 Binding``: which pod goes to which node; schedulers say the pod's uid as well."""

    metadata: Metadata = Metadata()
    target: _ObjectReference = _ObjectReference()


_BINDING: Final = msgspec.json.Decoder(_Binding)


def bound(review: Review, inventory: Inventory, policy: Policy) -> Answer:
    """Check a Binding: of a pod of a job, or a sleeper, that waits; of any other pod only onto an exclusive host."""
    if not policy.guard_bindings:
        return allowed(review)
    try:
        binding = _BINDING.decode(review.object)
    except MALFORMED as error:
        return answered(review, [unreadable_object("Binding", error, review.object)], policy)
    name, uid, node = binding.metadata.name or review.name, binding.metadata.uid or "", binding.target.name
    pod = waiting_pod(uid, review.namespace, name, inventory)
    if pod:
        return _bound(review, name, node, inventory, policy, pod)
    if is_exclusive(node, World(inventory, policy)):
        resume = functools.partial(_bound, review, name, node, inventory, policy)
        return replace(allowed(review), question=PodQuestion(PodRef(review.namespace, name, uid), resume))
    return allowed(review)


def _bound(review: Review, name: str, node: str, inventory: Inventory, policy: Policy, pod: PodInfo) -> Answer:
    why = obstacle(pod, node, World(inventory, policy))
    refusal = Objection(f"pod {name} cannot be bound: {why}", Rule.GUARD)
    findings: list[CheckResult] = [refusal] if why else []
    return answered(review, findings, policy)
