"""Names of objects, namespaces and labels: what Kubernetes accepts, the same to every reader and in every schema."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webhook.placement.annotations.expressions import is_key
from webhook.placement.kube.names import LABEL_NAME, LABEL_VALUE, OBJECT_NAME, is_namespace, is_object_name
from webhook.placement.kube.resource_name import is_resource


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("node-a", True, id="label"),
        pytest.param("foo.watson.ibm.com", True, id="subdomain"),
        pytest.param("a--b", True, id="two hyphens"),
        pytest.param("1.2.3.4", True, id="digits and dots"),
        pytest.param("-".join("a" * 60) + ".b", True, id="a part of more than 63 characters"),
        pytest.param("a" * 253, True, id="253 characters"),
        pytest.param("a" * 254, False, id="254 characters"),
        pytest.param("", False, id="empty"),
        pytest.param("Foo", False, id="upper case"),
        pytest.param("foo_bar", False, id="underscore"),
        pytest.param("-a", False, id="leading hyphen"),
        pytest.param("a-", False, id="trailing hyphen"),
        pytest.param("a.-b", False, id="hyphen after a dot"),
        pytest.param("a-.b", False, id="hyphen before a dot"),
        pytest.param("a..b", False, id="two dots"),
        pytest.param("a.", False, id="trailing dot"),
        pytest.param("a\n", False, id="line end"),
        pytest.param("n\u00f6de", False, id="umlaut"),
        pytest.param("node\uff11", False, id="fullwidth digit"),
        pytest.param("node\u200b", False, id="zero-width space"),
        pytest.param("\ud800", False, id="half a surrogate pair"),
    ],
)
def test_an_object_can_have_the_name(text: str, *, expected: bool) -> None:
    assert is_object_name(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("team-a", True, id="label"),
        pytest.param("0", True, id="digit"),
        pytest.param("a" * 63, True, id="63 characters"),
        pytest.param("a" * 64, False, id="64 characters"),
        pytest.param("", False, id="empty"),
        pytest.param("a.b", False, id="dot"),
        pytest.param("a..b", False, id="two dots"),
        pytest.param("Team", False, id="upper case"),
        pytest.param("a-", False, id="trailing hyphen"),
        pytest.param("a\n", False, id="line end"),
    ],
)
def test_a_namespace_can_have_the_name(text: str, *, expected: bool) -> None:
    assert is_namespace(text) is expected


@given(st.text("a0.-A", max_size=8))
@example("a.b-c")
@example("a..b")
def test_the_pattern_of_schemas_agrees_with_the_code(text: str) -> None:
    assert (re.fullmatch(OBJECT_NAME, text) is not None) == is_object_name(text)


@given(st.text("aZ0_-.", max_size=6))
@example("a..b")
@example("a" * 64)
def test_a_label_value_is_a_label_name_or_empty(text: str) -> None:
    assert bool(LABEL_VALUE.fullmatch(text)) == (not text or bool(LABEL_NAME.fullmatch(text)))


@pytest.mark.parametrize("text", ["a..b/name", "a../name", ".a/name", "/name"])
def test_the_domain_of_a_key_and_of_a_resource_is_a_dns_subdomain(text: str) -> None:
    assert not is_key(text)
    assert not is_resource(text)


def test_the_name_behind_the_domain_may_have_two_dots() -> None:
    """As for Kubernetes, which allows any of ``-``, ``_`` and ``.`` inside a label name."""
    assert is_key("example.com/a..b")
    assert is_resource("example.com/a..b")
    assert LABEL_VALUE.fullmatch("a..b")
