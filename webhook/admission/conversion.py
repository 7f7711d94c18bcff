"""``/convert``: objects of one version of a kind in another one, for definitions that serve several versions.

The body is a ConversionReview (``apiextensions.k8s.io/v1``), which the API server sends for each read or write in a
version that is not the stored one (``docs/upgrading.md``, several versions of a kind). It converts all of its objects
or none, and an API server that gets none can list no object of the kind. So a conversion never fails for what a field
holds: what it does not know stays where it is.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Final, Literal, TypeVar

import msgspec
from msgspec import Raw, Struct

from webhook.admission.answer import Answer, Outcome
from webhook.admission.responses import unreadable
from webhook.admission.review import MALFORMED, UID_LIMIT, UnreadableReviewError
from webhook.placement.text.api_kinds import VERSION, ApiKind
from webhook.placement.text.problem import MESSAGE_LIMIT, counted, escape, quote

OBJECT_LIMIT: Final = 10_000
"""Objects of one review: as many as an API server reads at a time."""

SLICE: Final = 500
"""Objects that are converted while other reviews wait, some 5 ms: as many as ``kubectl`` lists in one request."""

_API_VERSION: Final = "apiextensions.k8s.io/v1"
_KIND: Final = "ConversionReview"

Fields = dict[str, Raw]
"""The fields of an object, each as JSON."""

Conversion = Callable[[Fields], None]
"""Changes the fields of an object in place; metadata, kind and apiVersion are not for it to change."""


class OtherVersion(Struct, frozen=True):
    """The ways between a version of a kind and ``v1``, which is stored."""

    to_stored: Conversion
    from_stored: Conversion


Versions = Mapping[ApiKind, Mapping[str, OtherVersion]]
"""By kind, its versions besides ``v1``."""


class _ConvertibleHead(Struct, frozen=True, gc=False, rename="camel"):
    """What an object must have."""

    api_version: str
    kind: str


class _ConversionRequest(Struct, frozen=True, rename="camel"):
    """What is wanted. ``uid`` is echoed."""

    uid: str
    desired_api_version: str = msgspec.field(name="desiredAPIVersion")
    objects: list[_ConvertibleHead] = []


class _ConversionReview(Struct, frozen=True, rename="camel"):
    api_version: str
    kind: str
    request: _ConversionRequest


class _ConvertibleObjects(Struct, frozen=True):
    objects: list[Fields] = []


class _ConvertibleBody(Struct, frozen=True):
    """The objects of a body that :class:`_ConversionReview` has decoded."""

    request: _ConvertibleObjects


class _ConversionResult(Struct, frozen=True, omit_defaults=True):
    status: Literal["Success", "Failure"]
    message: str = ""


class _ConversionResponse(Struct, frozen=True, rename="camel"):
    uid: str
    result: _ConversionResult
    converted_objects: list[Fields] = []


class _ConvertedReview(Struct, frozen=True, rename="camel"):
    response: _ConversionResponse
    api_version: str = _API_VERSION
    kind: str = _KIND


class _CannotConvertError(Exception):
    """A kind or a version is not known; the text says which are."""


_Decoded = TypeVar("_Decoded")
_REVIEW: Final = msgspec.json.Decoder(_ConversionReview)
_BODY: Final = msgspec.json.Decoder(_ConvertibleBody)
_ENCODE: Final = msgspec.json.Encoder().encode


def convert(body: bytes, versions: Versions) -> Generator[None, None, Answer]:
    """The answer to a ConversionReview: all of its objects in the version that it asks for, or an error.

    It is made in steps, between which other reviews may be answered: one for each :data:`SLICE` objects but the last.
    """
    try:
        request = _request(body)
    except UnreadableReviewError as error:
        return unreadable(str(error))
    try:
        steps = [_steps(head, request.desired_api_version, versions) for head in request.objects]
        objects = _decoded(_BODY, body).request.objects
    except UnreadableReviewError as error:
        return unreadable(str(error))
    except _CannotConvertError as error:
        return _refused(request, escape(str(error))[:MESSAGE_LIMIT])
    for start in range(0, len(objects), SLICE):
        if start:
            yield
        _apply(request, objects[start : start + SLICE], steps[start : start + SLICE])
    return _succeeded(request, objects)


def _apply(request: _ConversionRequest, objects: Sequence[Fields], steps: Sequence[Sequence[Conversion]]) -> None:
    wanted = Raw(_ENCODE(request.desired_api_version))
    for fields, conversions in zip(objects, steps, strict=True):
        for conversion in conversions:
            conversion(fields)
        fields["apiVersion"] = wanted


def _succeeded(request: _ConversionRequest, objects: list[Fields]) -> Answer:
    return _answer(request, _ConversionResponse(request.uid, _ConversionResult("Success"), objects), Outcome.ALLOWED)


def _refused(request: _ConversionRequest, message: str) -> Answer:
    response = _ConversionResponse(request.uid, _ConversionResult("Failure", message))
    return _answer(request, response, Outcome.DENIED, reason="Invalid", message=message)


def _answer(
    request: _ConversionRequest, response: _ConversionResponse, outcome: Outcome, *, reason: str = "", message: str = ""
) -> Answer:
    kind = request.objects[0].kind if request.objects else ""
    return Answer(
        200,
        _ENCODE(_ConvertedReview(response)),
        outcome,
        reason=reason,
        kind=kind,
        operation="CONVERT",
        uid=request.uid,
        message=message,
    )


def _request(body: bytes) -> _ConversionRequest:
    """The request of the body, within its bounds."""
    review = _decoded(_REVIEW, body)
    if (review.api_version, review.kind) != (_API_VERSION, _KIND):
        raise UnreadableReviewError(f"the body must be a {_KIND} of {_API_VERSION}")
    request = review.request
    if not 0 < len(request.uid) <= UID_LIMIT:
        raise UnreadableReviewError(f"request.uid must be a text of 1 to {UID_LIMIT} characters")
    if len(request.objects) > OBJECT_LIMIT:
        raise UnreadableReviewError(
            f"request.objects has {counted(len(request.objects), 'object')}, at most {OBJECT_LIMIT} are allowed"
        )
    return request


def _decoded(decoder: msgspec.json.Decoder[_Decoded], body: bytes) -> _Decoded:
    try:
        return decoder.decode(body)
    except RecursionError:
        raise UnreadableReviewError("the body is nested too deeply") from None
    except MALFORMED as error:
        raise UnreadableReviewError(f"the body is not a readable {_KIND}: {error}") from None


def _steps(head: _ConvertibleHead, wanted: str, versions: Versions) -> tuple[Conversion, ...]:
    """The steps from the version of an object to the one that is wanted: by way of the stored version."""
    group, _, version = head.api_version.rpartition("/")
    wanted_group, _, wanted_version = wanted.rpartition("/")
    kind = next((one for one in versions if (one.group, one.name) == (group, head.kind)), None)
    if kind is None or wanted_group != group:
        known = ", ".join(f"{one.name} of {one.group}" for one in versions)
        raise _CannotConvertError(
            f"{quote(head.kind)} of {quote(head.api_version)} cannot be converted to {quote(wanted)}; "
            f"kinds with several versions: {known}"
        )
    others = versions[kind]
    for each in (version, wanted_version):
        if each != VERSION and each not in others:
            raise _CannotConvertError(
                f"{kind.name} of {kind.group} has no version {quote(each)}, only {', '.join((VERSION, *others))}"
            )
    if version == wanted_version:
        return ()
    up = () if version == VERSION else (others[version].to_stored,)
    down = () if wanted_version == VERSION else (others[wanted_version].from_stored,)
    return (*up, *down)
