"""Whether a pod is of an application of another operator that was judged, asked of the API server.

The chain of owners is followed from the pod to an object of a kind that is reviewed. Each link is an object that
exists, with the uid that the reference states. Nothing is asked about pods that a node can run.
"""

import functools
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final
from urllib.parse import quote

import msgspec

from kubeapi.client import decoding
from kubeapi.client.errors import ApiError, Cause
from webhook.admission.answer import OwnersQuestion, PodOwner
from webhook.admission.application_pods import can_exist
from webhook.cluster.queries.lookups.kept_answers import KeptAnswers
from webhook.cluster.watch.lists import ListReader
from webhook.placement.inventory.policy import Policy
from webhook.placement.kinds.application import service_accounts
from webhook.placement.kube.names import is_object_name
from webhook.placement.text.api_kinds import BATCH_JOB, DEPLOYMENT, POD, REPLICA_SET, STATEFUL_SET

SECONDS: Final = 0.5
"""For each answer: a review waits for it."""

READS: Final = 6
"""Objects that are read for one pod: the longest chain is of three, and any user can write references."""

KEPT_SECONDS: Final = 5.0
"""For which an answer holds: operators create pods one right after the other, and again when they are refused."""

KEPT: Final = 1024
"""Answers that are kept: some 500 bytes each, and 8 kB at most, since references are bounded."""

_BETWEEN: Final = {
    (kind.group, kind.name): kind.resource for kind in (POD, REPLICA_SET, DEPLOYMENT, STATEFUL_SET, BATCH_JOB)
}
"""Resources of Kubernetes' own kinds that may stand between an object and its pods, by group and kind."""

Json = dict[str, Any]


Ends = Callable[[PodOwner, Json], bool]
"""Whether that owner, as it is stored, is the object that is looked for."""


Links = Mapping[tuple[str, str], str]
"""Resources of the kinds that are followed, by apiVersion and kind."""

Read = Callable[[PodOwner, str, Links], Awaitable[Json | None]]
"""Reads an owner in a namespace."""

_LATER: Final = frozenset({Cause.UNREACHABLE, Cause.BROKEN, Cause.BUSY, Cause.UNAUTHORIZED})
"""Failures that pass."""


class PodOwners:
    """Follows the owners of pods; an answer is kept for :data:`KEPT_SECONDS`."""

    def __init__(self, server: ListReader, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._server = server
        self._known: KeptAnswers[tuple[str, str, tuple[PodOwner, ...]], PodOwner | None]
        self._known = KeptAnswers(clock, KEPT_SECONDS, KEPT)
        """By user, namespace and owners, the object for which the user creates pods."""
        self._applications: KeptAnswers[tuple[str, tuple[PodOwner, ...]], PodOwner | None]
        self._applications = KeptAnswers(clock, KEPT_SECONDS, KEPT)
        """By namespace and owners, the application to which these lead."""

    async def of_application(self, question: OwnersQuestion) -> bool:
        """Whether the owners lead to an object that was judged, for which the user creates pods.

        What cannot be found out does not count as such an object.
        """
        owners, namespace, policy = question.owners, question.namespace, question.policy
        ends = functools.partial(_creates, question)
        follow = functools.partial(self._followed, owners, namespace, policy, ends, self._read_if_able)
        return await self._known.find((question.user, namespace, owners), follow) is not None

    async def application(self, namespace: str, pod: str, uid: str, policy: Policy) -> PodOwner | None:
        """The object of a reviewed kind to which the owners of the pod lead; ``None`` if they lead to none.

        Who created the pod is not asked. The owners of pods that have the same ones are read once. Raises ApiError if
        one of them can be read later at best.
        """
        links = {("v1", POD.name): POD.resource}
        document = await self._read(PodOwner("v1", POD.name, pod, uid), namespace, links)
        owners = () if document is None else tuple(islice(filter(can_exist, _owners(document)), READS))
        ends = functools.partial(_is_reviewed, policy)
        follow = functools.partial(self._followed, owners, namespace, policy, ends, self._read)
        return await self._applications.find((namespace, owners), follow)

    @staticmethod
    async def _followed(
        owners: Iterable[PodOwner], namespace: str, policy: Policy, ends: Ends, read: Read
    ) -> PodOwner | None:
        """The first of the owners, or of their owners, that ``ends``; the nearest are looked at first."""
        links = _links(policy)
        queue = [*owners]
        for _ in range(READS):
            if not queue:
                break
            owner = queue.pop(0)
            document = await read(owner, namespace, links)
            if document is None:
                continue
            if ends(owner, document):
                return owner
            queue += _owners(document)
        return None

    async def _read_if_able(self, owner: PodOwner, namespace: str, links: Links) -> Json | None:
        """The owner as it is stored; ``None`` also for one that cannot be read now, since a review waits."""
        try:
            return await self._read(owner, namespace, links)
        except ApiError:
            return None

    async def _read(self, owner: PodOwner, namespace: str, links: Links) -> Json | None:
        """The owner as it is stored; ``None`` for one that is of no such kind, does not exist, or is another object.

        Raises ApiError if it can be read later at best.
        """
        resource = links.get((owner.api_version, owner.kind))
        if resource is None or not is_object_name(owner.name):
            return None
        root = f"/apis/{owner.api_version}" if "/" in owner.api_version else f"/api/{owner.api_version}"
        path = f"{root}/namespaces/{quote(namespace, safe='')}/{resource}/{owner.name}"
        try:
            document = msgspec.json.decode(await self._server.read(path))
        except (ApiError, *decoding.ERRORS) as failure:
            if isinstance(failure, ApiError) and failure.cause in _LATER:
                raise
            return None
        metadata = document.get("metadata") if isinstance(document, dict) else None
        return document if isinstance(metadata, dict) and owner.uid and metadata.get("uid") == owner.uid else None


def _links(policy: Policy) -> Links:
    """Resources of the kinds that are followed, by apiVersion and kind."""
    links = {(f"{group}/v1" if group else "v1", kind): resource for (group, kind), resource in _BETWEEN.items()}
    for key in policy.reviewed:
        kind = policy.kinds[key]
        for one in (*kind.through, kind.kind):
            links |= {(f"{one.group}/{version}", one.kind): one.resource for version in one.versions}
    return links


def _creates(question: OwnersQuestion, owner: PodOwner, document: Json) -> bool:
    """Whether the owner is of a kind that was judged, and the user creates pods for it."""
    kind = question.policy.kinds.get(_group_and_kind(owner))
    if kind is None or not _is_reviewed(question.policy, owner, document):
        return False
    accounts = (f"system:serviceaccount:{question.namespace}:{name}" for name in service_accounts(kind, document))
    return question.user in question.policy.operator_accounts or question.user in accounts


def _is_reviewed(policy: Policy, owner: PodOwner, _found: Json) -> bool:
    return _group_and_kind(owner) in policy.reviewed


def _group_and_kind(owner: PodOwner) -> tuple[str, str]:
    return owner.api_version.partition("/")[0], owner.kind


def _owners(document: Json) -> Iterator[PodOwner]:
    """The owners that a stored object states."""
    stated = document["metadata"].get("ownerReferences")
    for one in stated if isinstance(stated, list) else ():
        try:
            yield msgspec.convert(one, PodOwner)
        except msgspec.ValidationError:
            continue
