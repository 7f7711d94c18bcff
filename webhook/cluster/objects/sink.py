"""Where values go that were read from a cluster: the part of an inventory that whoever reads needs."""

from typing import Protocol

from webhook.placement.inventory.intent import Intent
from webhook.placement.inventory.objects import Job, Node, PodInfo, Pool


class IntentSink(Protocol):
    """Takes HPAIntents, and the namespaces in which they hold; dropping what is not there is nothing."""

    def put(self, intent: Intent) -> None:
        """An HPAIntent object was added or changed."""
        ...

    def drop(self, namespace: str, name: str) -> None:
        """An HPAIntent object is gone."""
        ...

    def enable(self, namespace: str) -> None:
        """The namespace carries the label that has intents hold in it."""
        ...

    def disable(self, namespace: str) -> None:
        """It does not, or is gone."""
        ...


class Sink(Protocol):
    """Takes a cluster's objects one at a time, in any order; a second ``set_`` replaces the first."""

    @property
    def intents(self) -> IntentSink:
        """Where HPAIntents go."""
        ...

    def set_node(self, node: Node) -> None:
        """A node was added or changed."""
        ...

    def remove_node(self, name: str) -> None:
        """A node is gone."""
        ...

    def set_pod(self, pod: PodInfo) -> None:
        """A pod was added or changed."""
        ...

    def has_pod(self, uid: str, /) -> bool:
        """Whether the pod holds something already."""
        ...

    def remove_pod(self, uid: str) -> None:
        """A pod is gone, or finished."""
        ...

    def set_pool(self, pool: Pool) -> None:
        """A HostPool object was added or changed."""
        ...

    def remove_pool(self, namespace: str, name: str) -> None:
        """A HostPool object is gone."""
        ...

    def set_job(self, job: Job) -> None:
        """A Job object was added or changed."""
        ...

    def remove_job(self, namespace: str, name: str) -> None:
        """A Job object is gone."""
        ...
