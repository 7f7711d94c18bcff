"""The body of an HTTP error."""

import msgspec

from webhook.admission.responses import status_body


def test_a_failure_is_a_status_of_the_api_server() -> None:
    assert msgspec.json.decode(status_body(413, "RequestEntityTooLarge", 'over "8" MiB')) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'over "8" MiB',
        "reason": "RequestEntityTooLarge",
        "code": 413,
    }
