"""Asks for PlacementReviews: an API server, with the rights of the user, or a snapshot on this machine.

The API server gets several reviews if the manifests are in several namespaces, or more than one review may hold.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from http import HTTPStatus
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import quote as quoted

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kubeapi.client.connection import Connection
from kubeapi.client.decoding import ERRORS, decoded, inspect_types, reason
from kubeapi.client.errors import ApiError, Cause, FailedRequest
from kubeapi.client.object_client import ObjectClient
from webhook.admission.checks.templates import origin_of
from webhook.admission.unstructured import Unstructured, mapping
from webhook.app.cluster_source import configuration_of
from webhook.app.explain import read_folder
from webhook.app.references import kinds_with
from webhook.cluster.snapshot.folder import files
from webhook.cluster.snapshot.manifests import read_manifests
from webhook.placement.kube.size_limits import NESTING_LIMIT
from webhook.placement.text.api_kinds import POD
from webhook.placement.text.problem import counted
from webhook.placementreview.answer import ReviewedCluster, UnanswerableReviewError, answer
from webhook.placementreview.bounds import MANIFESTS
from webhook.placementreview.review import (
    API_VERSION,
    GROUP,
    KIND,
    RESOURCE,
    VERSION,
    EvictedElsewhere,
    EvictionVerdict,
    ReviewResult,
    ReviewSpec,
    ReviewStatus,
    Visible,
)
from webhook.server.fatal_error import FatalError
from webhook.settings import Settings, policy_of

BYTES: Final = 2 << 20
"""Bytes of the manifests of one review as JSON: less than the 3 MiB that an API server takes of any request."""

SECONDS: Final = 60.0
"""Time-out of one review in seconds, which is that of the API server for a request."""

ANSWER_BYTES: Final = 32 << 20
"""Bytes of an answer: the manifests come back, with a patch for each pod, and names of nodes for each rule."""

ATTEMPTS: Final = 4
"""How often a review is sent while the API server asks to retry later."""

UNPLACED: Final = frozenset[EvictionVerdict]({"Refused", "Unplaced"})
"""What becomes of an evicted pod whose successor has no node."""

_LONGEST_WAIT: Final = 10.0
"""Seconds to wait before a review is sent again, if the API server names more."""

_FULL_RESOURCE: Final = f"{RESOURCE}.{GROUP}"
"""The resource as a role names it."""

_NO_RIGHT: Final = "cannot create resource"
"""What an API server says that refuses to create an object for want of a right (RBAC)."""

_NOT_SERVED: Final = (
    f"the API server does not serve {_FULL_RESOURCE}: set placementReview.enabled in the values of the chart, or "
    "review against a folder with --snapshot"
)

_UNREACHED: Final = f"kubectl get apiservice {VERSION}.{GROUP} shows whether the API server reaches the webhook"


class RejectedReviewError(Exception):
    """A review cannot be sent, or is refused as a whole. The text is a sentence for the user."""


class LargeReviewError(RejectedReviewError):
    """A review or its answer is too large, which those of some of its manifests may not be."""


class Reviewer(Protocol):
    """Answers reviews of one namespace."""

    async def review(self, namespace: str, spec: ReviewSpec) -> ReviewStatus:
        """The answer; raises RejectedReviewError for a review that cannot be used, FatalError if there is no answer."""
        ...


class ReviewPart(Struct, frozen=True):
    """Manifests that fit into one review of ``namespace``, by their ``places`` among all manifests, from 0."""

    namespace: str
    places: tuple[int, ...]


class AnsweredReview(Struct, frozen=True):
    """What is read of an answer."""

    status: ReviewStatus = ReviewStatus()


def parts_of(manifests: Sequence[Unstructured], namespace: str, most: int = MANIFESTS) -> list[ReviewPart]:
    """The manifests by namespace, ``namespace`` for those that state none, in parts of at most ``most``.

    Raises :class:`RejectedReviewError` for a manifest that is too large.
    """
    parts: list[ReviewPart] = []
    for name, places in _by_namespace(manifests, namespace).items():
        part: list[int] = []
        free_bytes = BYTES
        for place in places:
            size = json_size(manifests[place], BYTES)
            if size > free_bytes or len(part) == most:
                parts.append(ReviewPart(name, tuple(part)))
                part, free_bytes = [], BYTES
            part.append(place)
            free_bytes -= size
        parts.append(ReviewPart(name, tuple(part)))
    return parts


def _by_namespace(manifests: Sequence[Unstructured], namespace: str) -> Mapping[str, list[int]]:
    """The places of the manifests in each namespace, in the order in which namespaces are named."""
    places: dict[str, list[int]] = {}
    for place, document in enumerate(manifests):
        places.setdefault(str(mapping(document, "metadata").get("namespace") or namespace), []).append(place)
    return places


def json_size(document: Unstructured, limit: int) -> int:
    """How many bytes the object has as JSON; an alias of YAML counts each time, as JSON has none.

    Raises :class:`RejectedReviewError` for more than ``limit`` bytes or :data:`NESTING_LIMIT` levels, and for an object
    that cannot be JSON. Time and memory are proportional to the limit.
    """
    characters = 0
    waiting: list[tuple[object, int]] = [(document, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > NESTING_LIMIT:
            raise RejectedReviewError(f"{origin_of(document)} is nested more than {NESTING_LIMIT} levels deep")
        if isinstance(value, dict):
            characters += 2 + sum(len(str(key)) + 4 for key in value)
            waiting += ((each, depth + 1) for each in value.values())
        elif isinstance(value, list):
            characters += 2 + len(value)
            waiting += ((each, depth + 1) for each in value)
        else:
            characters += len(str(value))
        if characters > limit:
            raise _too_large(document, limit)
    try:
        size = len(msgspec.json.encode(document))
    except TypeError as error:
        raise RejectedReviewError(f"{origin_of(document)} cannot be written as JSON: a key is not a string") from error
    if size > limit:
        raise _too_large(document, limit)
    return size


def _too_large(document: Unstructured, limit: int) -> RejectedReviewError:
    return RejectedReviewError(f"{origin_of(document)} has more than {limit} bytes as JSON, too many for a review")


class ServerReviewer:
    """Sends reviews to an API server. ``sleep`` waits so many seconds before a review is sent again."""

    def __init__(self, server: ObjectClient, *, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        self._server = server
        self._sleep = sleep

    async def review(self, namespace: str, spec: ReviewSpec) -> ReviewStatus:
        """The answer of the API server."""
        path = f"/apis/{API_VERSION}/namespaces/{quoted(namespace, safe='')}/{RESOURCE}"
        body = {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"namespace": namespace}, "spec": spec}
        attempt = 1
        while True:
            try:
                return _status(await self._server.create(path, body))
            except ApiError as failure:
                wait = failure.wait or (1.0 if failure.cause is Cause.BUSY else 0.0)
                if not wait or attempt == ATTEMPTS:
                    raise _explained(failure, namespace, spec) from failure
            await self._sleep(min(wait, _LONGEST_WAIT))
            attempt += 1


def _status(text: bytes) -> ReviewStatus:
    try:
        return decoded(text, AnsweredReview).status
    except ERRORS as error:
        raise FatalError(f"the API server's answer is not a PlacementReview: {reason(error)}") from error


def _explained(failure: ApiError, namespace: str, spec: ReviewSpec) -> Exception:
    """The error for the user, with what to do."""
    request = failure.request
    if request is None:  # no request was sent: there are no credentials
        return FatalError(str(failure))
    refused = f"the API server refuses the review in namespace {namespace}: {request.detail}"
    if failure.cause is Cause.INVALID or request.code == HTTPStatus.BAD_REQUEST:
        return RejectedReviewError(refused)
    if request.code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        many = counted(len(spec.manifests), "manifest")
        return LargeReviewError(f"the review of {many} in namespace {namespace} is too large for the API server")
    return FatalError(_trouble(failure, request, namespace) or refused)


def _trouble(failure: ApiError, request: FailedRequest, namespace: str) -> str:
    """Why there is no answer; empty if the review is refused for what is in it."""
    if failure.cause is Cause.FORBIDDEN:
        return _ungranted(namespace) if _NO_RIGHT in request.detail else ""
    if failure.cause is Cause.MISSING:
        return _NOT_SERVED
    if request.code == HTTPStatus.SERVICE_UNAVAILABLE:
        return f"{_FULL_RESOURCE} cannot be answered now: {request.detail}; {_UNREACHED}"
    return str(failure)


def _ungranted(namespace: str) -> str:
    """What to do about the missing right to create reviews."""
    role = f"kubectl create role placement-reviews --verb=create --resource={_FULL_RESOURCE} -n {namespace}"
    what = f"you may not create {_FULL_RESOURCE} in namespace {namespace}"
    return f"{what}: ask for the role edit, or for a role of its own: {role}"


async def reviewed(
    reviewer: Reviewer,
    manifests: Sequence[Unstructured],
    namespace: str,
    asked: ReviewSpec,
    tell: Callable[[str], object] = lambda _: None,
) -> ReviewStatus:
    """The answers to all manifests, in their order and with their places among all.

    ``asked`` says what else is asked of them. What a drain evicts, and the plan, are those of the first review.
    ``tell`` learns of a namespace whose manifests take several reviews. Raises what :class:`Reviewer` raises.
    """
    parts = parts_of(manifests, namespace) or [ReviewPart(namespace, ())]
    for line in _split(parts):
        tell(line)
    answers = [each for part in parts for each in await _answers(reviewer, manifests, part, asked, tell)]
    results = [result for part, status in answers for result in _placed(part, status)]
    return replace(answers[0][1], results=tuple(sorted(results, key=lambda result: result.manifest)))


async def _answers(
    reviewer: Reviewer,
    manifests: Sequence[Unstructured],
    part: ReviewPart,
    asked: ReviewSpec,
    tell: Callable[[str], object],
) -> list[tuple[ReviewPart, ReviewStatus]]:
    """The answer about the part, or those about its halves if one would be too large; a plan is of the whole."""
    try:
        spec = replace(asked, manifests=tuple(manifests[at] for at in part.places))
        return [(part, await reviewer.review(part.namespace, spec))]
    except LargeReviewError:
        if asked.plan or len(part.places) <= 1:
            raise
    what = f"the answer about {len(part.places)} manifests of namespace {part.namespace} would be too large"
    tell(f"{what}, so they are sent as 2 reviews: objects of one review do not count as applied in another")
    middle = len(part.places) // 2
    halves = (replace(part, places=places) for places in (part.places[:middle], part.places[middle:]))
    return [each for half in halves for each in await _answers(reviewer, manifests, half, asked, tell)]


def _split(parts: Sequence[ReviewPart]) -> Iterator[str]:
    """A line for each namespace whose manifests take several reviews."""
    for namespace, count in Counter(part.namespace for part in parts).items():
        if count > 1:
            many = sum(len(part.places) for part in parts if part.namespace == namespace)
            what = f"namespace {namespace} has {many} manifests, which are sent as {count} reviews"
            yield f"{what}: objects of one review do not count as applied in another"


def _placed(part: ReviewPart, status: ReviewStatus) -> Iterator[ReviewResult]:
    for result in status.results:
        if not 0 <= result.manifest < len(part.places):
            many = counted(len(part.places), "manifest")
            raise FatalError(f"the API server's answer is about manifest {result.manifest} of {many}")
        yield replace(result, manifest=part.places[result.manifest])


def admitted(status: ReviewStatus) -> bool:
    """Whether no object is refused, and each pod that a drain evicts has a node again, or needs none."""
    elsewhere = status.evicted_elsewhere or EvictedElsewhere()
    return not (
        any(result.verdict == "Refused" for result in status.results)
        or any(pod.verdict in UNPLACED for pod in status.evicted)
        or elsewhere.refused
        or elsewhere.unplaced
    )


@contextlib.asynccontextmanager
async def server_reviewer(settings: Settings) -> AsyncIterator[ServerReviewer]:
    """A reviewer that asks the API server of the context; raises FatalError if there is no cluster."""
    configuration = await asyncio.to_thread(configuration_of, settings)
    async with Connection(configuration) as connection:
        yield ServerReviewer(ObjectClient(connection, seconds=SECONDS, limit=ANSWER_BYTES))


class SnapshotReviewer:
    """Answers reviews from a snapshot, all of whose objects the user may list. The folder is read for each review."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self._folder = folder
        self._settings = settings
        inspect_types()  # before threads read the folder for several reviews

    async def review(self, namespace: str, spec: ReviewSpec) -> ReviewStatus:
        """The answer; raises SnapshotError if the folder is not a snapshot."""
        return await asyncio.to_thread(self._answered, namespace, spec)

    def _answered(self, namespace: str, spec: ReviewSpec) -> ReviewStatus:
        inventory = read_folder(self._folder, self._settings, lambda _: None)
        inventory.pod_defaults.closed = True
        policy = replace(policy_of(self._settings), kinds=kinds_with(inventory.references))
        pods = tuple(_pods(self._folder)) if spec.what_if else ()
        cluster = ReviewedCluster(inventory, policy, pods)
        try:
            return asyncio.run(answer(spec, namespace, cluster, _EVERYTHING))
        except UnanswerableReviewError as error:
            raise RejectedReviewError(str(error)) from error


_EVERYTHING: Final = Visible(nodes=True, all_pods=True)
"""The rights of a user who has a snapshot."""


def _pods(folder: Path) -> Iterator[Unstructured]:
    """The pods of the snapshot as they are written."""
    for path in files(folder):
        for document in read_manifests(path, lambda _: None):
            if (document.get("apiVersion"), document.get("kind")) == (POD.api_version, POD.name):
                yield document


def reviewer_of(settings: Settings) -> AbstractAsyncContextManager[Reviewer]:
    """The API server of the context, unless the settings have a snapshot."""
    if settings.snapshot is None:
        return server_reviewer(settings)
    return contextlib.nullcontext(SnapshotReviewer(settings.snapshot, settings))
