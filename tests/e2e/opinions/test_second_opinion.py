"""Texts are read as Kubernetes' own packages read them: those that fuzzing begins with, and those that it found."""

from typing import Any

import pytest

from tests.fuzz.second_opinion import opinion
from tests.fuzz.targets import TARGETS

pytestmark = pytest.mark.usefixtures("kubernetes")

COMPARED = (
    "quantity", "pod-selector", "address", "names", "resource", "time", "duration", "hardware", "worker-mapping",
)  # fmt: skip


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (("quantity", "1.5Ki"), [True, "1536.000000000"]),
        (("quantity", "1 Ki"), [False]),
        (("selector", "a in (c, b), !d"), [True, ["a", "in", ["b", "c"]], ["d", "!", []]]),
        (("selector", "a in b"), [False]),
        (("address", "::1%eth0"), [True, f"{'0' * 31}1", "eth0", False]),
        (("address", "1.2.3.04"), [False]),
        (("duration", "1m0.5s"), [True, "60500000000"]),
        (("duration", "1"), [False]),
        (("time", "2026-02-02T01:00:00+01:00"), [True, "1769990400"]),
        (("time", "noon"), [False]),
        (("expression", "a", "Gt", "1"), [True]),
        (("expression", "a", "Exists", "1"), [False]),
        (("resource", "example.com/gpu", "1"), [True]),
        (("resource", "example.com/gpu", "500m"), [False]),
        (("subdomain", "a.b"), [True]),
        (("label", "a.b"), [False]),
        (("key", "a.b/c"), [True]),
        (("key", "a/b/c"), [False]),
        (("value", ""), [True]),
        (("value", "-"), [False]),
    ],
)
def test_kubernetes_says(question: tuple[str, ...], answer: list[Any]) -> None:
    assert opinion(*question) == answer


@pytest.mark.parametrize("name", COMPARED)
def test_texts_are_read_as_kubernetes_reads_them(name: str) -> None:
    target = TARGETS[name]
    for data in (*target.seeds(), *(path.read_bytes() for path in target.found)):
        target.check(data)
