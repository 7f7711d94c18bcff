"""Pods that are to be bound to an exclusive host and are not known here: the API server is asked about them.

Most pods are never known while they wait, and of those that would be a watch may tell late. Agents of DaemonSets are
the only ones that come to exclusive hosts without being a pool's own; whether a pod is one is asked, too, since anybody
can write an owner into a pod.
"""

import re
import time
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from kubeapi.client.errors import ApiError, Cause
from kubeapi.client.object_client import ObjectClient
from webhook.admission.answer import Unseen
from webhook.cluster.objects import wire
from webhook.cluster.objects.translate import MalformedError, bound_pod
from webhook.placement.checks.sleepers import opening
from webhook.placement.inventory.objects import PodInfo
from webhook.placement.kube.pod import PodSpec, Toleration

SECONDS: Final = 1.0
"""For one answer: two of them fit into what the API server gives a review."""

KEPT_SECONDS: Final = 10.0
"""For which an answer about a DaemonSet holds: its pods come to many hosts one right after the other."""

KEPT: Final = 1024
"""DaemonSets that are kept: some 500 bytes each."""

_NAME: Final = re.compile(r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)
"""A DNS subdomain: owner references and bindings are what somebody says, so they may hold anything."""

_UNREADABLE: Final = (MalformedError, msgspec.MsgspecError, UnicodeDecodeError)


class _Template(Struct, frozen=True):
    spec: PodSpec = PodSpec()


class _Spec(Struct, frozen=True):
    template: _Template = _Template()


class _DaemonSet(Struct, frozen=True):
    """``apps/v1 DaemonSet``, as far as it proves that a pod is its own."""

    metadata: wire.Metadata = wire.Metadata()
    spec: _Spec = _Spec()


class Newcomers:
    """Looks at pods one by one; what is known of DaemonSets is kept for a while."""

    def __init__(self, server: ObjectClient, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._server = server
        self._clock = clock
        self._known: dict[tuple[str, str], tuple[str, tuple[Toleration, ...], float]] = {}

    async def meet(self, unseen: Unseen) -> PodInfo | None:
        """The pod, unless it is gone, or is an agent of a DaemonSet; raises ApiError where nobody can tell."""
        body = await self._read("/api/v1/namespaces/{}/pods/{}", unseen.namespace, unseen.name)
        if body is None:
            return None
        try:
            found = msgspec.json.decode(body, type=wire.Pod)
            pod, _ = bound_pod(found)
        except _UNREADABLE as error:
            raise ApiError(Cause.UNREADABLE, f"the pod is unreadable: {error}") from None
        if pod is None or (unseen.uid and pod.uid != unseen.uid) or await self._agent(found, unseen.namespace):
            return None
        return pod

    async def _agent(self, pod: wire.Pod, namespace: str) -> bool:
        """Whether a DaemonSet makes such pods: one that is there, and whose template tolerates as much as the pod."""
        metadata, spec = pod.metadata or wire.Metadata(), pod.spec or PodSpec()
        owner = next((found for found in metadata.owner_references or () if found.controller), None)
        if owner is None or owner.kind != "DaemonSet" or not owner.api_version.startswith("apps/"):
            return False
        uid, tolerated = await self._daemon_set(namespace, owner.name)
        return bool(uid) and uid == owner.uid and set(opening(spec.tolerations)) <= set(tolerated)

    async def _daemon_set(self, namespace: str, name: str) -> tuple[str, tuple[Toleration, ...]]:
        """Its uid, empty if there is none, and those of its tolerations that matter here."""
        known = self._known.get((namespace, name))
        if known is None or known[2] <= self._clock():
            body = await self._read("/apis/apps/v1/namespaces/{}/daemonsets/{}", namespace, name)
            try:
                found = msgspec.json.decode(body, type=_DaemonSet) if body is not None else _DaemonSet()
            except _UNREADABLE as error:
                raise ApiError(Cause.UNREADABLE, f"the DaemonSet is unreadable: {error}") from None
            if len(self._known) >= KEPT:
                self._known.clear()
            tolerated = opening(found.spec.template.spec.tolerations)
            known = self._known[namespace, name] = found.metadata.uid or "", tolerated, self._clock() + KEPT_SECONDS
        return known[:2]

    async def _read(self, path: str, namespace: str, name: str) -> bytes | None:
        """The object; ``None`` where there is none, or can be none of that name."""
        if not _NAME.fullmatch(name):
            return None
        try:
            return await self._server.read(path.format(quote(namespace, safe=""), name))
        except ApiError as failure:
            if failure.cause is Cause.MISSING:
                return None
            raise
