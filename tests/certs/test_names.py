"""The names a leaf is for."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certs.names import (
    LOOPBACK,
    Names,
    address_fault,
    dns_fault,
    flags,
    label_fault,
    printable,
    quote,
    service_names,
)

DNS_RULE = (
    "is not a DNS name: use letters, digits, '-' and '.', at most 253 of them, "
    "each part 1 to 63 long, starting and ending with a letter or digit"
)


def test_a_service_has_four_dns_names_the_api_servers_first() -> None:
    assert service_names("web", "streams") == Names(
        ("web.streams.svc", "web.streams.svc.cluster.local", "web", "web.streams")
    )


def test_loopback_is_localhost_and_both_addresses() -> None:
    assert LOOPBACK.texts == ("localhost", "127.0.0.1", "::1")


def test_a_sum_holds_each_name_once_in_order() -> None:
    first = Names(("b", "a"), (ipaddress.ip_address("10.0.0.1"),))
    second = Names(("a", "c"), (ipaddress.ip_address("10.0.0.1"), ipaddress.ip_address("fd00::1")))
    assert (first + second).texts == ("b", "a", "c", "10.0.0.1", "fd00::1")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        pytest.param(Names(), False, id="none"),
        pytest.param(Names(("a",)), True, id="dns"),
        pytest.param(Names((), LOOPBACK.addresses), True, id="address"),
    ],
)
def test_names_are_true_when_there_is_one(names: Names, expected: bool) -> None:  # noqa: FBT001 - a table's column
    assert bool(names) is expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("localhost", id="one part"),
        pytest.param("Web.Example.COM", id="upper case"),
        pytest.param("xn--bcher-kva.example", id="punycode"),
        pytest.param("a" * 63 + ".b", id="63 characters in a part"),
        pytest.param(".".join(["a" * 63] * 3 + ["b" * 61]), id="253 characters"),
    ],
)
def test_dns_names(text: str) -> None:
    assert dns_fault(text) == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", f'"" {DNS_RULE}', id="empty"),
        pytest.param("a_b", f'"a_b" {DNS_RULE}', id="underscore"),
        pytest.param("-a", f'"-a" {DNS_RULE}', id="hyphen first"),
        pytest.param("a.", f'"a." {DNS_RULE}', id="dot last"),
        pytest.param("a\n", f'"a\\n" {DNS_RULE}', id="line break"),
        pytest.param("\u212a", f'"\u212a" {DNS_RULE}', id="sign that lowers to a letter"),
        pytest.param("a" * 64, f'"{"a" * 64}" {DNS_RULE}', id="64 characters in a part"),
        pytest.param(
            ".".join(["a" * 63] * 3 + ["b" * 62]), f'"{"a" * 63}.{"a" * 16}..." {DNS_RULE}', id="254 characters"
        ),
        pytest.param("10.0.0.1", '"10.0.0.1" is an IP address: give it with --ip', id="address"),
        pytest.param("*.example.com", '"*.example.com" is a wildcard: name each host', id="wildcard"),
    ],
)
def test_no_dns_names(text: str, message: str) -> None:
    assert dns_fault(text) == message


@pytest.mark.parametrize("text", ["10.0.0.1", "fd00::1", "::ffff:10.0.0.1"])
def test_addresses(text: str) -> None:
    assert address_fault(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("10.0.0.0/8", id="length"),
        pytest.param("fe80::1%eth0", id="zone"),
        pytest.param("localhost", id="name"),
        pytest.param("10.0.0.01", id="leading zero"),
        pytest.param("", id="empty"),
    ],
)
def test_no_addresses(text: str) -> None:
    assert address_fault(text) == f'"{text}" is not an IP address: write 10.0.0.1 or fd00::1, without length or zone'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("web-1", "", id="legal"),
        pytest.param(
            "Web",
            "\"Web\" is not the name of a service: use 1 to 63 lower-case letters, digits and '-', "
            "starting and ending with a letter or digit",
            id="upper case",
        ),
    ],
)
def test_names_of_services(text: str, message: str) -> None:
    assert label_fault(text, "service") == message


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        pytest.param(Names(), "", id="none"),
        pytest.param(LOOPBACK, "--loopback", id="loopback"),
        pytest.param(service_names("web", "ns"), "--service web --namespace ns", id="service"),
        pytest.param(Names(("web.ns.svc",)), "--dns web.ns.svc", id="one name of a service"),
        pytest.param(service_names("web", "a.b"), None, id="a dot too many"),
        pytest.param(service_names("", "ns"), None, id="no service"),
        pytest.param(
            service_names("a", "ns") + service_names("b", "ns"),
            "--service a --namespace ns --dns b.ns.svc --dns b.ns.svc.cluster.local --dns b --dns b.ns",
            id="a second service",
        ),
        pytest.param(
            LOOPBACK + Names(("x.y",), (ipaddress.ip_address("fd00::1"),)),
            "--loopback --dns x.y --ip fd00::1",
            id="further names",
        ),
    ],
)
def test_flags_ask_for_the_names(names: Names, expected: str | None) -> None:
    each = " ".join(f"--dns {name}" for name in names.dns)
    assert " ".join(flags(names)) == (each if expected is None else expected)


@given(st.text())
def test_no_text_raises(text: str) -> None:
    dns_fault(text)
    address_fault(text)
    label_fault(text, "service")


@given(st.text())
def test_what_is_printed_acts_on_no_terminal(text: str) -> None:
    assert printable(text).isprintable()


def test_a_quoted_text_keeps_its_quotes_apart() -> None:
    assert quote('a"b\x1b') == '"a\\"b\\x1b"'
