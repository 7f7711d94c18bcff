"""The pod's own required ``podAntiAffinity``, as far as it keeps pods of one template from each other.

One term is enough to keep two pods out of one domain of its topology key. Where pods of others are that it also keeps
away from is for the scheduler to find (``docs/spread.md``).
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from msgspec import Struct

from webhook.placement.constraints.constraint import Constraint, Finished, Reason
from webhook.placement.constraints.topology_limit import OnePerDomain
from webhook.placement.inventory.template_pods import TemplatePods, template_pods_of
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import PodTerm
from webhook.placement.kube.selector import holds, requirements_of
from webhook.placement.provision.effects import Effect
from webhook.placement.request.ask import Ask
from webhook.placement.request.pod_text import ANTI_AFFINITY
from webhook.placement.request.world import World

NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""Label of every namespace, with its name as the value (Kubernetes, well-known labels)."""


class OwnAntiAffinity(Struct, frozen=True, gc=False):
    """A topology key in whose domains no two of the pods can be; ``growing`` tells whether a new one could help."""

    verb: ClassVar[str] = "drop"
    soft: ClassVar[bool] = False
    node: ClassVar[str] = ""
    key: str
    world: World
    growing: bool

    @property
    def clause(self) -> str:
        """The terms of that key, in words."""
        return ANTI_AFFINITY + self.key

    @property
    def spread(self) -> OnePerDomain:
        """One in each domain."""
        return OnePerDomain(
            self.key, self.world.inventory.nodes.domains_of(self.key), self.world.everything, self.growing
        )

    def filter(self, world: World) -> Bits:
        """Any node: pods of others are the scheduler's to find."""
        return world.everything

    def inject(self, _world: World) -> Iterable[Effect]:
        """Nothing: the pod says it already."""
        return ()

    def explain(self, _world: World, _out: Bits) -> Iterator[Reason]:
        """No node is out for it."""
        return iter(())

    def mend(self, _world: World, _out: Bits) -> str:
        """No node is out for it."""
        return ""


def parse(ask: Ask, world: World, finished: Finished) -> Iterable[Constraint]:
    """One constraint for each topology key of the terms that match pods like this one."""
    affinity = ask.spec.affinity.pod_anti_affinity if ask.spec.affinity else None
    terms = affinity.required if affinity else None
    if not terms or finished.past:
        return ()
    peers = template_pods_of(finished.labels, ask.references)
    repelling = dict.fromkeys(term.topology_key for term in terms if _repels(term, peers, ask.namespace))
    return [OwnAntiAffinity(key, world, finished.open_to_new(key)) for key in repelling if key]


def _repels(term: PodTerm, peers: TemplatePods, namespace: str) -> bool:
    """Whether the term surely matches pods like this one, of its namespace."""
    matched = peers.match(term.label_selector, term.match_label_keys, term.mismatch_label_keys)
    return matched is True and _within(term, namespace)


def _within(term: PodTerm, namespace: str) -> bool:
    """Whether the namespace is surely among those of the term; with neither field only the pod's own is."""
    if namespace in (term.namespaces or ()):
        return True
    if term.namespace_selector is None:
        return not term.namespaces
    named = {NAMESPACE_NAME: namespace}
    requirements = requirements_of(term.namespace_selector)
    return all(need.key in named and holds(need, named[need.key]) for need in requirements)
