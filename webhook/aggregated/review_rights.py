"""``ReviewRights``: what a user may ask, and which names an answer may tell, by the rights that the cluster gives.

The API server has checked the right to create reviews before it passes a request on. It is checked here as well, as
aggregated API servers do: an API server that was told otherwise, or a front proxy that is not one, gets nothing.
"""

import asyncio
from collections.abc import Iterable
from typing import Final

from kubeapi.client.object_client import ObjectClient
from webhook.admission.review import User
from webhook.cluster.queries.lookups.authorization import Authorization
from webhook.placement.text.api_kinds import NODE, POD, ApiKind
from webhook.placement.text.problem import quote
from webhook.placementreview.review import GROUP, RESOURCE, VERSION, Visible

QUESTIONS: Final = 8
"""Questions about rights that are asked at a time: a flood of reviews must not become one of requests."""

NAMESPACES: Final = 64
"""Namespaces of one review for which the right to list pods is asked, the first ones; of others no names are told."""


class ForbiddenError(Exception):
    """The user may not create reviews in the namespace; the text says so as the API server says it."""


class ReviewRights:
    """Asks the API server; raises ApiError where it does not say, so that nothing is answered then."""

    def __init__(self, server: ObjectClient) -> None:
        self._authorization = Authorization(server)
        self._questions = asyncio.Semaphore(QUESTIONS)

    async def require(self, user: User, namespace: str) -> None:
        """Raise :class:`ForbiddenError` unless the user may create reviews in the namespace."""
        attributes = {"verb": "create", "group": GROUP, "version": VERSION, "resource": RESOURCE}
        if not await self._may(user, {**attributes, "namespace": namespace}):
            raise ForbiddenError(
                f'{RESOURCE}.{GROUP} is forbidden: User {quote(user.username)} cannot create resource "{RESOURCE}" in '
                f'API group "{GROUP}" in the namespace {quote(namespace)}'
            )

    async def visible(self, user: User, namespaces: Iterable[str]) -> Visible:
        """What the user may list: nodes, and the pods of all namespaces, or else of which of these."""
        nodes, everywhere = await asyncio.gather(self._lists(user, NODE), self._lists(user, POD))
        asked = [] if everywhere else list(dict.fromkeys(namespaces))[:NAMESPACES]
        allowed = await asyncio.gather(*(self._lists(user, POD, namespace) for namespace in asked))
        listed = frozenset(namespace for namespace, may in zip(asked, allowed, strict=True) if may)
        return Visible(nodes, listed, everywhere)

    async def _lists(self, user: User, kind: ApiKind, namespace: str = "") -> bool:
        attributes = {"verb": "list", "group": kind.group, "version": "v1", "resource": kind.resource}
        return await self._may(user, {**attributes, "namespace": namespace} if namespace else attributes)

    async def _may(self, user: User, attributes: dict[str, str]) -> bool:
        async with self._questions:
            return await self._authorization.may(user, {"resourceAttributes": attributes})
