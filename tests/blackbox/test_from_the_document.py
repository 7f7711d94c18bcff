"""No request that follows the document, or breaks it, gets an answer that the document does not know, or a 5xx."""

from collections.abc import Iterator

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from tests.rest.rest_process import rest_process
from webhook.rest.openapi import openapi_document

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
METHODS = ("get", "post", "put", "delete")
OPERATIONS = [
    pytest.param(path, method, id=item[method]["operationId"])
    for path, item in openapi_document()["paths"].items()
    for method in METHODS
    if method in item
]


KNOWN = {
    "project-name": "p",
    "composite-app-name": "c",
    "composite-app-version": "v1",
    "deployment-intent-group-name": "d",
    "hpa-intent-name": "i",
    "consumer-name": "w",
    "requirement-name": "r",
}
"""Path parameters of a requirement that is there, unless a request has deleted it."""

WORKLOAD = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "w"}
THERE = (
    ("hpa-intents", {"metadata": {"name": "i"}, "spec": {"app": "a"}}),
    ("hpa-intents/i/hpa-resource-consumers", {"metadata": {"name": "w"}, "spec": {"consumer": WORKLOAD}}),
    (
        "hpa-intents/i/hpa-resource-consumers/w/resource-requirements",
        {"metadata": {"name": "r"}, "spec": {"name": "cpu", "requests": 1}},
    ),
)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[schemathesis.BaseSchema]:
    folder = tmp_path_factory.mktemp("blackbox")
    with rest_process(folder, "--store", "intents.sqlite", "--max-rate", "0") as (url, process):
        for collection, body in THERE:
            group = f"{url}/v2/projects/p/composite-apps/c/v1/deployment-intent-groups/d"
            assert requests.post(f"{group}/{collection}", json=body, timeout=10).status_code == 201
        yield schemathesis.openapi.from_url(f"{url}/openapi.json")
        assert process.poll() is None
        assert "Traceback" not in (folder / "hpa-api.log").read_text()


@pytest.mark.parametrize("mode", GenerationMode)
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_every_request_gets_a_documented_answer(
    api: schemathesis.BaseSchema, path: str, method: str, mode: GenerationMode
) -> None:
    """A request that follows the document (positive), and one that breaks it (negative)."""

    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(some.data())
    def check(data: some.DataObject) -> None:
        case = data.draw(api[path][method].as_strategy(generation_mode=mode))
        if mode is GenerationMode.POSITIVE and data.draw(some.booleans()):
            case.path_parameters = {name: KNOWN[name] for name in case.path_parameters}
        case.call_and_validate(checks=CHECKS)

    check()
