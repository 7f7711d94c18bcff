"""Whether a user has a right, asked of the API server (``authorization.k8s.io/v1 SubjectAccessReview``)."""

import time
from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from msgspec import Struct

from kubeapi.client.errors import ApiError, Cause
from kubeapi.client.object_client import ObjectClient
from webhook.admission.review import User
from webhook.cluster.queries.lookups.kept_answers import KeptAnswers
from webhook.placement.text.api_kinds import HOST_POOL

PATH: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

GRANTED: Final = 30.0
DENIED: Final = 5.0
"""Seconds for which an answer holds: shorter than what the API server's own webhook authorizer keeps (5 m, 30 s), so
that a right that is taken away, or given, soon counts."""

KEPT: Final = 4096
"""Answers that are kept: a few hundred bytes each."""


class _Status(Struct, frozen=True):
    allowed: bool = False


class _Review(Struct, frozen=True):
    status: _Status = _Status()


class Authorization:
    """Asks about rights; an answer is kept for :data:`GRANTED` or :data:`DENIED` seconds."""

    def __init__(self, server: ObjectClient, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._server = server
        self._known: KeptAnswers[bytes, bool] = KeptAnswers(clock, GRANTED, KEPT)

    async def may_use(self, user: User, namespace: str, pool: str) -> bool:
        """Whether the user may ``use`` that HostPool; raises ApiError if the API server does not say."""
        attributes = {
            "verb": "use",
            "group": HOST_POOL.group,
            "resource": HOST_POOL.resource,
            "namespace": namespace,
            "name": pool,
        }
        return await self.may(user, {"resourceAttributes": attributes})

    async def may(self, user: User, attributes: Mapping[str, Mapping[str, str]]) -> bool:
        """Whether the user has a right, given as ``resourceAttributes`` or ``nonResourceAttributes`` of a review.

        Raises ApiError where that cannot be found out.
        """
        asked = _asked(user, attributes)
        key = msgspec.json.encode(asked, order="deterministic")
        known = self._known.at(key)
        if known is not None:
            return known
        body = await self._server.create(PATH, asked)
        try:
            allowed = msgspec.json.decode(body, type=_Review).status.allowed
        except msgspec.MsgspecError as error:
            raise ApiError(Cause.UNREADABLE, f"the API server's answer about rights is unreadable: {error}") from None
        self._known.keep(key, allowed, GRANTED if allowed else DENIED)
        return allowed


def _asked(user: User, attributes: Mapping[str, Mapping[str, str]]) -> dict[str, object]:
    said = {"user": user.username, "uid": user.uid, "groups": user.groups or (), "extra": user.extra or {}}
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "metadata": {},
        "spec": {**{name: value for name, value in said.items() if value}, **attributes},
    }
