"""The most expensive worker mappings that a user can write: each answer is cheap."""

import pytest

from tests.admission.costs.large_cluster import large_cluster
from tests.admission.costs.test_worst_case import SMALL, TEXT, excessive, padded
from tests.builders import pod, review
from tests.placement.mapping_annotations import mapping
from webhook.placement.text import keys

pytestmark = pytest.mark.examples

NOWHERE = ", ".join(f"{{key: k{at}, operator: In, values: [v]}}" for at in range(64))
COMPARED = ", ".join(f"{{key: size, operator: Gt, values: [{at}]}}" for at in range(64))

ANNOTATIONS: dict[str, dict[str, str]] = {
    "values": mapping("k", "In", padded("a", ",a")),
    "values in a list": mapping("k", "In", padded("[a", ",a")[:-1] + "]"),
    "values that are none": mapping("k", "In", padded("-", ",-")),
    "commas": mapping("k", "In", padded("", ",")),
    "brackets": mapping(listed=padded("", "[")),
    "braces": mapping(listed=padded("", "{")),
    "dashes": mapping(listed=padded("", "- ")),
    "quotes": mapping(listed=padded("", '"')),
    "single quotes": mapping(listed=padded("['", "''")),
    "an unterminated string": mapping(listed=padded('["', "\\a")),
    "blanks": mapping(listed=padded("", " \n")),
    "comments": mapping(listed=padded("", " #")),
    "keys": mapping(listed="[{" + ",".join(f"k{at}: " for at in range(1000)) + "}]"),
    "items with unknown fields": mapping(listed="[" + ",".join(["{operators: , keys: , vals: }"] * 64) + "]"),
    "unknown operators": mapping(listed="[" + ",".join(["{key: a, operator: notin}"] * 64) + "]"),
    "nested blocks": mapping(listed="\n".join(f"{' ' * (at % 100)}a:" for at in range(150))),
    "a mebibyte": dict.fromkeys(keys.WORKER_MAPPING, "a" * 2**20),
    "selectors": {keys.RUN_WITH: ",".join("a" * 512), keys.RUN_APART_FROM: ",".join("!a" for _ in range(341))},
    "parentheses": {keys.RUN_WITH: "(" * 1024, keys.RUN_APART_FROM: "a in (" * 170},
    "blanks in a selector": {keys.RUN_WITH: f"a{' ' * 1000}b", keys.RUN_APART_FROM: " " * 1024},
}


@pytest.mark.parametrize("annotations", ANNOTATIONS.values(), ids=ANNOTATIONS.keys())
def test_no_mapping_is_expensive(annotations: dict[str, str]) -> None:
    assert excessive(review(pod(annotations=annotations)), SMALL) is None


IN_ALL = {
    "expressions that no node meets together": mapping(listed=f"[{NOWHERE}]"),
    "comparisons": mapping(listed=f"[{COMPARED}]"),
    "values": mapping("size", "NotIn", ",".join(map(str, range(TEXT // 5)))),
    "workers on every node": {keys.UNIFORM: "all-same-node"},
}


@pytest.mark.parametrize("annotations", IN_ALL.values(), ids=IN_ALL.keys())
def test_no_mapping_in_a_large_cluster_is_expensive(annotations: dict[str, str]) -> None:
    assert excessive(review(pod(annotations=annotations)), large_cluster()) is None
