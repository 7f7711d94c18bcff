"""``ReviewApi``: the handler of the port. It identifies the user, and answers with a document or with a review.

Every error is a ``metav1.Status``, whose message kubectl shows.
"""

import hashlib
import logging
import re
from time import perf_counter
from typing import Any, Final, cast

import msgspec
from aiohttp import hdrs, web
from msgspec import Struct

from webhook.admission.review import User
from webhook.aggregated import discovery
from webhook.aggregated.front_proxy import UntrustedError
from webhook.aggregated.front_proxy_watch import FrontProxyWatch
from webhook.aggregated.openapi import openapi_v2, openapi_v3
from webhook.aggregated.review_creation import ReviewCreation
from webhook.aggregated.review_fault import ReviewFaultError
from webhook.aggregated.review_metrics import PlacementReviewMetrics
from webhook.placement.text.problem import quote
from webhook.placementreview.review import GROUP, KIND, RESOURCE, VERSION
from webhook.server.http import request_target
from webhook.server.http.replies import SERVER

_ROOT: Final = f"/apis/{GROUP}/{VERSION}"
_NAMESPACE: Final = r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
_RESOURCE: Final = re.compile(
    rf"{re.escape(_ROOT)}/(?:namespaces/(?P<namespace>{_NAMESPACE})/)?{RESOURCE}(?P<one>/[^/]{{1,253}})?"
)
_JSON: Final = "application/json"

_log = logging.getLogger(__name__)


class ApiDocument(Struct, frozen=True):
    """A document as it is sent, with its entity tag."""

    body: bytes
    tag: str
    content_type: str = _JSON

    @classmethod
    def of(cls, document: dict[str, Any], content_type: str = _JSON) -> "ApiDocument":
        """The page of a document."""
        body = msgspec.json.encode(document)
        return cls(body, hashlib.sha512(body).hexdigest().upper(), content_type)


class ReviewApi:
    """Answers what the API server asks."""

    def __init__(self, watch: FrontProxyWatch, creation: ReviewCreation, metrics: PlacementReviewMetrics) -> None:
        self._watch = watch
        self._creation = creation
        self._metrics = metrics
        self._pages = _pages()
        self._aggregated = {
            version: ApiDocument.of(discovery.aggregated(version), discovery.aggregated_type(version))
            for version in discovery.AGGREGATED
        }

    async def __call__(self, request: web.BaseRequest, arrived: float) -> web.Response:
        """The answer to one request whose first byte arrived at the ``perf_counter`` time ``arrived``."""
        target = request_target.parse(request.raw_path)
        try:
            user = self._user(request)
            page = self._page(request, target.path)
            if page is not None:
                return _page_response(request, page)
            namespace = _namespace(request, target.path)
        except ReviewFaultError as error:
            self._metrics.refused(error.fault.code)
            return error.response()
        give_up = arrived + self._creation.limits.allowance(target.timeout)
        try:
            reply = await self._creation(request, user, namespace, give_up)
        except ReviewFaultError as error:
            reply = error.response()
        seconds = perf_counter() - arrived
        self._metrics.answered(reply.status, seconds)
        logged = namespace, quote(user.username), reply.status, seconds
        _log.info("placement review in namespace %s by %s: %d in %.3f s", *logged)
        return reply

    def _user(self, request: web.BaseRequest) -> User:
        """The user for whom the API server asks."""
        proxy, transport = self._watch.proxy, request.transport
        if proxy is None:
            raise ReviewFaultError(503, str(self._watch.reason), close=True)
        if transport is None:
            raise ReviewFaultError(503, "the client has hung up")
        certificate = transport.get_extra_info("peercert")
        if certificate and not self._watch.vouches(transport.get_extra_info("ssl_object").context):
            raise ReviewFaultError(401, "the authority of the client's certificate has been replaced", close=True)
        try:
            return proxy.user(certificate, request.headers)
        except UntrustedError as error:
            raise ReviewFaultError(401, str(error), close=True) from None

    def _page(self, request: web.BaseRequest, path: str) -> ApiDocument | None:
        """The document of that path; ``None`` if there is none."""
        version = discovery.aggregated_version(request.headers.get(hdrs.ACCEPT, "")) if path == "/apis" else ""
        page = self._aggregated[version] if version else self._pages.get(path)
        if page is not None and request.method not in {hdrs.METH_GET, hdrs.METH_HEAD}:
            raise ReviewFaultError(405, f"{quote(request.method)} is not allowed here; send a GET")
        return page


def _pages() -> dict[str, ApiDocument]:
    """The documents by their paths."""
    v3 = ApiDocument.of(openapi_v3())
    name = _ROOT.removeprefix("/")
    index = {"paths": {name: {"serverRelativeURL": f"/openapi/v3/{name}?hash={v3.tag}"}}}
    return {
        "/apis": ApiDocument.of(discovery.GROUPS),
        f"/apis/{GROUP}": ApiDocument.of(discovery.GROUP_DOCUMENT),
        _ROOT: ApiDocument.of(discovery.RESOURCES),
        "/openapi/v2": ApiDocument.of(openapi_v2()),
        "/openapi/v3": ApiDocument.of(index),
        f"/openapi/v3/{name}": v3,
    }


def _page_response(request: web.BaseRequest, page: ApiDocument) -> web.Response:
    """The page, or 304 if the client has it."""
    headers = {hdrs.ETAG: f'"{page.tag}"', hdrs.SERVER: SERVER, hdrs.VARY: hdrs.ACCEPT}
    if page.tag in request.headers.get(hdrs.IF_NONE_MATCH, ""):
        return web.Response(status=304, headers=headers)
    return web.Response(body=page.body, headers={**headers, hdrs.CONTENT_TYPE: page.content_type})


def _namespace(request: web.BaseRequest, path: str) -> str:
    """The namespace in which a review is created."""
    match = _RESOURCE.fullmatch(path)
    if match is None:
        raise ReviewFaultError(404, f"the server could not find the requested resource: there is no {quote(path)}")
    if request.method != hdrs.METH_POST or match["one"]:
        raise ReviewFaultError(405, f"{KIND} can only be created: nothing is stored that could be read or changed")
    namespace = match["namespace"]
    if namespace is None:
        raise ReviewFaultError(404, f"{KIND} is created in a namespace: POST {_ROOT}/namespaces/<namespace>/{RESOURCE}")
    return cast("str", namespace)
