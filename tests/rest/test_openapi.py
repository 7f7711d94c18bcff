"""The OpenAPI document is valid, has every path, and says of answers what they are; the page shows all of it."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator, validate
from openapi_spec_validator.schemas import schema_v31
from referencing import Registry, Resource

from tests.rest.rest_server import CORE, FWALL, INTENTS, REQUIREMENTS, RestClient, intent
from webhook.rest.docs_page import CONTENT_POLICY, docs_page
from webhook.rest.openapi import ProblemBody, openapi_document
from webhook.rest.routes import Collection

QUERY = {
    "operationId": "read-hpa-placement",
    "summary": "Which clusters can run the group",
    "responses": {"200": {"description": "Lists.", "content": {"application/json": {"schema": {"type": "object"}}}}},
}

OPENAPI = Resource.from_contents(dict(schema_v31))


class SpecValidator(OpenAPIV31SpecValidator):
    """The validator of the library; anchors of the OpenAPI schema are looked for once, not each time one is met."""

    schema_validator = Draft202012Validator({"$ref": OPENAPI.id()}, registry=(OPENAPI @ Registry()).crawl())


def schema(name: str) -> dict[str, Any]:
    """A schema of the document, with all others within reach."""
    document = openapi_document()
    return {"$ref": f"#/components/schemas/{name}", "components": document["components"]}


def test_the_document_is_one() -> None:
    validate(openapi_document(), cls=SpecValidator)


def test_a_query_about_a_group_is_in_it() -> None:
    document = openapi_document({"hpa-placement": QUERY}, [ProblemBody])
    validate(document, cls=SpecValidator)
    ((path, item),) = ((path, item) for path, item in document["paths"].items() if path.endswith("hpa-placement"))
    assert path.endswith("/deployment-intent-groups/{deployment-intent-group-name}/hpa-placement")
    assert {"200", "404", "503"} <= item["get"]["responses"].keys()


def test_every_collection_has_its_methods() -> None:
    paths = openapi_document()["paths"]
    assert len(paths) == 2 * len(Collection)
    for path, item in paths.items():
        wanted = {"get", "put", "delete"} if path.endswith("-name}") else {"get", "post", "delete"}
        assert item.keys() - {"parameters"} == wanted
        assert re.findall(r"\{([^}]+)\}", path) == [each["name"] for each in item["parameters"]]


@pytest.mark.integration
async def test_answers_are_what_the_document_says(client: RestClient) -> None:
    await client.create_all()
    for path, name in (
        (FWALL, "IntentAnswer"),
        (CORE, "ConsumerAnswer"),
        (f"{REQUIREMENTS}/core-fwall-cpu-requirement", "RequirementAnswer"),
        (f"{INTENTS}/nope", "ProblemBody"),
    ):
        OAS31Validator(schema(name)).validate((await client.get(path)).json)
    OAS31Validator(schema("ProblemBody")).validate((await client.post(INTENTS, intent("a b"))).json)


@pytest.mark.integration
async def test_document_and_page_are_served(file_client: RestClient) -> None:
    served = await file_client.get("/openapi.json")
    assert served.json["paths"] == openapi_document()["paths"]
    reply = await file_client.get("/docs")
    assert (reply.status, reply.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert reply.headers["Content-Security-Policy"] == CONTENT_POLICY


class Shown(HTMLParser):
    """The texts, addresses and elements of a page."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.elements: set[str] = set()
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        given = dict(attrs)
        self.links += [given["href"] or ""] if "href" in given else []
        self.ids |= {given["id"] or ""} if "id" in given else set()

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_has_every_request_and_every_schema_and_loads_nothing() -> None:
    document = openapi_document({"hpa-placement": QUERY})
    shown = Shown(docs_page(document))
    for path, item in document["paths"].items():
        for method in item.keys() - {"parameters"}:
            assert f"{method.upper()} {path}" in shown.texts
    assert set(document["components"]["schemas"]) <= shown.ids
    assert {link.removeprefix("#") for link in shown.links} <= shown.ids | {"/openapi.json"}
    assert not shown.elements & {"script", "img", "link", "iframe"}


def test_texts_are_escaped_on_the_page() -> None:
    operation = {**QUERY, "summary": "<script>alert(1)</script>"}
    assert b"<script>" not in docs_page(openapi_document({"hpa-placement": operation}))
