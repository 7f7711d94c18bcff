"""How the processing elements of a Job stand: which run, and which need a node."""

from collections.abc import Callable, Iterable, Mapping

from kubeapi.client import decoding
from webhook.controller.jobstore.records import StoredElement, StoredJob
from webhook.controller.jobstore.store import JobStore
from webhook.placement.elements.element_pod import ElementPod
from webhook.placement.elements.element_status import FINAL
from webhook.placement.elements.plan import PlannedNodes
from webhook.placement.elements.restart_policy import RestartPolicy, restart_policy
from webhook.placement.jobs.job_progress import JobPhase
from webhook.placement.jobs.replanning import Standing
from webhook.placement.objects.jobs.job_spec import JobSpec, effective, element_name, restartable
from webhook.placement.objects.node import Node


class ElementStandings:
    """Examines the elements of a Job with that ``spec``; ``nodes`` are the nodes that exist."""

    def __init__(self, job: StoredJob, spec: JobSpec, store: JobStore, nodes: Callable[[str], Node | None]) -> None:
        self._job = job
        self._store = store
        self._nodes = nodes
        listed = spec.processing_elements or ()
        self._listed = {element_name(job.name, at, each): each for at, each in enumerate(listed)}
        self.pending: dict[str, ElementPod] = {}
        """Pods that have no node, by their element."""

    def find(self, plan: PlannedNodes) -> Standing:
        """The standing of all elements; ``plan`` is the plan of those that wait."""
        running: dict[str, str] = {}
        waiting: list[str] = []
        for name, stated in self._listed.items():
            element = self._store.elements.all.get((self._job.namespace, name))
            if element is None:
                if self._job.phase is JobPhase.SUBMITTING or restartable(stated):
                    waiting.append(name)
            elif element.owner_uid == self._job.uid and not element.deleting:
                node = self._node(element)
                if node:
                    running[name] = node
                elif self._launches(element):
                    waiting.append(name)
        given = plan.by_element()
        sent = {name: given[name] for name in self.pending if name in given and self._nodes(given[name])}
        return Standing(
            running=running,
            waiting=frozenset(waiting),
            sent=sent,
            movable=frozenset(filter(self._movable, running)),
            equipped=frozenset(plan.hardware_by_element()),
        )

    def _pods(self, element: StoredElement) -> Iterable[ElementPod]:
        return (pod for pod in self._store.pods_of(element.key) if pod.owner == element.uid)

    def _node(self, element: StoredElement) -> str:
        """The node of its pod, which stays there; empty if it has none."""
        for pod in self._pods(element):
            if pod.terminal or pod.deleting or pod.launch != element.launch:
                continue
            if not pod.node:
                self.pending[element.name] = pod
            elif self._nodes(pod.node):
                return pod.node
        return ""

    def _launches(self, element: StoredElement) -> bool:
        """Whether the element has, or will have, a pod that needs a node."""
        if element.name in self.pending:
            return True
        if element.phase in FINAL:
            ended = element.status_document().get("ended")
            return element.launch > (ended.get("launchCount", 0) if isinstance(ended, Mapping) else 0)
        last = next((pod for pod in self._pods(element) if pod.launch == element.launch), None)
        policy = self._policy(element)
        return last is None or policy is None or policy.restarts(last)

    def _movable(self, name: str) -> bool:
        """Whether the element may be restarted elsewhere, as a pod that was evicted is."""
        policy = self._policy(self._store.elements.all[self._job.namespace, name])
        return policy is not None and policy.failed

    def _policy(self, element: StoredElement) -> RestartPolicy | None:
        try:
            stated = element.stated()
        except decoding.ERRORS:
            return None
        return restart_policy(stated, effective(stated, self._job.options or JobSpec()))
