"""Family of taints: the pod tolerates every taint of the node that keeps pods away.

Cordoned and unready nodes have taints, too. The taint of exclusive pools belongs to the family ``exclusive``. Source:
``component-helpers/scheduling/corev1/helpers.go`` and ``core/v1/toleration.go`` of Kubernetes.
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from webhook.placement.constraints.constraint import Constraint, ConstraintDefaults, Reason, Spread
from webhook.placement.kube.bits import Bits, union
from webhook.placement.kube.pod import Toleration
from webhook.placement.kube.selection.tolerations import CONDITIONS, CORDONED, Taint, tolerates
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause
from webhook.placement.text.fix import AddToleration, Fix, Uncordon
from webhook.placement.text.problem import Problem
from webhook.placement.text.rule import Rule


class Tolerated(ConstraintDefaults, frozen=True, gc=False):
    """The standing condition that the ``tolerations`` cover every taint of the node that keeps pods away."""

    rule: ClassVar[str] = Rule.NODES
    about_taints: ClassVar[bool] = True
    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    tolerations: tuple[Toleration, ...]
    clause: Clause | None = None
    soft: bool = False
    node: str = ""

    def filter(self, world: World) -> Bits:
        """Nodes without a taint that the pod does not tolerate."""
        index = world.inventory.nodes
        mentioned = {toleration.key or "" for toleration in self.tolerations}
        if "" not in mentioned and mentioned.isdisjoint(index.tainted):
            return world.everything & ~index.kept_away()
        kept_away = 0
        for key, tainted in index.tainted.items():
            if key == keys.EXCLUSIVE:
                continue
            if key not in mentioned and "" not in mentioned:
                kept_away |= tainted
                continue
            for taint, nodes in index.taints[key].items():
                if not self._tolerates(taint):
                    kept_away |= nodes
        return world.everything & ~kept_away

    def explain(self, world: World, out: Bits) -> Iterator[Reason]:
        """Each node under the first of its taints that is not tolerated, in the order of their texts."""
        for taint, nodes in self._keeping(world, out):
            words = CONDITIONS.get(taint.key)
            if words:
                yield Reason(words[0], words[1], nodes)
            else:
                yield Reason(f"has the taint {taint}", f"have the taint {taint}", nodes)

    def fix(self, world: World, out: Bits) -> Fix | None:
        """Tolerate the taint, or lift the cordon, that alone keeps the pod off most of these nodes.

        Passing conditions of nodes are not proposed: no pod is refused for these.
        """
        keeping: dict[Fix, Bits] = {}
        for taint in self._untolerated(world):
            fix = Uncordon() if taint.key == CORDONED else AddToleration(str(taint))
            keeping[fix] = keeping.get(fix, 0) | world.inventory.nodes.taints[taint.key][taint] & out
        alone = {
            fix: (nodes & ~union(keeping[other] for other in keeping if other != fix)) for fix, nodes in keeping.items()
        }
        best = max(alone, key=lambda fix: alone[fix].bit_count())
        return best if alone[best] else None

    def _tolerates(self, taint: Taint) -> bool:
        """Whether some toleration covers the taint."""
        for toleration in self.tolerations:  # noqa: SIM110 -- a generator takes twice as long
            if tolerates(toleration, taint):
                return True
        return False

    def _untolerated(self, world: World) -> list[Taint]:
        """All taints in the inventory that the pod does not tolerate, in the order of their texts."""
        by_key = world.inventory.nodes.taints
        taints = (taint for key in by_key if key != keys.EXCLUSIVE for taint in by_key[key])
        return sorted(taint for taint in taints if not self._tolerates(taint))

    def _keeping(self, world: World, out: Bits) -> Iterator[tuple[Taint, Bits]]:
        """Taints that are not tolerated with nodes of ``out``, each node under its first taint."""
        remaining = out
        for taint in self._untolerated(world):
            nodes = remaining & world.inventory.nodes.taints[taint.key][taint]
            if nodes:
                remaining &= ~nodes
                yield taint, nodes


def parse(ask: Ask, _world: World) -> Iterable[Constraint | Problem]:
    """One standing condition for every pod."""
    return (Tolerated(ask.spec.tolerations or ()),)
