"""CEL selectors of devices, as messages say them."""

import pytest

from tests.work import Work, excess
from webhook.placement.text.selector_words import condition

MEMORY = "device.capacity['gpu.example.com'].memory"
LONG = 10_000
"""Characters of the longest expression that the API server stores (``CELSelectorExpressionMaxLength`` is 10 Ki)."""


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        (f"{MEMORY}.compareTo(quantity('40Gi')) >= 0", "memory >= 40Gi"),
        (f'{MEMORY}.compareTo(quantity("40Gi")) >= 0.5', 'memory.compareTo(quantity("40Gi")) >= 0.5'),
        (f"{MEMORY}.isGreaterThan(quantity('1'))", "memory > 1"),
        (f"{MEMORY}.isLessThan(quantity('1')) && true", "memory < 1 && true"),
        ("device.driver == 'd'", "device.driver == 'd'"),
        (
            f"{MEMORY}.isGreaterThan(quantity('1'))\n  &&\r\n\n  {MEMORY}.isLessThan(quantity('3'))\n",
            "memory > 1 && memory < 3",
        ),
    ],
)
def test_comparisons_of_capacities_are_said_shortly(expression: str, said: str) -> None:
    assert condition(expression) == said


@pytest.mark.parametrize(
    "part", ["a", "a.", "\n", " ", "device.attributes['", "a.compareTo(quantity('", "a.isLessThan(quantity('"]
)
def test_a_long_selector_takes_time_by_its_length(part: str) -> None:
    expression = "'" + part * (LONG // len(part)) + "' == 'b'"
    assert excess(lambda: condition(expression), Work(100, 0.01)) is None
