"""The leader's work: connects watches, triggers, queues and reconcilers."""

import functools
import time

from msgspec import Struct

from kubeapi.clock import Clock, seconds
from webhook.cluster.objects.kinds import (
    DEVICES,
    INTENTS,
    NAMESPACES,
    NODE_GROUPS,
    NODE_TOPOLOGIES,
    PLUGIN_OBJECTS,
    PODS,
    AnyKind,
)
from webhook.cluster.queries.lookups.pod_owners import PodOwners
from webhook.controller.check_work import CheckWork
from webhook.controller.claimtemplates.reconciler import DescribedTemplates
from webhook.controller.claimtemplates.template_users import TemplateUsers
from webhook.controller.concurrency import gather_or_cancel
from webhook.controller.events.recorder import EventRecorder
from webhook.controller.hostpools.marks import MarkOwners
from webhook.controller.hostpools.node_cache import NodeCache
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.hostpools.orphans import Orphans
from webhook.controller.hostpools.pool_reports import PoolReports
from webhook.controller.hostpools.reconciler import HostPools
from webhook.controller.hostpools.triggers import Triggers
from webhook.controller.job_work import JobWork
from webhook.controller.object_editor import ObjectEditor
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.controller.waiting_pods import WaitingPods
from webhook.controller.workqueue.queue import Queue
from webhook.controller.workqueue.workers import fair_queue, run_workers
from webhook.placement.inventory.guests import Guests
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.pool_index import Name


class Queues(Struct, frozen=True):
    """The two queues of reconcile keys: HostPools, and nodes with marks of no existing HostPool."""

    pools: Queue[Name]
    nodes: Queue[str]


class Work:
    """The reconcilers and their queues; the caller feeds ``watched`` with objects of ``kinds`` and calls :meth:`run`.

    ``events`` records Events about HostPools and Jobs, and ``of_pods`` Events about pods: the latter may be many, and
    have a recorder of their own so that the former do not wait. ``now`` is the time in seconds since 1970.
    """

    def __init__(
        self,
        server: ObjectEditor,
        events: EventRecorder,
        rules: ReconcilerSettings,
        *,
        of_pods: EventRecorder,
        clock: Clock = seconds,
        now: Clock = time.time,
    ) -> None:
        policy = rules.policy
        self._traces = rules.traces
        self.watched = ObservedInventory(Inventory(policy.spared, Guests(policy.excluded, policy.exclusive_effect)))
        self.queues = Queues(fair_queue(clock), Queue(clock=clock))
        inventory, whose, nodes = self.watched.inventory, MarkOwners(self.watched), NodeCache(self.watched, clock)
        self.jobs = JobWork(server, events, self.watched, rules, clock=clock, now=now)
        others: tuple[AnyKind, ...] = INTENTS, NAMESPACES, *DEVICES, NODE_TOPOLOGIES, *PLUGIN_OBJECTS
        groups = () if policy.scale_up == "off" else NODE_GROUPS
        self.checks: CheckWork | None = None
        if rules.kueue:
            self.checks = CheckWork(server, self.watched, rules, self.jobs.judge, clock=clock, now=now)
        checked = self.checks.kinds if self.checks else ()
        self.kinds: tuple[AnyKind, ...] = (nodes.kind, PODS, *self.jobs.kinds, *others, *groups, *checked)
        reports = PoolReports(server, events)
        self._hostpools = HostPools(server, inventory, reports, rules, learn=nodes.learn, clock=clock)
        self._hostpools.follow(self.jobs.planned_hosts)
        self._orphans = Orphans(server, inventory, whose, clock=clock)
        self._triggers = Triggers(self.watched, whose, self.queues.pools, self.queues.nodes)
        self.waiting = WaitingPods(
            self.watched, of_pods, owners=PodOwners(server, clock=clock), policy=policy, clock=clock
        )
        self._users = TemplateUsers(self.watched, clock=clock)
        self._templates = DescribedTemplates(server, self._users, inventory, of_pods, clock=clock)
        self._makes_templates = policy.described_devices

    async def run(self) -> None:
        """Reconcile until cancelled; raises LostError when this process does not hold the Lease any more."""
        self._triggers.begin()
        self.waiting.begin()
        if self._makes_templates:
            self._users.begin()
        workers = functools.partial(run_workers, traces=self._traces)
        await gather_or_cancel(
            [
                workers(self.queues.pools, self._hostpools.reconcile, name="host pool"),
                workers(self.queues.nodes, self._orphans.reconcile, name="node", workers=1),
                workers(self.waiting.queue, self.waiting.tell, name="waiting pod", workers=1),
                workers(self.waiting.applications, self.waiting.tell_application, name="application"),
                workers(self._users.queue, self._templates.reconcile, name="claim template", workers=1),
                self.jobs.run(),
                *([self.checks.run()] if self.checks else []),
            ]
        )
