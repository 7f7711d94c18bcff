"""What must hold of requests to the REST interface: JSON, bodies, paths and queries."""

import json
import math
from collections.abc import Iterator
from typing import Any, Final, NoReturn

import msgspec

from tests.fuzz.oracles import is_unicode, readable, text_of
from tests.fuzz.seeds import annotations, compact, literals
from tests.rest.rest_server import REQUIREMENTS, consumer, intent, requirement
from webhook.placement.text import keys
from webhook.rest import answers
from webhook.rest.bodies import read_body
from webhook.rest.intents import EntityMetadata, IntentEntity
from webhook.rest.json_text import DEPTH, read_json
from webhook.rest.query_text import LIMIT, parse_query
from webhook.rest.request_error import RequestError
from webhook.rest.routes import Collection, IntentGroup, parse_path
from webhook.rest.storage.intent_objects import (
    StoredHPAIntent,
    StoredMetadata,
    UnusableObjectError,
    entity_of,
    object_name,
    object_of,
)

_ANSWER: Final = 64 * 1024
"""Bytes of a problem document: sixteen mistakes, each with field, rule and value, and all of them as one text."""

_GROUP: Final = IntentGroup("p", "c", "v1", "d")
_SPEC: Final = b"\x1e"
"""Between the annotation of a stored intent and its spec."""

_WHOLE: Final = range(-(2**63), 2**64)
"""Whole numbers that msgspec reads as such."""


def json_text(data: bytes) -> None:
    """What is read is what two other parsers read; what is refused has a reason that a plain parser confirms."""
    try:
        value = read_json(data)
    except RequestError as error:
        refusal = error
    else:
        refusal = None
    reason = _reason(data)
    assert bool(refusal) == bool(reason), f"refused: {refusal}; reason: {reason}"
    if refusal:
        _refusal(refusal, 422)
        return
    assert repr(json.loads(data)) == repr(value)
    if all(not isinstance(each, int) or each in _WHOLE for each in _scalars(value)):
        assert msgspec.json.decode(data) == value


def _reason(data: bytes) -> str:
    """Why a strict reader refuses the text; empty if it has no reason."""
    twice: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in items}) < len(items):
            twice.append("a name twice")
        return dict(items)

    try:
        value = json.loads(data.decode(), object_pairs_hook=pairs, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        return str(error) or "no JSON"
    scalars = list(_scalars(value))
    if any(isinstance(each, float) and not math.isfinite(each) for each in scalars):
        return "no double"
    if any(isinstance(each, str) and not is_unicode(each) for each in scalars):
        return "half a character"
    return twice[0] if twice else "too deep" if _depth(value) > DEPTH else ""


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)


def _scalars(value: Any) -> Iterator[Any]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        waiting += [*each, *each.values()] if isinstance(each, dict) else each if isinstance(each, list) else []
        if not isinstance(each, dict | list):
            yield each


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]
    return depth


def _refusal(error: RequestError, *statuses: int) -> None:
    assert error.status in statuses, error.status
    document = error.document()
    readable(document.decode("ascii"), _ANSWER)
    assert json.loads(document)["errors"]


def bodies(data: bytes) -> None:
    """Every body is read or refused; what is answered about what was read reads as the same."""
    try:
        document = read_json(data)
    except RequestError as error:
        _refusal(error, 422)
        return
    for collection in Collection:
        try:
            entity = read_body(collection, document)
        except RequestError as error:
            _refusal(error, 400)
            continue
        again = read_body(collection, read_json(answers.encoded(entity)))
        assert again == entity, f"{again}: {entity}"


def targets(data: bytes) -> None:
    """Every path and query is read or refused, and the usual spelling of a path names the same."""
    path, _, query = text_of(data).partition("?")
    try:
        target = parse_path(path, frozenset({"hpa-placement"}))
    except RequestError as error:
        _refusal(error, 400)
        return
    if target is None:
        return
    if not target.query:
        assert parse_path(target.path) == target, target.path
    for reading in (True, False):
        try:
            asked = parse_query(query, target, reading=reading)
        except RequestError as error:
            _refusal(error, 400)
        else:
            assert 0 <= asked.limit <= LIMIT


def stored_intent(data: bytes) -> None:
    """An object that stores an intent is read or named as spoilt, whoever has changed it; what is stored reads back."""
    written, _, spec = data.partition(_SPEC)
    annotation = text_of(written)
    if not is_unicode(annotation):  # the JSON of the API server has no such text
        return
    try:
        said, fields = json.loads(annotation), msgspec.json.decode(spec or b"{}", type=dict[str, Any])
    except (ValueError, RecursionError, msgspec.MsgspecError):
        said, fields = {}, {}
    name = said.get("hpaIntent") if isinstance(said, dict) else None
    shown = object_name(_GROUP, name if isinstance(name, str) and is_unicode(name) else "x")
    try:
        entity = entity_of(StoredHPAIntent(StoredMetadata(shown, annotations={keys.EMCO: annotation}), fields), _GROUP)
    except UnusableObjectError:
        return
    if not isinstance(entity.app, str):  # the definition of the kind allows no other
        return
    again = msgspec.convert(msgspec.to_builtins(object_of(_GROUP, entity)), StoredHPAIntent)
    assert entity_of(again, _GROUP) == entity


def stored_seeds() -> Iterator[bytes]:
    stored = msgspec.to_builtins(object_of(_GROUP, IntentEntity(EntityMetadata("i"), "a")))
    names = stored["metadata"]["annotations"][keys.EMCO].encode()
    yield names
    workload = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "w", "replicas": 2}
    wishes = [{"name": "cpu", "requests": 1}, {"metadata": {"name": "r"}, "spec": {"name": "a/b", "value": "x"}}]
    for consumers in (
        [{"consumer": workload}],
        [{**workload, "requirements": wishes}],
        [{"spec": {"consumer": workload}}],
    ):
        yield names + _SPEC + compact({"app": "a", "consumers": consumers})


def json_seeds() -> Iterator[bytes]:
    yield from literals("rest/test_json_text.py")
    yield from body_seeds()


def body_seeds() -> Iterator[bytes]:
    yield from map(compact, (intent(), consumer(), requirement()))
    yield compact(requirement(name="disktype", allocatable=False, value="ssd", mandatory=False, weight=3))
    yield compact(requirement(resource={"name": "memory", "requests": "2", "units": "GB"}))
    yield from (each for each in literals("rest/test_bodies.py", "rest/test_requests.py") if each[:1] == b"{")
    yield from annotations("streams.ibm.com/emco")


def target_seeds() -> Iterator[bytes]:
    yield from (REQUIREMENTS.encode(), f"{REQUIREMENTS}?resource=a".encode())
    yield REQUIREMENTS.partition("/fwall")[0].encode() + b"?limit=5&continue=abc"
    yield from (each for each in literals("rest/test_routes.py", "rest/test_requests.py") if b"/" in each[:2])
