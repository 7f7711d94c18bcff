"""``Sink``: the interface by which objects read from a cluster or a snapshot are put into an inventory."""

from collections.abc import KeysView
from typing import Protocol

from webhook.placement.inventory.intent import Intent
from webhook.placement.inventory.objects import Node, PodInfo, Pool, StreamsJob


class IntentSink(Protocol):
    """Takes HPAIntents, and the namespaces in which they are enabled; dropping an absent one does nothing."""

    def put(self, intent: Intent) -> None:
        """An HPAIntent object was added or changed."""
        ...

    def drop(self, namespace: str, name: str) -> None:
        """An HPAIntent object is gone."""
        ...

    def enable(self, namespace: str) -> None:
        """The namespace carries the label by which HPAIntents apply to its pods without an annotation."""
        ...

    def disable(self, namespace: str) -> None:
        """The namespace does not carry that label, or is gone."""
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

    @property
    def pod_uids(self) -> KeysView[str]:
        """The uids of the pods that were set and not removed since; a view, which changes with them."""
        ...

    def set_pod(self, pod: PodInfo) -> None:
        """A pod was added or changed."""
        ...

    def has_pod(self, uid: str, /) -> bool:
        """Whether the sink has a pod of that uid, bound to a node."""
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

    def set_job(self, job: StreamsJob) -> None:
        """A Job object was added or changed."""
        ...

    def remove_job(self, namespace: str, name: str) -> None:
        """A Job object is gone."""
        ...
