"""Addresses: what is one, and which spellings mean the same."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.suite.example_count import examples
from webhook.placement.kube.addresses import Address, canonical, parse_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        pytest.param("10.4.40.83", Address("10.4.40.83"), id="IPv4"),
        pytest.param("0.0.0.0", Address("0.0.0.0"), id="IPv4 zeros"),  # noqa: S104 - compared as text, never bound
        pytest.param("255.255.255.255", Address("255.255.255.255"), id="IPv4 broadcast"),
        pytest.param("::", Address("::"), id="IPv6 zeros"),
        pytest.param("1:2:3:4:5:6:7::", Address("1:2:3:4:5:6:7:0"), id="compressed at the end"),
        pytest.param("::2:3:4:5:6:7:8", Address("0:2:3:4:5:6:7:8"), id="compressed at the start"),
        pytest.param("2001:DB8:0:0:8:800:200C:417A", Address("2001:db8::8:800:200c:417a"), id="upper case, in full"),
        pytest.param("1:2:3:4:5:6:1.2.3.4", Address("1:2:3:4:5:6:102:304"), id="IPv4 at the end"),
        pytest.param("FE80::1%Eth0", Address("fe80::1%Eth0"), id="zone is kept as it is"),
        pytest.param("fe80::1%0/64", Address("fe80::1%0", 64), id="zone and length"),
        pytest.param("::/0", Address("::", 0), id="length 0"),
        pytest.param("::/128", Address("::", 128), id="length 128"),
        pytest.param("::/007", Address("::", 7), id="length with leading zeros"),
    ],
)
def test_text_is_the_address(text: str, address: Address) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("10.04.40.83", id="leading zero"),
        pytest.param("256.1.1.1", id="octet over 255"),
        pytest.param("1.2.3", id="three octets"),
        pytest.param("1.2.3.4.5", id="five octets"),
        pytest.param("127.1", id="short form"),
        pytest.param("2130706433", id="one number"),
        pytest.param("0x7f.0.0.1", id="hexadecimal octet"),
        pytest.param("1.2.3.4/24", id="IPv4 with a length"),
        pytest.param("1.2.3.4%e", id="IPv4 with a zone"),
        pytest.param(" 1.2.3.4", id="leading blank"),
        pytest.param("1.2.3.4\n", id="line end"),
        pytest.param("1.2.3.\uff14", id="fullwidth digit in IPv4"),
        pytest.param("1:2:3:4:5:6:7::8", id="nothing left to compress"),
        pytest.param("12345::", id="five digits"),
        pytest.param(":::", id="three colons"),
        pytest.param("1::2::3", id="compressed twice"),
        pytest.param("::ffff:01.2.3.4", id="leading zero in the IPv4 part"),
        pytest.param("::+1", id="sign"),
        pytest.param("::\uff11", id="fullwidth digit in IPv6"),
        pytest.param("::\u0661", id="Arabic digit in IPv6"),
        pytest.param("1::2: ", id="group of blanks"),
        pytest.param("fe80::1%", id="empty zone"),
        pytest.param("fe80::1%a b", id="blank in a zone"),
        pytest.param("fe80::1%a%b", id="two zones"),
        pytest.param("::/129", id="length over 128"),
        pytest.param("::/", id="empty length"),
        pytest.param("::/a", id="length not a number"),
        pytest.param("::/\uff11", id="length in fullwidth digits"),
        pytest.param("::/0001", id="length of four digits"),
        pytest.param("::/1/1", id="two lengths"),
        pytest.param("::/0%0", id="zone after the length"),
        pytest.param("node-a", id="name"),
    ],
)
def test_text_is_not_an_address(text: str) -> None:
    assert parse_address(text) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("2001:DB8:0::1", "2001:db8::1", id="letter case and zeros"),
        pytest.param("::ffff:10.0.0.1", "::FFFF:a00:1", id="dotted and hexadecimal"),
    ],
)
def test_spellings_of_one_address_are_equal(one: str, other: str) -> None:
    assert canonical(one) == canonical(other) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("::ffff:10.0.0.1", "10.0.0.1", id="IPv4-mapped IPv6 is not IPv4"),
        pytest.param("fe80::1%eth0", "fe80::1", id="with and without a zone"),
        pytest.param("fe80::1%eth0", "fe80::1%ETH0", id="zones in other letter case"),
    ],
)
def test_addresses_differ(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize(
    "text",
    [pytest.param("2001:db8::1/64", id="a length makes it a network"), pytest.param("node-a", id="name")],
)
def test_no_node_can_have_it_as_address(text: str) -> None:
    assert canonical(text) is None


@examples(200)
@given(st.ip_addresses())
def test_every_spelling_of_an_address_is_that_address(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    assert canonical(address.exploded.upper()) == canonical(str(address)) is not None


@examples(200)
@given(
    st.one_of(
        st.text(st.characters(exclude_categories=()), max_size=40), st.text(st.sampled_from("0189af:.%/ "), max_size=20)
    )
)
def test_any_text_is_an_address_or_none(text: str) -> None:
    address = parse_address(text)
    assert address is None or parse_address(address.text) == Address(address.text)
