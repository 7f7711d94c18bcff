"""OpenAPI documents of the API, versions 2 and 3: what ``kubectl explain`` shows, and clients check by.

Schemas are made of the types of ``placementreview.review``, so that they cannot differ from what is accepted, and of
the sentences in ``fields``.
"""

import inspect
from collections.abc import Iterator
from typing import Any, Final, cast

import msgspec
from msgspec import inspect as types

from webhook.aggregated.fields import FIELDS
from webhook.placementreview.review import GROUP, KIND, RESOURCE, VERSION, PlacementReview

NAMES: Final = "com.ibm.streams.placement.v1."
"""Prefix of the names of the schemas."""

PATH: Final = f"/apis/{GROUP}/{VERSION}/namespaces/{{namespace}}/{RESOURCE}"

_ID: Final = "createNamespacedPlacementReview"
_KIND: Final = {"group": GROUP, "version": VERSION, "kind": KIND}
_TITLE: Final = {"title": "streams-placement", "version": VERSION}
_JSON: Final = "application/json"
_TOLD: Final = "The answer, in status."
_PLAIN: Final[dict[type[types.Type], dict[str, str]]] = {
    types.BoolType: {"type": "boolean"},
    types.IntType: {"type": "integer", "format": "int64"},
    types.StrType: {"type": "string"},
}
_QUERY: Final = {
    "dryRun": "Changes nothing, since nothing is stored in any case.",
    "fieldManager": "Ignored, since nothing is stored.",
    "fieldValidation": "Ignored: unknown fields are refused in any case.",
    "pretty": "Ignored.",
}


def schemas(reference: str) -> dict[str, dict[str, Any]]:
    """The schema of each type by its name; ``reference`` is the path of the schemas in the document."""
    by_name: dict[str, dict[str, Any]] = {}
    waiting: list[type[msgspec.Struct]] = [PlacementReview]
    while waiting:
        struct = waiting.pop()
        by_name[NAMES + struct.__name__], needed = _struct_schema(struct, reference)
        waiting += [one for one in needed if NAMES + one.__name__ not in by_name]
    by_name[NAMES + KIND]["x-kubernetes-group-version-kind"] = [_KIND]
    return dict(sorted(by_name.items()))


def openapi_v3() -> dict[str, Any]:
    """The document of ``/openapi/v3/apis/<group>/<version>``."""
    reference = "#/components/schemas/"
    body = {"content": {_JSON: {"schema": {"$ref": f"{reference}{NAMES}{KIND}"}}}}
    text = {"type": "string"}
    namespace = {**_in_path("namespace", "The namespace."), "schema": text}
    name = {**_in_path("name", "Any name."), "schema": text}
    query = [{"name": name, "in": "query", "description": says, "schema": text} for name, says in _QUERY.items()]
    operation = {
        **_operation(),
        "requestBody": {**body, "required": True},
        "responses": {"201": {"description": _TOLD, **body}},
    }
    return {
        "openapi": "3.0.0",
        "info": _TITLE,
        "paths": {
            PATH: {"parameters": [namespace], "post": {**operation, "parameters": query}},
            f"{PATH}/{{name}}": {"parameters": [namespace, name], "patch": {**_refused(), "parameters": query}},
        },
        "components": {"schemas": schemas(reference)},
    }


def openapi_v2() -> dict[str, Any]:
    """The document of ``/openapi/v2``."""
    reference = "#/definitions/"
    schema = {"$ref": f"{reference}{NAMES}{KIND}"}
    namespace = {**_in_path("namespace", "The namespace."), "type": "string"}
    name = {**_in_path("name", "Any name."), "type": "string"}
    query = [{"name": name, "in": "query", "description": says, "type": "string"} for name, says in _QUERY.items()]
    operation = {
        **_operation(),
        "consumes": [_JSON],
        "produces": [_JSON],
        "schemes": ["https"],
        "parameters": [{"name": "body", "in": "body", "required": True, "schema": schema}, *query],
        "responses": {"201": {"description": _TOLD, "schema": schema}},
    }
    return {
        "swagger": "2.0",
        "info": _TITLE,
        "paths": {
            PATH: {"parameters": [namespace], "post": operation},
            f"{PATH}/{{name}}": {"parameters": [namespace, name], "patch": {**_refused(), "parameters": query}},
        },
        "definitions": schemas(reference),
    }


def _operation() -> dict[str, Any]:
    return {
        "description": "Answers a PlacementReview; nothing is stored.",
        "operationId": _ID,
        "tags": ["placementReview_v1"],
        "x-kubernetes-action": "post",
        "x-kubernetes-group-version-kind": _KIND,
    }


def _in_path(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "description": description}


def _refused() -> dict[str, Any]:
    """The change of a review, which is always refused.

    It is described because kubectl looks at this operation, of any kind, to learn whether the server refuses unknown
    fields. Where there is none it lists CustomResourceDefinitions, which tenants may not, and creates nothing then.
    """
    return {
        "description": "Always refused: nothing is stored that could be changed.",
        "operationId": "patchNamespacedPlacementReview",
        "tags": ["placementReview_v1"],
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": _KIND,
        "responses": {"405": {"description": "A PlacementReview can only be created."}},
    }


def _struct_schema(struct: type[msgspec.Struct], reference: str) -> tuple[dict[str, Any], list[type[msgspec.Struct]]]:
    """The schema of a type, and the types that it needs."""
    needed: list[type[msgspec.Struct]] = []
    properties, required = {}, []
    for field in cast("types.StructType", types.type_info(struct)).fields:
        schema = _schema(field.type, reference, needed)
        description = FIELDS.get(struct.__name__, {}).get(field.encode_name, "")
        # A reference has no description of its own in these versions of OpenAPI, but as a part of one.
        properties[field.encode_name] = (
            {"description": description, "allOf": [schema]}
            if "$ref" in schema
            else {"description": description, **schema}
        )
        if field.required:
            required.append(field.encode_name)
    text = inspect.cleandoc(struct.__doc__ or "").replace("\n", " ").replace("``", "").replace("  ", "\n\n")
    made = {"description": text, "type": "object", "properties": properties}
    return ({**made, "required": required} if required else made), needed


def _schema(of: types.Type, reference: str, needed: list[type[msgspec.Struct]]) -> dict[str, Any]:
    """The schema of one type; types that it refers to are added to ``needed``."""
    schema: dict[str, Any]
    match of:
        case types.StructType(cls=struct):
            needed.append(struct)
            schema = {"$ref": f"{reference}{NAMES}{struct.__name__}"}
        case types.UnionType():
            first, *others = _present(of)
            schema = {"x-kubernetes-int-or-string": True} if others else _schema(first, reference, needed)
        case types.VarTupleType(item_type=item):
            schema = {"type": "array", "items": _schema(item, reference, needed)}
        case types.DictType(value_type=types.AnyType()):
            schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        case types.DictType(value_type=value):
            schema = {"type": "object", "additionalProperties": _schema(value, reference, needed)}
        case types.LiteralType(values=values):
            schema = {"type": "string", "enum": list(values)}
        case _:
            schema = dict(_PLAIN[type(of)])
    return schema


def _present(union: types.UnionType) -> Iterator[types.Type]:
    """The types of a union but the one that says that there is no value."""
    return (one for one in union.types if not isinstance(one, types.NoneType))
