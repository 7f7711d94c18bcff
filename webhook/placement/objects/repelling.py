"""Required ``podAntiAffinity`` of pods that run, and the nodes that it closes to other pods (Kubernetes' scheduler).

Kept are terms that users write, of which it is certain to which pods they apply. Terms about pods of one job, such as
those that the product writes, matter to that job only, and are known as its labels.
"""

from collections.abc import Container, Mapping

from msgspec import Struct

from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import Requirement
from webhook.placement.kube.selection.selector import holds


class RepellingTerm(Struct, frozen=True, gc=False):
    """No pod of these ``namespaces`` (all, if ``None``) that meets the ``needs`` is in the domain of the term's pod."""

    topology_key: str
    needs: tuple[Requirement, ...]
    namespaces: frozenset[str] | None

    def about(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Whether the term applies to a pod with these labels."""
        there = self.namespaces is None or namespace in self.namespaces
        return there and all(holds(need, labels.get(need.key)) for need in self.needs)


_Places = dict[int, set[str]]
"""Uids of pods, by the slots of their nodes."""


class Repelling:
    """The terms of all pods, with the slots of their nodes.

    Terms are found by a label that a pod has to have: a question does not take time by how many terms there are.
    """

    __slots__ = ("_by_label", "_of")

    def __init__(self) -> None:
        self._of: dict[str, tuple[int, tuple[RepellingTerm, ...]]] = {}
        self._by_label: dict[str, dict[RepellingTerm, tuple[RepellingTerm, _Places]]] = {}
        """Each term with itself, so that pods of one template share it."""

    def add(self, uid: str, slot: int, terms: tuple[RepellingTerm, ...]) -> None:
        """A pod with these terms is bound to ``slot``."""
        kept = []
        for stated in dict.fromkeys(terms):
            term, places = self._by_label.setdefault(_label(stated), {}).setdefault(stated, (stated, {}))
            places.setdefault(slot, set()).add(uid)
            kept.append(term)
        self._of[uid] = slot, tuple(kept)

    def remove(self, uid: str) -> None:
        """The pod is gone, if it had any terms."""
        slot, terms = self._of.pop(uid, (0, ()))
        for term in terms:
            label = _label(term)
            known = self._by_label[label]
            _, places = known[term]
            places[slot].discard(uid)
            if not places[slot]:
                del places[slot]
            if not places:
                del known[term]
            if not known:
                del self._by_label[label]

    def slots(self, namespace: str, labels: Mapping[str, str], but: Container[str]) -> dict[str, Bits]:
        """Slots of pods that exclude a pod with these labels, by topology key; pods in ``but`` count as gone."""
        slots_by_key: dict[str, Bits] = {}
        for label in ("", *labels):
            for term, places in self._by_label.get(label, {}).values():
                if term.about(namespace, labels):
                    for slot, uids in places.items():
                        if not all(uid in but for uid in uids):
                            slots_by_key[term.topology_key] = slots_by_key.get(term.topology_key, 0) | 1 << slot
        return slots_by_key


def _label(term: RepellingTerm) -> str:
    """The key of a label that a pod has to have for the term; empty if it need not have any."""
    return next((need.key for need in term.needs if need.operator in {"In", "Exists"}), "")
