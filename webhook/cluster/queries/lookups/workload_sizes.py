"""How many pods a workload is to have, asked of the API server when the first of its pods is judged.

Only pods that must share a node need the number (``docs/colocation.md``), so no workload is watched.
"""

import functools
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from kubeapi.client.errors import ApiError
from kubeapi.client.object_client import ObjectClient
from webhook.admission.answer import WorkloadRef
from webhook.cluster.queries.lookups.kept_answers import KeptAnswers
from webhook.placement.kube.names import is_object_name
from webhook.placement.text.api_kinds import BATCH_JOB, REPLICA_SET, REPLICATION_CONTROLLER, STATEFUL_SET, ApiKind

SECONDS: Final = 0.5
"""For the answer: a pod waits for it, and would rather do without."""

KEPT_SECONDS: Final = 10.0
"""For which an answer holds: the pods of a workload come one right after the other."""

KEPT: Final = 4096
"""Answers that are kept: some 300 bytes each."""

_COUNTED: Final[Mapping[tuple[str, str], ApiKind]] = {
    (kind.api_version, kind.name): kind for kind in (REPLICA_SET, STATEFUL_SET, BATCH_JOB, REPLICATION_CONTROLLER)
}
"""Kinds that state a number of pods, by apiVersion and kind."""

_DESIRED: Final = "deployment.kubernetes.io/desired-replicas"
"""Annotation by which a Deployment tells its ReplicaSet how many pods there are to be after a rollout (Kubernetes)."""


class _WorkloadMetadata(Struct, frozen=True):
    annotations: dict[str, str] | None = None


class _WorkloadSpec(Struct, frozen=True):
    replicas: int | None = None
    parallelism: int | None = None
    completions: int | None = None


class _WorkloadObject(Struct, frozen=True):
    metadata: _WorkloadMetadata = _WorkloadMetadata()
    spec: _WorkloadSpec = _WorkloadSpec()


class WorkloadSizes:
    """Numbers of pods by workload, each kept for :data:`KEPT_SECONDS`."""

    def __init__(self, server: ObjectClient, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._server = server
        self._known: KeptAnswers[WorkloadRef, int | None] = KeptAnswers(clock, KEPT_SECONDS, KEPT)

    def count(self, workload: WorkloadRef) -> int | None:
        """How many pods the workload is to run at the same time; ``None`` if not asked lately, or not known."""
        return self._known.at(workload)

    async def learn(self, workload: WorkloadRef) -> bool:
        """Ask the API server, unless it was asked lately; whether the number is known then."""
        return await self._known.find(workload, functools.partial(self._asked, workload)) is not None

    async def _asked(self, workload: WorkloadRef) -> int | None:
        kind = _COUNTED.get((workload.version, workload.kind))
        # An owner reference may hold any text.
        if kind is None or not is_object_name(workload.name):
            return None
        try:
            body = await self._server.read(f"{kind.path_in(quote(workload.namespace, safe=''))}/{workload.name}")
            return _size(workload.kind, msgspec.json.decode(body, type=_WorkloadObject))
        except (ApiError, msgspec.MsgspecError):
            return None


def _size(kind: str, workload: _WorkloadObject) -> int:
    spec = workload.spec
    if kind == BATCH_JOB.name:
        parallel = 1 if spec.parallelism is None else spec.parallelism
        return parallel if spec.completions is None else min(parallel, spec.completions)
    replicas = 1 if spec.replicas is None else spec.replicas
    desired: Any = (workload.metadata.annotations or {}).get(_DESIRED, "")
    return max(replicas, int(desired)) if re.fullmatch(r"[0-9]{1,9}", desired, re.ASCII) else replicas
