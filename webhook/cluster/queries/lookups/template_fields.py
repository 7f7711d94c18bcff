"""Fields of pod templates that the table of ``placement`` does not have: the API server is asked which it knows.

The question is a dry run of a PodTemplate with these fields and nothing else, validated strictly. The API server names
unknown fields when it decodes the object, before any webhook or policy sees it, and stores nothing.
"""

import re
import time
from collections.abc import Callable, Sequence
from typing import Final

from kubeapi.client.errors import ApiError
from kubeapi.client.object_client import ObjectClient
from webhook.cluster.queries.lookups.kept_answers import KeptAnswers
from webhook.placement.elements.template_fields import Names, template_of

SECONDS: Final = 0.5
"""For the answer: a review waits for it, and is answered without it if need be."""

GRANTED: Final = 60.0
"""Seconds for which an answer is kept; it changes with the version of the API server."""

KEPT: Final = 256
"""Answers that are kept: up to 32 names each."""

_STRICT: Final = "strict decoding error: "
_UNKNOWN: Final = re.compile(r'unknown field "template\.([^"]+)"')
_PLACE: Final = re.compile(r"\[[0-9]+\]")
_BAD_REQUEST: Final = 400
_INVALID: Final = 422


class TemplateFields:
    """Asks about fields; the account needs the right to create PodTemplates in the ``namespace``, and no other."""

    def __init__(self, server: ObjectClient, namespace: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._server = server
        self._path = f"/api/v1/namespaces/{namespace}/podtemplates?dryRun=All&fieldValidation=Strict"
        self._known: KeptAnswers[tuple[Names, ...], frozenset[Names]] = KeptAnswers(clock, GRANTED, KEPT)

    async def unknown(self, fields: Sequence[Names]) -> frozenset[Names] | None:
        """The fields that the API server does not know; ``None`` if it does not say."""
        asked = tuple(dict.fromkeys(fields))
        known = self._known.at(asked)
        if known is not None:
            return known
        metadata = {"name": "streams-placement-fields"}
        body = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": metadata, "template": template_of(asked)}
        try:
            await self._server.create(self._path, body)
            unknown = frozenset[Names]()
        except ApiError as failure:
            read = _read(failure)
            if read is None:
                return None
            unknown = frozenset(names for names in asked if ".".join(names) in read)
        self._known.keep(asked, unknown)
        return unknown


def _read(failure: ApiError) -> frozenset[str] | None:
    """The paths of the fields that the API server does not know, without places in lists.

    ``None`` if the failure does not tell. A PodTemplate that breaks rules was decoded.
    """
    request = failure.request
    if request is None or request.code not in {_BAD_REQUEST, _INVALID}:
        return None
    if request.code == _INVALID:
        return frozenset()
    if _STRICT not in request.detail:
        return None
    return frozenset(_PLACE.sub("", path) for path in _UNKNOWN.findall(request.detail))
