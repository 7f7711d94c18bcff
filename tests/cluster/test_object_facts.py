"""Objects as the API server answers them, of any kind and form."""

import pytest

from kubeapi.client.errors import ApiError
from webhook.cluster.queries.object_facts import decoded


def test_an_object_is_read_without_what_is_nested_too_deeply() -> None:
    """An object of a tenant's own kind can be of any depth."""
    value = decoded(b'{"kind":"Odd","spec":' + b"[" * 9999 + b"]" * 9999 + b"}")
    assert value["kind"] == "Odd"
    depth, inner = 0, value["spec"]
    while isinstance(inner, list) and inner:
        depth, inner = depth + 1, inner[0]
    assert (depth, inner) == (199, None)


@pytest.mark.parametrize(
    ("body", "reason"), [(b"[]", "Expected `object`, got `array`"), (b"{", "Input data was truncated")]
)
def test_what_is_not_an_object_is_an_error_of_the_answer(body: bytes, reason: str) -> None:
    with pytest.raises(ApiError, match=f"an object cannot be read: {reason}"):
        decoded(body)
