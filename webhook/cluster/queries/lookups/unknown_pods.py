"""Pods that are to be bound to an exclusive host and are not in the inventory: the API server is asked about them.

The inventory holds few of the pods that wait for a node, and a watch may deliver these late. Only pods of DaemonSets
come to exclusive hosts without naming the HostPool; whether a DaemonSet makes the pod is asked as well, since any user
can write an owner reference into a pod.
"""

import functools
import time
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from kubeapi.client.errors import ApiError, Cause
from kubeapi.client.object_client import ObjectClient
from webhook.admission.answer import PodRef
from webhook.cluster.objects import wire
from webhook.cluster.objects.metadata import MalformedError
from webhook.cluster.objects.pods import bound_pod
from webhook.cluster.queries.lookups.kept_answers import KeptAnswers
from webhook.placement.checks.unbound_pods import opening
from webhook.placement.kube.names import is_object_name
from webhook.placement.kube.owner import is_daemon_set
from webhook.placement.kube.pod import PodSpec, Toleration
from webhook.placement.objects.pod import PodInfo
from webhook.placement.text.api_kinds import DAEMON_SET, POD, ApiKind

SECONDS: Final = 1.0
"""For one answer: two of them fit into what the API server gives a review."""

KEPT_SECONDS: Final = 10.0
"""For which an answer about a DaemonSet holds: its pods come to many hosts one right after the other."""

KEPT: Final = 1024
"""DaemonSets that are kept: some 500 bytes each."""

_UNREADABLE: Final = (MalformedError, msgspec.MsgspecError, UnicodeDecodeError)


class _PodTemplate(Struct, frozen=True):
    spec: PodSpec = PodSpec()


class _DaemonSetSpec(Struct, frozen=True):
    template: _PodTemplate = _PodTemplate()


class _DaemonSetObject(Struct, frozen=True):
    """``apps/v1 DaemonSet``: exactly those fields that prove that a pod is its own."""

    metadata: wire.ObjectMetadata = wire.ObjectMetadata()
    spec: _DaemonSetSpec = _DaemonSetSpec()


class UnknownPods:
    """Reads pods one by one; what is known of DaemonSets is kept for :data:`KEPT_SECONDS`."""

    def __init__(self, server: ObjectClient, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._server = server
        self._known: KeptAnswers[tuple[str, str], tuple[str, tuple[Toleration, ...]]]
        self._known = KeptAnswers(clock, KEPT_SECONDS, KEPT)

    async def look_up(self, unknown: PodRef) -> PodInfo | None:
        """The pod; ``None`` if it is gone, or a DaemonSet creates it. Raises ApiError without an answer about it."""
        body = await self._read(POD, unknown.namespace, unknown.name)
        if body is None:
            return None
        try:
            document = msgspec.json.decode(body, type=wire.PodObject)
            pod, _ = bound_pod(document)
        except _UNREADABLE as error:
            raise ApiError(Cause.UNREADABLE, f"the pod is unreadable: {error}") from None
        if pod is None or (unknown.uid and pod.uid != unknown.uid) or await self._of_daemon_set(document, unknown):
            return None
        return pod

    async def _of_daemon_set(self, pod: wire.PodObject, unknown: PodRef) -> bool:
        """Whether the pod is of a DaemonSet that exists and whose template tolerates as much as the pod."""
        metadata, spec = pod.metadata or wire.ObjectMetadata(), pod.spec or PodSpec()
        owner = next(filter(is_daemon_set, metadata.owner_references or ()), None)
        if owner is None:
            return False
        uid, tolerated = await self._daemon_set(unknown.namespace, owner.name)
        return bool(uid) and uid == owner.uid and set(opening(spec.tolerations)) <= set(tolerated)

    async def _daemon_set(self, namespace: str, name: str) -> tuple[str, tuple[Toleration, ...]]:
        """Uid of the DaemonSet (empty if it does not exist), and its tolerations that open exclusive hosts."""
        return await self._known.find((namespace, name), functools.partial(self._read_daemon_set, namespace, name))

    async def _read_daemon_set(self, namespace: str, name: str) -> tuple[str, tuple[Toleration, ...]]:
        body = await self._read(DAEMON_SET, namespace, name)
        try:
            daemon_set = msgspec.json.decode(body, type=_DaemonSetObject) if body is not None else _DaemonSetObject()
        except _UNREADABLE as error:
            raise ApiError(Cause.UNREADABLE, f"the DaemonSet is unreadable: {error}") from None
        return daemon_set.metadata.uid or "", tuple(opening(daemon_set.spec.template.spec.tolerations))

    async def _read(self, kind: ApiKind, namespace: str, name: str) -> bytes | None:
        """The object as JSON; ``None`` if it does not exist.

        Owner references and bindings may hold any text. Nothing is asked for a text that is not an object name.
        """
        if not is_object_name(name):
            return None
        try:
            return await self._server.read(f"{kind.path_in(quote(namespace, safe=''))}/{name}")
        except ApiError as failure:
            if failure.cause is Cause.MISSING:
                return None
            raise
