"""Amounts of a hardware requirement."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.placement.annotations.hardware_amount import Amounts, read_amounts
from webhook.placement.annotations.hardware_fields import ParsedField
from webhook.placement.kube.quantity import INT64, NANO
from webhook.placement.text.problem import Problem

MB = 10**6
CPU, MEMORY, GPU, PAGES = "cpu", "memory", "nvidia.com/gpu", "hugepages-2Mi"


def read(name: str, **words: str) -> tuple[Amounts | None, list[Problem]]:
    return read_amounts(name, {field: ParsedField(word, f"r.{field}") for field, word in words.items()}, "r")


GOOD: dict[str, tuple[str, dict[str, str], tuple[float, float | None]]] = {
    "cores": (CPU, {"requests": "4", "limits": "4"}, (4, 4)),
    "between two numbers of cores": (CPU, {"requests": "1", "limits": "2"}, (1, 2)),
    "cores without a limit": (CPU, {"requests": "2"}, (2, None)),
    "a limit alone": (CPU, {"limits": "2"}, (2, 2)),
    "a part of a core": (CPU, {"requests": "0.001"}, (0.001, None)),
    "thousandths of a core": (CPU, {"requests": "1500m"}, (1.5, None)),
    "memory in the unit that is meant where none is said": (MEMORY, {"requests": "1000"}, (1000 * MB, None)),
    "memory in a unit": (MEMORY, {"requests": "3", "units": "Gi"}, (3 << 30, None)),
    "a part of a unit": (MEMORY, {"requests": "1.5", "units": "KB"}, (1500, None)),
    "a part of a unit that ends in its point": (MEMORY, {"requests": "2.", "units": "KB"}, (2000, None)),
    "memory with a suffix of its own": (MEMORY, {"requests": "200Mi", "limits": "1G"}, (200 << 20, 10**9)),
    "storage": ("ephemeral-storage", {"limits": "2", "units": "GB"}, (2 * 10**9, 2 * 10**9)),
    "devices requested": (GPU, {"requests": "1"}, (1, 1)),
    "devices limited": (GPU, {"limits": "1"}, (1, 1)),
    "devices both": (GPU, {"requests": "2", "limits": "2"}, (2, 2)),
    "pages": (PAGES, {"limits": "4", "units": "Mi"}, (4 << 20, 4 << 20)),
    "the most that Kubernetes counts": (GPU, {"limits": str(INT64)}, (INT64, INT64)),
}


@pytest.mark.parametrize(("name", "words", "amounts"), GOOD.values(), ids=GOOD)
def test_an_amount_is_read(name: str, words: dict[str, str], amounts: tuple[float, float | None]) -> None:
    found, problems = read(name, **words)
    asked, most = amounts
    assert (found, problems) == (Amounts(int(asked * NANO), None if most is None else int(most * NANO)), [])


BAD: dict[str, tuple[str, dict[str, str], list[str]]] = {
    "neither": (CPU, {}, ["r: needs requests or limits: how much of cpu"]),
    "no quantity": (CPU, {"requests": "lots"}, ['r.requests: "lots" is not a Kubernetes quantity']),
    "no quantity of bytes": (
        MEMORY,
        {"requests": "1MB", "units": "MB"},
        ['r.requests: "1MB" is not a Kubernetes quantity'],
    ),
    "nothing of it": (CPU, {"limits": "0"}, ['r.limits: "0" is not more than 0']),
    "less than nothing": (GPU, {"limits": "-1"}, ['r.limits: "-1" is not more than 0']),
    "more than there can be": (MEMORY, {"limits": "1e30"}, ['r.limits: "1e30" is too much']),
    "too small a part of a core": (CPU, {"limits": "1u"}, ['r.limits: "1u" is finer than a thousandth of a core']),
    "a part of a byte": (MEMORY, {"limits": "1m"}, ['r.limits: "1m" is not a whole number of bytes']),
    "a part of a device": (GPU, {"limits": "0.5"}, ['r.limits: "0.5" is not a whole number of pieces']),
    "a part of a page": (PAGES, {"limits": "3Mi"}, ['r.limits: "3Mi" is not a whole number of pages of 2Mi']),
    "more than the limit": (
        MEMORY,
        {"requests": "2", "limits": "1"},
        ["r.requests: requests 2M of memory are more than limits 1M"],
    ),
    "fewer devices than the limit": (
        GPU,
        {"requests": "1", "limits": "2"},
        ["r.requests: requests 1 and limits 2 of nvidia.com/gpu must be equal: this resource cannot be overcommitted"],
    ),
    "units of cores": (
        CPU,
        {"requests": "1", "units": "MB"},
        ["r.units: amounts of cpu are cores, they have no units"],
    ),
    "units of devices": (
        GPU,
        {"requests": "1", "units": "MB"},
        ["r.units: amounts of nvidia.com/gpu are pieces, they have no units"],
    ),
    "an unknown unit": (MEMORY, {"requests": "1", "units": "mb"}, ['r.units: unknown unit "mb" (did you mean MB?)']),
    "two units": (
        MEMORY,
        {"requests": "1Gi", "units": "Mi"},
        ['r.requests: "1Gi" already has a suffix: remove units Mi'],
    ),
    "everything at once": (
        CPU,
        {"requests": "x", "limits": "y"},
        ['r.requests: "x" is not a Kubernetes quantity', 'r.limits: "y" is not a Kubernetes quantity'],
    ),
    "an unknown unit and nothing else": (
        MEMORY,
        {"units": "furlong"},
        [
            'r.units: unknown unit "furlong": use one of KB, MB, GB, TB, Ki, Mi, Gi, Ti',
            "r: needs requests or limits: how much of memory",
        ],
    ),
}


@pytest.mark.parametrize(("name", "words", "expected"), BAD.values(), ids=BAD)
def test_an_amount_that_cannot_be_is_refused(name: str, words: dict[str, str], expected: list[str]) -> None:
    found, problems = read(name, **words)
    assert [f"{problem.field}: {problem.message}" for problem in problems] == expected
    assert found is None


@given(
    st.sampled_from([CPU, MEMORY, GPU, PAGES, "hugepages-x", ""]),
    st.dictionaries(
        st.sampled_from(["requests", "limits", "units"]), st.text() | st.text("0123456789.emkMGi-"), max_size=3
    ),
)
def test_any_words_are_an_amount_or_a_problem(name: str, words: dict[str, str]) -> None:
    found, problems = read(name, **words)
    assert (found is None) == bool(problems)
    assert found is None or 0 < found.requests <= (found.limits or found.requests)
