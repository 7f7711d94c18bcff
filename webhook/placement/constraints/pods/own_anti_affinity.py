"""Family of the pod's own required ``podAntiAffinity``, as far as it keeps pods of one template apart.

One term is enough to keep two pods out of one domain of its topology key. Terms about other pods are left to the
scheduler, as the labels of these pods are not known (``docs/spread.md``).
"""

from collections.abc import Iterable
from typing import ClassVar

from webhook.placement.constraints.constraint import Constraint, EveryNode, Finished
from webhook.placement.constraints.topology_limit import OnePerDomain
from webhook.placement.kube.pod import PodTerm
from webhook.placement.objects.template_pods import TemplatePods, applies, template_pods_of
from webhook.placement.request.ask import Ask
from webhook.placement.request.pod_text import anti_affinity
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause
from webhook.placement.text.rule import Rule


class OwnAntiAffinity(EveryNode, frozen=True, gc=False):
    """The condition that no two pods of the template are in one domain of the topology key ``key``.

    Every node meets the constraint: where pods of others are that a term also matches is not known. ``growing`` tells
    that the pods could go to a new domain.
    """

    rule: ClassVar[str] = Rule.OWN_SPREAD
    separable: ClassVar[bool] = True
    key: str
    world: World
    growing: bool

    @property
    def clause(self) -> Clause:
        """The terms with that topology key, as refusals name them."""
        return anti_affinity(self.key)

    @property
    def spread(self) -> OnePerDomain:
        """One pod in each domain."""
        return OnePerDomain(
            self.key, self.world.inventory.nodes.domains_of(self.key), self.world.everything, self.growing
        )


def parse(ask: Ask, world: World, finished: Finished) -> Iterable[Constraint]:
    """One constraint for each topology key of the terms that match pods of the same template."""
    affinity = ask.spec.affinity.pod_anti_affinity if ask.spec.affinity else None
    terms = affinity.required if affinity else None
    if not terms or finished.past:
        return ()
    peers = template_pods_of(finished.labels, ask.references)
    repelling = dict.fromkeys(term.topology_key for term in terms if _repels(term, peers, ask.namespace))
    return [OwnAntiAffinity(key, world, finished.open_to_new(key)) for key in repelling if key]


def _repels(term: PodTerm, peers: TemplatePods, namespace: str) -> bool:
    """Whether the term surely matches pods of the same template in the pod's namespace."""
    matched = peers.match(term.label_selector, term.match_label_keys, term.mismatch_label_keys)
    return matched is True and applies(term, namespace, namespace)
