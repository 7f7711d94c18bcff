"""``/validate``: pods still say what their clauses require, protected fields stay, pools and workloads can be."""

from collections.abc import Callable, Iterator

import msgspec

from webhook.admission.accounts import believed, controlled
from webhook.admission.answer import Answer
from webhook.admission.bindings import bound
from webhook.admission.findings import Finding, answer
from webhook.admission.hostpools import changed_pool, submitted_pool
from webhook.admission.hpaintents import submitted_intent
from webhook.admission.mutate import MIRROR, concerned
from webhook.admission.nodes import node_changed
from webhook.admission.responses import allowed, denied, unreadable, unreadable_object
from webhook.admission.review import MALFORMED, Review, Unreadable, read_review
from webhook.admission.submission import WORKLOADS, submitted
from webhook.placement.checks.sleepers import stir, stirred
from webhook.placement.checks.verification import undone
from webhook.placement.constraints.constraint import Constraint
from webhook.placement.decision.decision import guard
from webhook.placement.decision.tolerated_hosts import refuse_tolerations
from webhook.placement.decision.verdict import constraints_of
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Metadata, Pod, Toleration
from webhook.placement.kube.size_limits import oversized
from webhook.placement.request.ask import Ask, read
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault, Problem

_POD = msgspec.json.Decoder(Pod)
_NOTHING = Metadata()

Check = Callable[[Review, Inventory, Policy], Iterator[Finding]]


def validate(body: bytes, cluster: Inventory, policy: Policy) -> Answer:
    """Review one request body against the cluster; nothing is ever patched here."""
    try:
        review = read_review(body)
    except Unreadable as error:
        return unreadable(str(error))
    what = review.kind.group, review.kind.kind, review.subresource, review.operation
    if what in WORKLOADS:
        return submitted(review, cluster, policy)
    check = _CHECKS.get(what)
    return _checked(review, check, cluster, policy) if check else allowed(review)


def _checked(review: Review, check: Check, cluster: Inventory, policy: Policy) -> Answer:
    try:
        findings = list(check(review, cluster, policy))
    except MALFORMED as error:
        return denied(review, Fault.INVALID, unreadable_object(review.kind.kind, error))
    return answer(review, findings, policy) if findings else allowed(review)


def _created(review: Review, cluster: Inventory, policy: Policy) -> Iterator[Problem]:
    """A pod as it will be stored: what was refused when it was submitted is refused still, and nothing was undone."""
    pod = believed(_POD.decode(review.object), review)
    metadata = pod.metadata or _NOTHING
    if metadata.deletion_timestamp or MIRROR in (metadata.annotations or {}):
        return
    world = World(cluster, policy)
    if not concerned(pod, review.namespace, cluster):
        yield from guard(pod, review.namespace, world).problems
        return
    if too_much := oversized(pod):
        yield from too_much
        return
    ask, constraints, problems = _said(pod, review.namespace, world)
    if problems and policy.unsatisfiable_pods == "wait" and controlled(review, metadata):
        world = World(cluster, policy, patient=True)
        ask, constraints, problems = _said(pod, review.namespace, world)
    if policy.verify_pods:
        yield from problems
        if problems:
            return
        if not policy.audit:  # nothing was added there that could have been undone
            yield from undone(pod, constraints, world)
    yield from refuse_tolerations(ask, constraints, world)


def _said(pod: Pod, namespace: str, world: World) -> tuple[Ask, tuple[Constraint, ...], tuple[Problem, ...]]:
    """What the pod asks for, what that demands of its node, and all problems."""
    ask, problems = read(pod, namespace, world)
    constraints, more, _ = constraints_of(ask, world)
    return ask, constraints, (*problems, *more)


def _updated(review: Review, cluster: Inventory, policy: Policy) -> Iterator[Problem]:
    """A pod after its creation: what the webhook read and wrote must not change, and no sleeper is let loose."""
    new, old = _POD.decode(review.object), _POD.decode(review.old)
    if (new.metadata or _NOTHING).deletion_timestamp:
        return
    for field in ("annotations", "labels"):
        yield from _changed(field, getattr(old.metadata, field, None) or {}, getattr(new.metadata, field, None) or {})
    known = set(_tolerations(old))
    for at, toleration in enumerate(_tolerations(new)):
        opens = toleration.key == keys.EXCLUSIVE or (toleration.of_everything and _guarded(cluster))
        if opens and toleration not in known:
            message = f"a toleration of {keys.EXCLUSIVE} cannot be added to a pod: name the HostPool when you create it"
            yield Problem(f"spec.tolerations[{at}]", message, fault=Fault.FORBIDDEN)
    if stirred(new, old):
        world = World(cluster, policy)
        ask, _ = read(new, review.namespace, world)
        yield from stir(ask, constraints_of(ask, world).constraints, world)


def _changed(field: str, old: dict[str, str], new: dict[str, str]) -> Iterator[Problem]:
    for key in sorted(old.keys() | new.keys()):
        if key.startswith(keys.PREFIX) and key not in keys.FOREIGN and old.get(key) != new.get(key):
            message = "cannot be changed once the pod is created: its placement was decided then; make a new pod"
            yield Problem(f"metadata.{field}[{key}]", message, fault=Fault.FORBIDDEN)


def _tolerations(pod: Pod) -> tuple[Toleration, ...]:
    return (pod.spec and pod.spec.tolerations) or ()


def _guarded(cluster: Inventory) -> bool:
    """Whether there are exclusive hosts at all that a toleration of everything would open."""
    return bool(cluster.nodes.tainted.get(keys.EXCLUSIVE))


_CHECKS: dict[tuple[str, str, str, str], Check] = {
    ("", "Pod", "", "CREATE"): _created,
    ("", "Pod", "", "UPDATE"): _updated,
    ("", "Pod", "status", "UPDATE"): _updated,
    ("", "Binding", "", "CREATE"): bound,
    ("", "Binding", "binding", "CREATE"): bound,
    ("", "Node", "", "UPDATE"): node_changed,
    ("", "Node", "status", "UPDATE"): node_changed,
    ("", "Node", "", "DELETE"): node_changed,
    ("streams.ibm.com", "HostPool", "", "CREATE"): submitted_pool,
    ("streams.ibm.com", "HostPool", "", "UPDATE"): changed_pool,
    ("streams.ibm.com", "HPAIntent", "", "CREATE"): submitted_intent,
    ("streams.ibm.com", "HPAIntent", "", "UPDATE"): submitted_intent,
}
"""Group, kind, subresource and operation to what is checked; everything else is allowed unchanged."""
