"""The schemas: made of the types, complete, with a sentence for each field."""

import json

import msgspec
import pytest
from msgspec import inspect

from webhook.aggregated import openapi
from webhook.aggregated.fields import FIELDS
from webhook.aggregated.openapi import NAMES, openapi_v2, openapi_v3
from webhook.placementreview import review


def test_every_field_has_a_sentence_and_every_sentence_a_field() -> None:
    schemas = openapi_v3()["components"]["schemas"]
    shown = {name.removeprefix(NAMES): set(schema["properties"]) for name, schema in schemas.items()}
    assert {name: set(fields) for name, fields in FIELDS.items()} == shown
    assert all(text.endswith(".") for fields in FIELDS.values() for text in fields.values())


def test_schemas_say_what_is_accepted() -> None:
    schemas = openapi_v3()["components"]["schemas"]
    whole, spec = schemas[f"{NAMES}PlacementReview"], schemas[f"{NAMES}ReviewSpec"]["properties"]
    assert whole["x-kubernetes-group-version-kind"] == [
        {"group": review.GROUP, "version": "v1", "kind": "PlacementReview"}
    ]
    assert whole["properties"]["spec"]["allOf"] == [{"$ref": f"#/components/schemas/{NAMES}ReviewSpec"}]
    assert spec["manifests"]["items"] == {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    assert spec["plan"]["type"] == "boolean"
    result = schemas[f"{NAMES}ReviewResult"]
    assert result["properties"]["verdict"]["enum"] == ["Admitted", "NotJudged", "Refused", "Waiting"]
    assert result["properties"]["replicas"]["type"] == "integer"
    assert result["required"] == ["manifest", "kind", "namespace", "name", "verdict"]
    added = schemas[f"{NAMES}AddedShape"]["properties"]
    assert added["allocatable"]["additionalProperties"] == {"x-kubernetes-int-or-string": True}


@pytest.mark.parametrize(
    ("document", "schemas"),
    [(openapi_v2(), openapi_v2()["definitions"]), (openapi_v3(), openapi_v3()["components"]["schemas"])],
)
def test_every_reference_has_its_schema(document: object, schemas: dict[str, object]) -> None:
    text, names = json.dumps(document), set(schemas)
    used = {part.partition('"')[0].rpartition("/")[2] for part in text.split('"$ref": "')[1:]}
    assert used == names


def test_a_type_without_a_schema_is_an_error() -> None:
    with pytest.raises(KeyError):
        openapi._schema(inspect.type_info(bytes), "", [])  # noqa: SLF001 -- no type has one


def test_a_review_as_the_schema_shows_it_is_read() -> None:
    body = {"apiVersion": review.API_VERSION, "kind": review.KIND, "metadata": {"name": "a"}, "spec": {"plan": True}}
    assert msgspec.convert(body, review.PlacementReview).spec.plan


@pytest.mark.parametrize("paths", [openapi_v2()["paths"], openapi_v3()["paths"]])
def test_kubectl_learns_that_unknown_fields_are_refused(paths: dict[str, dict[str, dict[str, object]]]) -> None:
    """As kubectl looks for it (cli-runtime, ``query_param_verifier_v3.go``): in the operation patch of the kind."""
    (patch,) = (path["patch"] for path in paths.values() if "patch" in path)
    names = [one["name"] for one in patch["parameters"]]  # type: ignore[attr-defined]
    assert "fieldValidation" in names
    assert patch["x-kubernetes-group-version-kind"]["kind"] == "PlacementReview"  # type: ignore[index]
    assert list(patch["responses"]) == ["405"]  # type: ignore[call-overload]
