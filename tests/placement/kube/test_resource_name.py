"""Names of resources that a container can ask for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.placement.kube.resource_name import UNITS, in_bytes, indivisible, is_resource, page_size

RESOURCES = (
    "cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "hugepages-1Gi", "hugepages-8Pi", "nvidia.com/gpu",
    "intel.com/qat",
    "example.com/A_b.c-1", "x/y", f"example.com/{'a' * 63}",
)  # fmt: skip

OTHERS = {
    "nothing": "",
    "a device without a domain": "gpu",
    "of Kubernetes' own": "kubernetes.io/batch-cpu",
    "of a domain of Kubernetes": "batch.kubernetes.io/cpu",
    "of a quota": "requests.nvidia.com/gpu",
    "a domain alone": "nvidia.com/",
    "a device of no domain": "/gpu",
    "a domain in capitals": "NVIDIA.com/gpu",
    "two slashes": "nvidia.com/gpu/0",
    "a device that ends badly": "nvidia.com/gpu-",
    "a device too long": f"nvidia.com/{'a' * 64}",
    "pages without a size": "hugepages-",
    "pages of no size": "hugepages-0",
    "pages of a negative size": "hugepages--2Mi",
    "pages of half a byte": "hugepages-0.5",
    "pages of words": "hugepages-big",
    "pages with a sign": "hugepages-+2Mi",
    "pages of more bytes than can be counted": "hugepages-16Pi",
    "pages of any number of bytes": "hugepages-5e32",
    "pages of a device": "hugepages-m/u",
    "pages of a name too long": f"hugepages-{'0' * 60}2Mi",
    "a domain too long for quotas": f"{'.'.join(['a' * 61] * 4)}/gpu",
    "storage": "storage",
    "pods": "pods",
}


@pytest.mark.parametrize("name", RESOURCES)
def test_a_container_can_ask_for(name: str) -> None:
    assert is_resource(name)


@pytest.mark.parametrize("name", OTHERS.values(), ids=OTHERS)
def test_no_container_can_ask_for(name: str) -> None:
    assert not is_resource(name)


@pytest.mark.parametrize("name", ["memory", "ephemeral-storage", "hugepages-2Mi"])
def test_amounts_are_bytes_of(name: str) -> None:
    assert in_bytes(name)


@pytest.mark.parametrize("name", ["cpu", "nvidia.com/gpu"])
def test_amounts_are_no_bytes_of(name: str) -> None:
    assert not in_bytes(name)


@pytest.mark.parametrize("name", ["nvidia.com/gpu", "hugepages-2Mi"])
def test_a_container_gets_whole_pieces_of(name: str) -> None:
    assert indivisible(name)


@pytest.mark.parametrize("name", ["cpu", "memory", "ephemeral-storage"])
def test_a_container_may_get_more_than_it_asked_for_of(name: str) -> None:
    assert not indivisible(name)


PAGES = {"hugepages-2Mi": 2 << 20, "hugepages-1Gi": 1 << 30, "hugepages-64k": 64000, "memory": 0, "hugepages-x": 0}


@pytest.mark.parametrize(("name", "size"), PAGES.items(), ids=PAGES)
def test_the_size_of_a_page_is_in_its_name(name: str, size: int) -> None:
    assert page_size(name) == size


def test_units_are_decimal_and_binary() -> None:
    decimal = {"KB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4}
    binary = {"Ki": 1024, "Mi": 1024**2, "Gi": 1024**3, "Ti": 1024**4}
    assert decimal | binary == UNITS


@given(st.text() | st.text("hugepages-2Mi/.com"))
def test_any_name_is_a_resource_or_not(name: str) -> None:
    assert is_resource(name) in {True, False}
    assert page_size(name) >= 0
