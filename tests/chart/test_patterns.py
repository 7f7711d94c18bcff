"""What texts among the values must look like: patterns that say the same as the code, or as Kubernetes does."""

import ipaddress
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.yaml_values import loaded
from webhook.placement.kube.names import LABEL_VALUE
from webhook.placement.kube.quantity import parse_quantity
from webhook.placement.kube.selection.selector_text import parse_selector

CHART: Final = Path(__file__).parents[2] / "charts" / "streams-placement"
PATTERNS: Final[dict[str, dict[str, str]]] = loaded((CHART / "patterns.yaml").read_text())
CHECKS: Final = (CHART / "templates" / "checks.yaml").read_text()


def takes(name: str, text: str) -> bool:
    """As Go does: ``$`` is the very end there."""
    return re.fullmatch(PATTERNS[name]["pattern"].removeprefix("^").removesuffix("$"), text, re.ASCII) is not None


RIGHT: Final[dict[str, tuple[str, ...]]] = {
    "network": ("10.0.0.0/28", "0.0.0.0/0", "255.255.255.255/32", "::/0", "fd00::/64", "2001:db8::1/128", "::1/128"),
    "selector": (
        "", "pool", "!pool", "a=b", "a==b", "a!=b", "a in (b, c)", "a notin (b)", "a,b , !c", "a>1", "a < -2", "a=",
        "!node-role.kubernetes.io/control-plane", "pool in (a),x/y.z=1",
    ),
    "quantity": ("1", "500m", "1.5", ".5", "2.", "512Mi", "1e3", "1E-3", "1E", "2k", "0"),
    "labelKey": ("team", "example.com/team", "a", "A_b.c", "kubernetes.io/os"),
    "labelValue": ("", "a", "a.B_c-1"),
    "name": ("", "a", "a.b-c", "1"),
    "resource": ("cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "example.com/gpu"),
    "image": ("a", "streams-placement", "example.com/a/b", "localhost:5000/a", "a__b/c-d", "Reg.x.com/x", "[::1]:5/a"),
}  # fmt: skip

WRONG: Final[dict[str, tuple[str, ...]]] = {
    "network": (
        "10.0.0.0/99", "10.0.0.0", "256.0.0.0/8", "10.0.0/8", "10.01.0.0/16", "::/129", ":::/0", "1::2::/8", "", "a/8",
    ),
    "selector": (
        "a==b==c", "a b", "=b", "a=b=c", "a in b", "a in (b", "a,,b", ",", "a>b", "a in ()x", "!", "!!a", "a,",
    ),
    "quantity": ("", "1mi", "1 Gi", "-1", "1K", "a", ".", "1e", "1ki", "0x1", "1m1"),
    "labelKey": ("", "a b", "a_", "-a", "A.b/c", "/a", "a/", "a/b/c", "a" * 64),
    "labelValue": ("a b", "-a", "a-", "a" * 64, "a/b"),
    "name": ("A", "a_b", "a.", ".a", "a..b", "x y"),
    "resource": ("gpu", "CPU", "example.com/", "cpus", "hugepages-", ""),
    "image": ("", "a:1", "a@sha256:0", "A", "a b", "/a", "a/", "https://a/b", "a..b", "a___b"),
}  # fmt: skip


def test_a_pattern_takes() -> None:
    assert [(name, text) for name, texts in RIGHT.items() for text in texts if not takes(name, text)] == []


def test_a_pattern_does_not_take() -> None:
    assert [(name, text) for name, texts in WRONG.items() for text in texts if takes(name, text)] == []


def is_selector(text: str) -> bool:
    try:
        parse_selector(text)
    except ValueError:
        return False
    return True


def is_network(text: str) -> bool:
    """As Go's net.ParseCIDR has it: a number of bits, and no zone."""
    address, slash, bits = text.partition("/")
    if not slash or "%" in address or not re.fullmatch("0|[1-9][0-9]*", bits):
        return False
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


AGREE: Final[dict[str, Callable[[str], bool]]] = {
    "selector": is_selector,
    "network": is_network,
    "quantity": lambda text: parse_quantity(text) is not None and not text.startswith(("+", "-")),
    "labelValue": lambda text: LABEL_VALUE.fullmatch(text) is not None,
}


@pytest.mark.parametrize("name", AGREE)
def test_a_pattern_agrees_with_the_code(name: str) -> None:
    texts = [text for texts in (*RIGHT.values(), *WRONG.values()) for text in texts]
    assert [text for text in texts if takes(name, text) != AGREE[name](text)] == []


PIECES: Final = st.lists(st.sampled_from([*"ab,!=<>() -", "in", " in ", " notin ", "==", "a/b", "1"]), max_size=9)


@given(PIECES.map("".join))
def test_every_selector_that_the_settings_take_is_taken_and_no_other(text: str) -> None:
    assert takes("selector", text) == is_selector(text)


DIGITS: Final = st.lists(
    st.sampled_from(["0", "1", "10", "255", "256", ".", "/", ":", "::", "f", "32", "128"]), max_size=12
)


@given(DIGITS.map("".join))
def test_every_network_is_taken_and_nothing_else(text: str) -> None:
    mapped = "." in text and ":" in text  # IPv4 in the form of IPv6, which nobody writes
    assert takes("network", text) == is_network(text) or mapped


def test_every_pattern_is_used_and_says_what_it_means() -> None:
    used = set(re.findall(r'"(\w+)" (?:\.Values|\$|\()', CHECKS)) & PATTERNS.keys()
    assert used | {"quantity", "resource"} == PATTERNS.keys() == RIGHT.keys() == WRONG.keys()
    assert {name for name, each in PATTERNS.items() if not each["noun"]} == set()
