"""The OpenAPI document of the REST interface (OpenAPI 3.1): built from the routes and the models of bodies."""

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from types import MappingProxyType
from typing import Any, Final, Literal

from pydantic import BaseModel, Field, TypeAdapter

from webhook.rest.answers import ConsumerAnswer, IntentAnswer, RequirementAnswer
from webhook.rest.bodies import BODIES, StrictBody
from webhook.rest.query_text import LIMIT, known_parameters
from webhook.rest.request_error import MEDIA_TYPE
from webhook.rest.routes import GROUP, LEVELS, NAME, Collection, group_template, template

Json = dict[str, Any]

_MODE: Final = "validation"
_REF: Final = "#/components/schemas/{model}"


class MistakeDocument(StrictBody):
    """One mistake of a request."""

    field: str = Field(description="The path of the field, a parameter of the path, or a part of the request.")
    rule: str = Field(description="The rule that it breaks, and what would be right.")
    value: str | None = Field(None, description="Its value as text.")


class ProblemBody(StrictBody):
    """Why a request is refused (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str = Field(description="All mistakes in one text.")
    errors: list[MistakeDocument]


ANSWERS: Final[Mapping[Collection, type[BaseModel]]] = MappingProxyType(
    {
        Collection.INTENTS: IntentAnswer,
        Collection.CONSUMERS: ConsumerAnswer,
        Collection.REQUIREMENTS: RequirementAnswer,
    }
)
"""The schema of an element of each collection in answers."""

_ALWAYS: Final = (400, 401, 403, 404, 405, 429, 500, 503)
"""Errors that every request can lead to."""
_WITH_BODY: Final = (413, 415, 422)

_MEANINGS: Final[Mapping[int, str]] = MappingProxyType(
    {
        400: "A name, parameter or field breaks a rule.",
        401: "A token is missing or wrong.",
        403: "This user may not do this.",
        404: "There is no such path, element or parent.",
        405: "The method is not allowed here.",
        409: "The name is taken, or the element has something below it.",
        410: "The token of the list is too old.",
        412: "The element has changed since the ETag in If-Match was sent.",
        413: "The body is too large.",
        415: "The body is compressed.",
        422: "The body is not strictly JSON.",
        429: "Too many requests from this address.",
        500: "The server failed; its log has the details.",
        503: "Storage cannot be reached, or the time is over.",
        507: "Storage is full.",
    }
)

_SUMMARIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "list": "List the {noun}s",
        "create": "Create {article} {noun}",
        "read": "Read {article} {noun}",
        "replace": "Replace {article} {noun}, if nothing is below it",
        "delete": "Delete {article} {noun}, if nothing is below it",
        "empty": "Delete all {noun}s, if nothing is below any of them",
    }
)

_PARAMETERS: Final[Mapping[str, tuple[str, Json]]] = MappingProxyType(
    {
        "limit": (
            f"How many to answer with, up to {LIMIT}; the header Link of the answer has the address of the next part.",
            {"type": "integer", "minimum": 1, "maximum": LIMIT},
        ),
        "continue": ("Where the next part begins: from the header Link.", {"type": "string", "maxLength": 1024}),
    }
)


def openapi_document(
    queries: Mapping[str, Json] = MappingProxyType({}), schemas: Iterable[type[BaseModel]] = ()
) -> Json:
    """The document; ``queries`` has the OpenAPI operation of each query about a group, ``schemas`` their models."""
    models: list[type[BaseModel]] = [*BODIES.values(), *ANSWERS.values(), ProblemBody, *schemas]
    adapters: list[tuple[str, Literal["validation"], TypeAdapter[Any]]] = [
        (model.__name__, "validation", TypeAdapter(model)) for model in models
    ]
    _, made = TypeAdapter.json_schemas(adapters, ref_template=_REF)
    paths: Json = {}
    for collection in Collection:
        paths[template(collection, listed=True)] = _list_item(collection)
        paths[template(collection, listed=False)] = _element_item(collection)
    for name, operation in queries.items():
        responses = {**operation["responses"], **_errors(_ALWAYS)}
        paths[group_template(name)] = {"parameters": _path_parameters(()), "get": {**operation, "responses": responses}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "HPA intents",
            "version": version("streams-placement"),
            "description": "EMCO's interface for HPA intents: what workloads need of the hardware of their nodes.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{}, {"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": made["$defs"],
            "responses": {"Problem": _problem("Why the request is refused.")},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _list_item(collection: Collection) -> Json:
    """The path item of a collection: GET, POST and DELETE."""
    named = [name for name in known_parameters(collection) if name not in _PARAMETERS]
    parameters = [
        _query(name, "The name of the only element to answer with: as its own path.", _name()) for name in named
    ]
    parameters += [_query(name, *_PARAMETERS[name]) for name in known_parameters(collection) if name in _PARAMETERS]
    several: Json = {"type": "array", "items": _answer(collection)}
    shown = {"oneOf": [several, _answer(collection)]}
    link = {"Link": {"description": "The address of the next part, if there is one.", "schema": {"type": "string"}}}
    gone = (410,) if collection is Collection.INTENTS else ()
    return {
        "parameters": _path_parameters(_parents(collection)),
        "get": _operation("list", collection)
        | {
            "parameters": parameters,
            "responses": {
                "200": {"description": "The list, or the one element.", "headers": link, "content": _content(shown)},
                **_errors((*_ALWAYS, *gone)),
            },
        },
        "post": _operation("create", collection)
        | {
            "requestBody": _body(collection),
            "responses": {
                "201": _success("Created, with its address in the header Location.", collection, "Location", "ETag"),
                **_errors((*_ALWAYS, *_WITH_BODY, 409, 507)),
            },
        },
        "delete": _operation("empty", collection)
        | {
            "parameters": [_header("If-Match", "The ETag that each of them must have still.")],
            "responses": {"204": {"description": "Deleted."}, **_errors((*_ALWAYS, 409, 412))},
        },
    }


def _element_item(collection: Collection) -> Json:
    """The path item of an element: GET, PUT and DELETE."""
    levels = [parameter for level, parameter in LEVELS if level in {*_below(collection)}]
    guarded = [_header("If-Match", "The ETag that the element must have still.")]
    return {
        "parameters": _path_parameters(levels),
        "get": _operation("read", collection)
        | {
            "parameters": [_header("If-None-Match", "The ETag of what the client has: answered with 304 if it is so.")],
            "responses": {
                "200": _success("The element.", collection, "ETag"),
                "304": {"description": "The element is what the client has."},
                **_errors(_ALWAYS),
            },
        },
        "put": _operation("replace", collection)
        | {
            "parameters": guarded,
            "requestBody": _body(collection),
            "responses": {
                "200": _success("Replaced.", collection, "ETag"),
                **_errors((*_ALWAYS, *_WITH_BODY, 409, 412, 507)),
            },
        },
        "delete": _operation("delete", collection)
        | {
            "parameters": guarded,
            "responses": {"204": {"description": "Deleted."}, **_errors((*_ALWAYS, 409, 412))},
        },
    }


def _below(collection: Collection) -> list[Collection]:
    """The collection and those above it."""
    order = [level for level, _ in LEVELS]
    return order[: order.index(collection) + 1]


def _parents(collection: Collection) -> list[str]:
    return [parameter for level, parameter in LEVELS if level in _below(collection)[:-1]]


def _operation(action: str, collection: Collection) -> Json:
    article = "an" if collection is Collection.INTENTS else "a"
    return {
        "operationId": f"{action}-{collection.value}",
        "summary": _SUMMARIES[action].format(noun=collection.noun, article=article),
        "tags": [collection.value],
    }


def _path_parameters(levels: Iterable[str]) -> list[Json]:
    names = [*(name for _, name in GROUP), *levels]
    return [{"name": name, "in": "path", "required": True, "schema": _name()} for name in names]


def _name() -> Json:
    return {"type": "string", "pattern": f"^{NAME}$", "maxLength": 128}


def _query(name: str, about: str, schema: Json) -> Json:
    return {"name": name, "in": "query", "description": about, "schema": schema}


def _header(name: str, about: str) -> Json:
    return {"name": name, "in": "header", "description": about, "schema": {"type": "string"}}


def _answer(collection: Collection) -> Json:
    return {"$ref": _REF.format(model=ANSWERS[collection].__name__)}


def _body(collection: Collection) -> Json:
    return {"required": True, "content": _content({"$ref": _REF.format(model=BODIES[collection].__name__)})}


def _content(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _success(about: str, collection: Collection, *headers: str) -> Json:
    shown = {name: {"schema": {"type": "string"}} for name in headers}
    return {"description": about, "headers": shown, "content": _content(_answer(collection))}


def _errors(codes: Iterable[int]) -> Json:
    return {str(code): _problem(_MEANINGS[code]) for code in sorted(codes)}


def _problem(about: str) -> Json:
    schema = {"$ref": _REF.format(model=ProblemBody.__name__)}
    return {"description": about, "content": {MEDIA_TYPE: {"schema": schema}}}
