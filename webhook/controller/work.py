"""What whoever leads does: everything between what is heard of a cluster and what is written to it."""

from msgspec import Struct

from webhook.cluster.objects.kinds import JOBS, PODS, AnyKind
from webhook.controller.clock import Clock, seconds
from webhook.controller.concurrency import gather_or_cancel
from webhook.controller.hostpools.host_choice import Rules
from webhook.controller.hostpools.marks import MarkOwners
from webhook.controller.hostpools.node_cache import NodeCache
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.hostpools.orphans import Orphans
from webhook.controller.hostpools.pool_object import OWN_POOLS
from webhook.controller.hostpools.pool_reports import PoolReports, Server, Tells
from webhook.controller.hostpools.reconciler import HostPools
from webhook.controller.hostpools.triggers import Triggers
from webhook.controller.waiting_pods import WaitingPods
from webhook.controller.workqueue.queue import Queue
from webhook.controller.workqueue.workers import SEATS, run_workers
from webhook.placement.inventory.guests import Guests
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.pool_index import Name


class Queues(Struct, frozen=True):
    """Keys that wait to be looked at: pools, and nodes with marks that no pool stands for."""

    pools: Queue[Name]
    nodes: Queue[str]


class Work:
    """``watched`` is to be fed with objects of ``kinds``; nothing is done before :meth:`run`.

    ``events`` hears of pools and ``of_pods`` of pods: these may be many, and shall not hold up the others.
    """

    def __init__(self, server: Server, events: Tells, rules: Rules, *, of_pods: Tells, clock: Clock = seconds) -> None:
        policy = rules.policy
        self.watched = ObservedInventory(Inventory(policy.spared, Guests(policy.excluded, policy.exclusive_effect)))
        self.queues = Queues(Queue(flow=_namespace, seats=SEATS, clock=clock), Queue(clock=clock))
        inventory, whose, nodes = self.watched.inventory, MarkOwners(self.watched), NodeCache(self.watched)
        self.kinds: tuple[AnyKind, ...] = (nodes.kind, PODS, OWN_POOLS, JOBS)
        reports = PoolReports(server, events)
        self._hostpools = HostPools(server, inventory, reports, rules, learn=nodes.learn, clock=clock)
        self._orphans = Orphans(server, inventory, whose, clock=clock)
        self._triggers = Triggers(self.watched, whose, self.queues.pools, self.queues.nodes)
        self._waiting = WaitingPods(self.watched, of_pods, clock=clock)

    async def run(self) -> None:
        """Work until cancelled; LostError when this process may act no more."""
        self._triggers.begin()
        self._waiting.begin()
        await gather_or_cancel(
            [
                run_workers(self.queues.pools, self._hostpools.reconcile, name="host pool"),
                run_workers(self.queues.nodes, self._orphans.reconcile, name="node", workers=1),
                run_workers(self._waiting.queue, self._waiting.tell, name="waiting pod", workers=1),
            ]
        )


def _namespace(name: Name) -> str:
    """MarkOwners pool it is: namespaces take turns, so nobody's pools hold up those of others."""
    return name[0]
