"""Family ``hostIsolation``: the processing element shares its host with no other of its job (``docs/isolation.md``).

As in Streams host constraints, every *other* pod of the job has a label for each isolated operator, and the isolated
pod keeps away from pods with that label. The isolated operators are known from the Job object, else from the job's live
pods.
"""

import functools
import itertools
from collections.abc import Iterable, Iterator
from typing import ClassVar

from webhook.placement.constraints.company import ALL_OF, Company
from webhook.placement.constraints.constraint import Constraint, ConstraintDefaults, Reason, Spread
from webhook.placement.constraints.pods import pod_terms
from webhook.placement.inventory.job_pods import JobPods, PodLabel
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import Requirement
from webhook.placement.objects.jobs.job_model import Isolated, JobModel
from webhook.placement.provision.effects import PREFERENCE, AddLabel, AwayFromPods, Effect
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import ClauseName
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause
from webhook.placement.text.problem import Problem
from webhook.placement.text.rule import Rule


class OwnHost(ConstraintDefaults, frozen=True, gc=False):
    """The isolation of the pod itself: ``held`` are the nodes with pods of the job's other processing elements.

    ``modelled`` tells that the Job object has the isolation, too, so that all other pods get the label. Without that
    the pod also keeps away from the job's other processing elements by name, as pods created earlier have no label.
    """

    rule: ClassVar[str] = Rule.ISOLATION
    verb: ClassVar[str] = "drop"
    clause: Clause
    soft: bool
    job: str
    pe: str
    operators: tuple[str, ...]
    occupied: Bits
    modelled: bool
    node: str = ""

    @property
    def separable(self) -> bool:
        """Without a name of the element, its own isolation tells which isolated operators are others."""
        return bool(self.pe)

    def company(self, job: str) -> Company:
        """The pod shares its node with no other processing element of the job."""
        return Company(avoids=(f"{ALL_OF}{job}",))

    @property
    def spread(self) -> Spread:
        """Replicas may share a host if a label or the Job object tells that they are one processing element."""
        return Spread.FREE if self.pe or self.modelled else Spread.APART

    def filter(self, world: World) -> Bits:
        """Nodes with a host name of their own and without pods of the job's other processing elements."""
        return world.inventory.nodes.own_hostname & ~self.occupied

    def inject(self, world: World) -> Iterable[Effect]:
        """A term for each isolated operator and, if not ``modelled``, one on labels of job and processing element."""
        weight = PREFERENCE if self.soft else None
        for operator in self.operators:
            key, value = isolation_label(operator)
            yield AwayFromPods(self.clause.text, pod_terms.with_label(key, value, self.job), weight)
        if not self.modelled:
            others = (Requirement(keys.PE, "NotIn", (self.pe,)),) if self.pe else ()
            yield AwayFromPods(self.clause.text, pod_terms.of_job(self.job, *others), weight, firm=False)
        if not self.soft:
            yield from pod_terms.hostnamed(self.clause.text, world)

    def explain(self, world: World, out: Bits) -> Iterator[Reason]:
        """Nodes without a host name of their own, then nodes with another processing element of the job."""
        return pod_terms.taken(out, "another processing element of the job", world)


class IsolatedPods(ConstraintDefaults, frozen=True, gc=False):
    """The isolation of the job's other processing elements: the pod gets their labels and keeps off their hosts.

    ``held`` are the nodes that share a host name with a live isolated pod.
    """

    rule: ClassVar[str] = Rule.ISOLATION
    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    isolated: tuple[Isolated, ...]
    occupied: Bits
    clause: Clause | None = None
    soft: bool = False
    node: str = ""

    def filter(self, world: World) -> Bits:
        """Nodes without isolated pods of the job's other processing elements."""
        return world.everything & ~self.occupied

    def inject(self, _world: World) -> Iterable[Effect]:
        """The label of every isolated operator of the job's other processing elements."""
        for operator in dict.fromkeys(element.operator for element in self.isolated):
            key, value = isolation_label(operator)
            yield AddLabel(f"hostIsolation of {operator}", key, value, firm=False)

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """Nodes with an isolated processing element."""
        what = "a processing element of the job with hostIsolation"
        yield Reason(f"runs {what}", f"run {what}", out)


@functools.lru_cache(1024)
def isolation_label(operator: str) -> PodLabel:
    """The pod label that an isolated operator keeps away from."""
    return keys.ISOLATION + keys.digest(operator), keys.label_value(operator)


def parse(ask: Ask, world: World) -> Iterable[Constraint | Problem]:
    """The isolation of the pod itself, and that of the other processing elements of its job."""
    clauses = ask.by_name.get(ClauseName.ISOLATION)
    if not ask.job:
        return (pod_terms.needs_job(clauses[0]),) if clauses else ()
    job_pods = world.job_pods(ask.namespace, ask.job)
    model = world.inventory.jobs.get((ask.namespace, ask.job))
    if not clauses:
        isolated = job_pods.isolated or (model and model.isolated)
        return _within(ask, world, (), job_pods, model) if isolated else ()
    operators = tuple(dict.fromkeys(clause.operator or ask.pe for clause in clauses))
    if not all(operators):
        message = (
            f"{clauses[0]} must say which operator it is for: label the pod {keys.PE}, or write operator: {clauses[0]}"
        )
        return (Problem(f"metadata.labels[{keys.PE}]", message),)
    return _within(ask, world, operators, job_pods, model)


def _within(
    ask: Ask, world: World, operators: tuple[str, ...], job_pods: JobPods, model: JobModel | None
) -> Iterator[Constraint]:
    """The constraints for a job in which something is isolated; ``operators`` are the pod's own isolated ones."""
    if operators:
        soft = ClauseName.ISOLATION in ask.soft
        occupied = job_pods.others(ask.pe)
        modelled = model is not None and all(Isolated(ask.pe, operator) in model.isolated for operator in operators)
        yield OwnHost(ask.of(ClauseName.ISOLATION)[0].written, soft, ask.job, ask.pe, operators, occupied, modelled)
    known = dict.fromkeys((*(model.isolated if model else ()), *itertools.starmap(Isolated, job_pods.isolations())))
    others = tuple(element for element in known if _other(element, ask.pe, operators))
    if others:
        yield IsolatedPods(others, world.inventory.nodes.domains(job_pods.isolated_from(ask.pe)))


def _other(element: Isolated, pe: str, operators: tuple[str, ...]) -> bool:
    """Whether the isolation is another processing element's; without a name in ``pe``, whether of another operator."""
    return element.pe != pe if pe else element.operator not in operators
