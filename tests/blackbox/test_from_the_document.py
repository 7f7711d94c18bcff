"""No request that follows the document, or breaks it, gets an answer that the document does not know, or a 5xx."""

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from tests.blackbox.rest_process import rest_process

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[schemathesis.BaseSchema]:
    folder = tmp_path_factory.mktemp("blackbox")
    with rest_process(folder, "--store", "intents.sqlite", "--max-rate", "0") as (url, process):
        yield schemathesis.openapi.from_url(f"{url}/openapi.json")
        assert process.poll() is None
        assert "Traceback" not in (folder / "hpa-api.log").read_text()


schema = schemathesis.pytest.from_fixture("api")


@schema.parametrize()
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_request_gets_a_documented_answer(case: schemathesis.Case) -> None:
    case.call_and_validate(checks=CHECKS)
