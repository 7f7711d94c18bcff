"""The request of an AdmissionReview (``admission.k8s.io/v1``), read once: exactly the fields that are used.

``mutate`` and ``validate`` read it, and each check gets it. ``object`` and ``oldObject`` stay JSON until the kind under
review is known: the check of that kind decodes them. An envelope in which a key occurs twice is refused: JSON parsers
differ in which of the two values they take.
"""

import contextlib
import functools
import re
from typing import Any, Final, cast

import msgspec
from msgspec import Raw, Struct

from webhook.placement.text.api_kinds import ApiKind
from webhook.placement.text.problem import quote

VERSION = "admission.k8s.io/v1"
KIND = "AdmissionReview"

UID_LIMIT = 256
"""Characters of a uid, which is echoed; Kubernetes' are UUIDs of 36."""

OBJECT_LIMIT = 4 * 1024**2
"""Bytes of an object: the API server takes requests of 3 MiB, and etcd, by default, stores none of 1.5 MiB."""

_COMPACT = b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":'
"""How the API server begins every review: Go writes struct fields in order and without white space."""


_BRACE = ord("}")

_OBJECT = b',"object":{'
"""Where the object begins: before it stand texts, in which quotes are escaped, and ``extra``, a map of lists."""

_KEY = re.compile(rb'[ \t\r\n]*("(?:[^"\\]|\\.)*+")[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)
"""A key of a JSON object, with its colon."""

_AFTER_VALUE = re.compile(rb"[ \t\r\n]*[,}]")
"""What follows a value in a JSON object: a comma, or the end of the object."""


MALFORMED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoding hostile JSON raises."""

Subject = tuple[str, str, str, str]
"""API group, kind, subresource and operation (``CREATE``, ``UPDATE``, ``DELETE``) of a review."""


def subject_of(kind: ApiKind, operation: str, subresource: str = "") -> Subject:
    """The subject of reviews of that operation on objects of the kind."""
    return kind.group, kind.name, subresource, operation


_MANAGER: Final = "system:kube-controller-manager"
_ACCOUNTS: Final = "system:serviceaccount:kube-system:"
"""The user name of kube-controller-manager, and the beginning of those of its controllers' own accounts
(``--use-service-account-credentials``)."""

_NODES: Final = "system:nodes"
"""The group of kubelets (the node authorizer gives their rights to it)."""

_OF_DAEMON_SETS: Final = frozenset({_MANAGER, f"{_ACCOUNTS}daemon-set-controller"})
"""User names under which pods of DaemonSets are made; the first is used where all controllers share one account."""


class UnreadableReviewError(Exception):
    """The body is not a review that can be answered: HTTP 400. The text says why."""


class User(Struct, frozen=True):
    """The user who sent the request, as the API server has authenticated it (``authentication.k8s.io/v1 UserInfo``)."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] | None = None
    extra: dict[str, tuple[str, ...]] | None = None

    @property
    def is_kubernetes_controller(self) -> bool:
        """Whether the user is one of Kubernetes' own controllers."""
        name = self.username
        return name == _MANAGER or (name.startswith(_ACCOUNTS) and name.endswith("-controller"))

    @property
    def is_node(self) -> bool:
        """Whether the user is a kubelet."""
        return _NODES in (self.groups or ())

    @property
    def makes_daemons(self) -> bool:
        """Whether the user is the controller that makes pods of DaemonSets."""
        return self.username in _OF_DAEMON_SETS


class GroupVersionKind(Struct, frozen=True, gc=False):
    """What kind of object is under review."""

    kind: str = ""
    group: str = ""
    version: str = ""


class _Resource(Struct, frozen=True, gc=False):
    """The resource of a request (``GroupVersionResource``)."""

    resource: str = ""
    group: str = ""
    version: str = ""


class Review(Struct, frozen=True, dict=True):
    """One request to the webhook: the ``request`` of an AdmissionReview.

    ``object``, ``old`` (oldObject), ``user_info`` and ``resource`` are JSON; ``null`` if absent.
    """

    uid: str
    kind: GroupVersionKind = GroupVersionKind()
    operation: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    object: Raw = Raw(b"null")
    old: Raw = Raw(b"null")
    user_info: Raw = Raw(b"null")
    resource: Raw = Raw(b"null")
    deep: bool = False
    """Whether object or oldObject are nested too deeply to be decoded; both are ``null`` then."""
    dry: Raw = Raw(b"false")
    """The field ``dryRun``."""

    @property
    def subject(self) -> Subject:
        """What is done to which kind of object: the key of every table of checks."""
        return self.kind.group, self.kind.kind, self.subresource, self.operation

    @property
    def dry_run(self) -> bool:
        """Whether nothing will be stored, whatever the answer is."""
        return bytes(self.dry) == b"true"

    @property
    def scaled(self) -> str:
        """The resource of the object that is under review, or whose scale is: ``deployments.apps``; empty if absent."""
        resource = self._resource
        return f"{resource.resource}.{resource.group}" if resource.group else resource.resource

    @property
    def scaled_version(self) -> str:
        """The API version of that resource, such as ``v1``; empty if absent."""
        return self._resource.version

    @property
    def _resource(self) -> _Resource:
        try:
            return _RESOURCE.decode(self.resource) or _Resource()
        except MALFORMED:
            return _Resource()

    @functools.cached_property
    def user(self) -> User:
        """The user who sent the request; one without a name where ``userInfo`` is absent or unreadable."""
        try:
            return _USER.decode(self.user_info) or _NOBODY
        except MALFORMED:
            return _NOBODY


_Fields = dict[str, Raw]
_FIELDS = msgspec.json.Decoder(_Fields)
_STRING = msgspec.json.Decoder(str)
_OPTIONAL = msgspec.json.Decoder(str | None)
_GVK = msgspec.json.Decoder(GroupVersionKind)
_USER = msgspec.json.Decoder(User | None)
_RESOURCE = msgspec.json.Decoder(_Resource | None)
_NOBODY = User()
_NULL = Raw(b"null")
_NO = Raw(b"false")
_EMPTY = Raw(b'""')
_NO_KIND = Raw(b"{}")

_PARTS: tuple[tuple[str, msgspec.json.Decoder[Any], Raw], ...] = (
    ("uid", _STRING, _EMPTY),
    ("kind", _GVK, _NO_KIND),
    ("operation", _OPTIONAL, _EMPTY),
    ("subResource", _OPTIONAL, _EMPTY),
    ("namespace", _OPTIONAL, _EMPTY),
    ("name", _OPTIONAL, _EMPTY),
)
"""The fields of a request that are read, their decoders, and the JSON that stands for an absent one."""


_Subject = tuple[str, GroupVersionKind, str | None, str | None, str | None, str | None]
_SUBJECT: Final[msgspec.json.Decoder[_Subject]] = msgspec.json.Decoder(_Subject)
"""The values of these fields, in that order."""


def read_review(body: bytes) -> Review:
    """The review in the body; :class:`UnreadableReviewError` if it cannot be answered."""
    fields, deep = _fast(body), False
    if fields is None:
        fields, deep = _slow(body)
    uid, kind, operation, subresource, namespace, name = _subject(fields)
    if not 0 < len(uid) <= UID_LIMIT:
        raise UnreadableReviewError(f"request.uid must be a text of 1 to {UID_LIMIT} characters")
    for part in ("object", "oldObject"):
        if len(fields.get(part, _NULL)) > OBJECT_LIMIT:
            limit = f"{OBJECT_LIMIT // 1024**2} MiB"
            raise UnreadableReviewError(f"request.{part} is over {limit}, more than the API server takes")
    return Review(
        uid,
        kind,
        operation or "",
        subresource or "",
        namespace or "",
        name or "",
        fields.get("object", _NULL),
        fields.get("oldObject", _NULL),
        fields.get("userInfo", _NULL),
        fields.get("resource", _NULL),
        deep,
        fields.get("dryRun", _NO),
    )


def _subject(fields: _Fields) -> _Subject:
    """The values of :data:`_PARTS`, in one call of the decoder where all are readable."""
    get = fields.get
    try:
        return _SUBJECT.decode(b"[%b]" % b",".join([get(field, absent) for field, _, absent in _PARTS]))
    except MALFORMED:
        return _one_by_one(fields)


def _one_by_one(fields: _Fields) -> _Subject:
    """The values of :data:`_PARTS`; :class:`UnreadableReviewError` for the first that is not readable."""
    return cast("_Subject", tuple([_part(fields, *part) for part in _PARTS]))


def _part(fields: _Fields, field: str, decoder: msgspec.json.Decoder[Any], absent: Raw) -> object:
    try:
        return decoder.decode(fields.get(field, absent))
    except MALFORMED as error:
        raise UnreadableReviewError(f"{field} is not readable: {error}") from None


def _slow(body: bytes) -> tuple[_Fields, bool]:
    """The request's fields of a body that :func:`_fast` did not read, and whether the objects were left out of them.

    msgspec cannot even skip a value that is nested deeper than Python's recursion limit, and the API server takes
    deeper ones. It writes the objects after everything else that is read here.
    """
    try:
        return _careful(body), False
    except RecursionError:
        head, separator, _ = body.partition(_OBJECT)
    if separator:
        with contextlib.suppress(RecursionError):
            return _careful(head + b"}}"), True
    raise UnreadableReviewError("the body is nested too deeply")


def _fast(body: bytes) -> _Fields | None:
    """The request's fields, if the body is written as the API server does and no key occurs twice; else ``None``."""
    if not body.startswith(_COMPACT):
        return None
    end = len(body) - (2 if body.endswith(b"}\n") else 1)
    if body[end] != _BRACE:
        return None
    try:
        fields = _FIELDS.decode(memoryview(body)[len(_COMPACT) : end])
    except MALFORMED:
        return None
    # Without white space, the lengths of all keys and values add up to the text only if each stands once.
    length = sum(map(len, fields)) + sum(map(len, fields.values())) + 4 * len(fields) + 1
    return fields if length == end - len(_COMPACT) else None


def _careful(body: bytes) -> _Fields:
    """The request's fields, of a body that :func:`_fast` did not read; slower, and for bodies of any other client.

    Raises :class:`UnreadableReviewError` with the reason, and RecursionError if it is nested too deeply.
    """
    try:
        outer = _FIELDS.decode(body)
    except RecursionError:
        raise
    except MALFORMED as error:
        raise UnreadableReviewError(f"the body is not a JSON object: {error}") from None
    if _text(outer, "apiVersion") != VERSION or _text(outer, "kind") != KIND:
        raise UnreadableReviewError(f"the body must be an {KIND} of {VERSION}")
    if bytes(outer.get("request", _NULL)) == b"null":
        raise UnreadableReviewError("the review has no request")
    try:
        fields = _FIELDS.decode(outer["request"])
    except MALFORMED as error:
        raise UnreadableReviewError(f"request is not a JSON object: {error}") from None
    for text, values in ((body, outer), (bytes(outer["request"]), fields)):
        _once_each(text, values)
    return fields


def _once_each(text: bytes, fields: _Fields) -> None:
    """Refuse a JSON object, known to be valid, in which a key occurs twice; ``fields`` are its values by key.

    Of a key that occurs twice ``fields`` has the last value. So one by one each key is read, and the value that
    ``fields`` has must follow. The value is then skipped without being parsed, however large it is.
    """
    seen: set[str] = set()
    at = text.index(b"{") + 1
    while key := _KEY.match(text, at):
        name = _STRING.decode(key[1])
        if name in seen or not text.startswith(value := bytes(fields[name]), key.end()):
            raise UnreadableReviewError(f"the key {quote(name)} occurs twice in the review")
        seen.add(name)
        end = _AFTER_VALUE.match(text, key.end() + len(value))
        if end is None:  # the first value begins like the last: {"a": 12, "a": 1}
            raise UnreadableReviewError(f"the key {quote(name)} occurs twice in the review")
        at = end.end()


def _text(fields: _Fields, name: str) -> str:
    try:
        return _OPTIONAL.decode(fields.get(name, _EMPTY)) or ""
    except MALFORMED as error:
        raise UnreadableReviewError(f"{name} is not readable: {error}") from None
