"""What a pod asks for, read once from annotations, labels and spec: one value that all constraint families share."""

import itertools
from collections.abc import Iterator, Mapping

from msgspec import Struct

from webhook.placement import keys
from webhook.placement.clauses import Clause, ClauseName
from webhook.placement.cluster import Phase, Pool, Tally
from webhook.placement.contradictions import contradictions
from webhook.placement.lookup import look_up
from webhook.placement.nearest import nearest
from webhook.placement.pod import Pod, PodSpec
from webhook.placement.policy import Binding, Policy
from webhook.placement.problem import Problem, quote
from webhook.placement.requests import pod_requests
from webhook.placement.spl import parse_placement
from webhook.placement.world import World

PREFERABLE = ("host", "hostColocation", "hostExlocation", "hostIsolation", "mapping", "uniform")
"""Constraints that the annotation ``preferred`` may name."""

BINDINGS = ("auto", "nodeName", "nodeAffinity")

OWN_KIND = "ProcessingElement"
"""Kind of the controller whose pods are bound by ``nodeName`` like bare pods: it makes one pod, not replicas."""

PREFERRED_LIMIT = 1024
"""Characters of the annotation ``preferred``: all the names there are take 66."""

SHOWN = 10
"""Problems of one kind that are named: more than a person mends at once."""

_KNOWN = keys.ANNOTATIONS | keys.FOREIGN
_WRITABLE = sorted(key.removeprefix(keys.PREFIX) for key in keys.ANNOTATIONS - {keys.INJECTED})
_NO_SPEC = PodSpec()


class Ask(Struct, frozen=True):
    """A pod's words, as the constraint families read them.

    ``clauses`` are those of the placement annotation, ``soft`` the constraint names that are only preferred,
    ``pools`` the host pool of each ``host(P)`` clause (no ``$default``), ``binding`` how ``host("name")`` ties the pod
    to its node, ``elastic`` whether nodes are expected to come for it, ``requests`` what it needs: milli-units of cpu,
    whole units of everything else.
    """

    namespace: str
    spec: PodSpec
    labels: Mapping[str, str]
    job: str
    pe: str
    clauses: tuple[Clause, ...]
    soft: frozenset[str]
    pools: tuple[tuple[Clause, Pool], ...]
    binding: Binding
    elastic: bool
    requests: Tally
    warnings: tuple[str, ...] = ()

    def of(self, name: ClauseName) -> Iterator[Clause]:
        """The clauses of that name, as they were written."""
        return (clause for clause in self.clauses if clause.name is name)


def annotation(key: str) -> str:
    """The path of an annotation, for messages."""
    return f"metadata.annotations[{key}]"


def read(pod: Pod, namespace: str, world: World) -> tuple[Ask, tuple[Problem, ...]]:
    """Everything the pod says about placement, with all problems of all its annotations at once."""
    metadata, spec = pod.metadata, pod.spec or _NO_SPEC
    annotations = (metadata.annotations if metadata else None) or {}
    labels = (metadata.labels if metadata else None) or {}
    job, pe = labels.get(keys.JOB, ""), labels.get(keys.PE, "")
    warnings: list[str] = []
    problems = list(_unknown(annotations, world.policy, warnings))
    soft, unknown = _preferred(annotations.get(keys.PREFERRED))
    text = annotations.get(keys.PLACEMENT)
    clauses: tuple[Clause, ...] = ()
    if text is not None:
        clauses, unparsed = parse_placement(text, annotation(keys.PLACEMENT))
        problems += unparsed
        hard = [clause for clause in clauses if clause.name not in soft]
        problems += contradictions(hard, annotation(keys.PLACEMENT), text)
    problems += unknown
    pools, missing = look_up(clauses, namespace, job, world, text or "")
    if ClauseName.HOST in soft:
        warnings += [problem.message for problem in missing]
    else:
        problems += missing
    elastic = world.policy.elastic or any(pool.elastic for _, pool in pools)
    pending = elastic or any(pool.phase is Phase.PENDING and pool.sized for _, pool in pools)
    binding, misspelt = _binding(pod, annotations.get(keys.HOST_BINDING), world.policy, waits=pending)
    problems += misspelt
    requests, unreadable = pod_requests(spec)
    problems += [Problem(path, f"{quote(value)} is not a Kubernetes quantity") for path, value in unreadable]
    warnings += [
        f"{clause} steers fusion, which is over: it has no effect on the pod"
        for clause in clauses
        if clause.name.startswith("partition")
    ]
    ask = Ask(namespace, spec, labels, job, pe, clauses, soft, pools, binding, elastic, requests, tuple(warnings))
    return ask, tuple(problems)


def _unknown(annotations: Mapping[str, str], policy: Policy, warnings: list[str]) -> Iterator[Problem]:
    """Keys under our prefix that mean nothing: a constraint that is silently ignored is the worst outcome."""
    unknown = (key for key in annotations if key.startswith(keys.PREFIX) and key not in _KNOWN)
    for key in itertools.islice(unknown, SHOWN):
        near = nearest(key.removeprefix(keys.PREFIX), _WRITABLE)
        message = "unknown annotation" + (f", did you mean {keys.PREFIX}{near}?" if near else "")
        if policy.unknown_annotations == "warn":
            warnings.append(f"{annotation(key)}: {message}")
        else:
            yield Problem(annotation(key), message)


def _preferred(text: str | None) -> tuple[frozenset[str], list[Problem]]:
    if text is None:
        return frozenset(), []
    field = annotation(keys.PREFERRED)
    if len(text) > PREFERRED_LIMIT:
        return frozenset(), [Problem(field, f"has {len(text)} characters, at most {PREFERRED_LIMIT} are allowed")]
    names = [name.strip() for name in text.split(",")]
    problems = [
        Problem(field, f"{quote(name)} is not one of {', '.join(PREFERABLE)}")
        for name in dict.fromkeys(names)
        if name not in PREFERABLE
    ]
    return frozenset(names) & frozenset(PREFERABLE), problems[:SHOWN]


def _binding(pod: Pod, wanted: str | None, policy: Policy, *, waits: bool) -> tuple[Binding, list[Problem]]:
    """How ``host("name")`` is to be injected (``docs/host.md``).

    Past the scheduler only where nothing would wait and nobody would make the pod again and again: a node that
    refuses a bound pod makes a ReplicaSet create dozens of failed ones in seconds. ``waits`` is whether something of
    the cluster is still to come.
    """
    problems = []
    if wanted is not None and wanted not in BINDINGS:
        problems.append(Problem(annotation(keys.HOST_BINDING), f"{quote(wanted)} is not one of {', '.join(BINDINGS)}"))
        wanted = None
    choice = wanted or policy.host_binding
    if waits or (pod.spec and pod.spec.scheduling_gates) or choice == "nodeAffinity":
        return "nodeAffinity", problems
    owners = (pod.metadata.owner_references if pod.metadata else None) or ()
    alone = all(owner.kind == OWN_KIND for owner in owners if owner.controller)
    return ("nodeName" if choice == "nodeName" or alone else "nodeAffinity"), problems
