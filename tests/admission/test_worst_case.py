"""The most expensive words that a user can write: each answer costs at most 20 ms of one core."""

import gc
import sys
import time
from collections.abc import Callable, Iterable, Iterator

import pytest

from tests.admission.large_cluster import LARGE, TOKENS
from tests.builders import Json, cluster, envelope, nodes, pod, review
from webhook.admission.mutate import mutate
from webhook.admission.responses import Answer
from webhook.admission.validate import validate
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys

LIMIT = 0.020
"""Seconds of CPU for one answer: a burst of 500 reviews is then over in the 10 seconds an API server waits at most."""

TRIES = 30
"""Before an answer counts as expensive: other programs on the machine make some of them look so."""

SMALL = cluster(nodes(2))
TEXT = 8 * 1024
CLAUSES = 64


@pytest.fixture(autouse=True, scope="module")
def _frozen() -> Iterator[None]:
    """What all the other tests hold is not looked through with every collection."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def cost(body: bytes, inventory: Inventory, entry: Callable[[bytes, Inventory, Policy], Answer] = mutate) -> float:
    """The least CPU time that an answer took of a few, the first within the limit at best; coverage is not counted."""
    least = float("inf")
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        for _ in range(TRIES):
            gc.collect()
            start = time.process_time()
            entry(body, inventory, Policy())
            least = min(least, time.process_time() - start)
            if least <= LIMIT:
                break
    finally:
        sys.settrace(tracer)
    return least


def padded(text: str, filler: str) -> str:
    """The text with a filler up to the limit of an annotation."""
    return text + filler * ((TEXT - len(text)) // len(filler))


PLACEMENTS = {
    "clauses": ", ".join(f'partitionColocation("t{at}")' for at in range(CLAUSES)),
    "too many clauses": ",".join(["hostIsolation"] * (TEXT // 14)),
    "tokens": ", ".join(f'hostExlocation("t{at}")' for at in range(TOKENS)),
    "operators with a host each": "; ".join(f'O{at}: host("h{at}")' for at in range(CLAUSES)),
    "operators with an address each": "; ".join(f'O{at}: host("2001:db8::{at}")' for at in range(CLAUSES)),
    "operators with an unknown pool each": "; ".join(f"O{at}: host(P{at})" for at in range(CLAUSES)),
    "isolated operators": "; ".join(f"O{at}: hostIsolation" for at in range(CLAUSES)),
    "brackets": padded("host", "("),
    "quotes": padded("", '"'),
    "backslashes": padded('host("', "\\"),
    "escapes": padded('host("', "\\u0041")[:-2] + '")',
    "an unterminated string": padded('host("', "a"),
    "an unterminated comment": padded("/*", "*"),
    "slashes": padded("", "/"),
    "comments": padded("", "/**/"),
    "white space": padded("", " "),
    "line ends": padded("", "\n"),
    "semicolons": padded("", ";"),
    "commas": padded("", ","),
    "colons": padded("a", "::a"),
    "digits": padded("host(P[", "9"),
    "an endless name": padded("a", "a"),
    "a mebibyte": "a" * 2**20,
    "a mebibyte of clauses": "hostIsolation," * 2**16,
    "letters of two bytes": "\u00e9" * TEXT,
    "right-to-left overrides": "\u202e" * (TEXT // 3),
}


@pytest.mark.parametrize("placement", PLACEMENTS.values(), ids=PLACEMENTS.keys())
def test_no_placement_is_expensive(placement: str) -> None:
    assert cost(review(pod(placement)), SMALL) <= LIMIT


def _listed(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"


ANNOTATIONS: dict[str, dict[str, str]] = {
    "unknown keys": {f"{keys.PREFIX}hostColocation{at}": "x" for at in range(5000)},
    "long unknown keys": {f"{keys.PREFIX}{'a' * 60}{at}": "x" for at in range(2000)},
    "keys of others": {f"example.com/{at}": "x" for at in range(5000)},
    "requirements": {
        keys.HARDWARE: _listed(f"{{name: a.b/c{at}, limits: 1, mandatory: false, weight: 5}}" for at in range(64))
    },
    "requirements for one label": {keys.HARDWARE: _listed(f"{{name: k, value: v{at}}}" for at in range(64))},
    "more requirements than count": {keys.HARDWARE: f"[{'{},' * (TEXT // 3 - 1)}]"},
    "fields of a requirement": {keys.HARDWARE: _listed(["{" + ",".join(f"f{at}: v" for at in range(900)) + "}"])},
    "a mebibyte of requirements": {keys.HARDWARE: "[" * 2**20},
    "names of intents": {keys.INTENT: ",".join(f"i{at}" for at in range(TEXT // 6))},
    "a mebibyte of intents": {keys.INTENT: "i," * 2**19},
    "a mebibyte of preferences": {keys.PREFERRED: ",".join(f"h{at}" for at in range(2**17))},
    "a mebibyte of commas": {keys.PREFERRED: "," * 2**20},
    "a mebibyte of binding": {keys.HOST_BINDING: "x" * 2**20},
}


@pytest.mark.parametrize("annotations", ANNOTATIONS.values(), ids=ANNOTATIONS.keys())
def test_no_annotation_is_expensive(annotations: dict[str, str]) -> None:
    assert cost(review(pod(annotations=annotations)), SMALL) <= LIMIT


SPECS: dict[str, Json] = {
    "selector labels": pod(nodeSelector={f"k{at}": "v" for at in range(2000)}),
    "tolerations": pod(tolerations=[{"key": f"k{at}", "operator": "Exists"} for at in range(2000)]),
    "tolerations of ours": pod(tolerations=[{"key": keys.EXCLUSIVE, "operator": "Exists"}] * 2000),
    "resources": pod(requests={f"example.com/r{at}": "1" for at in range(1000)}),
    "bad quantities": pod(requests={f"example.com/r{at}": "x" for at in range(1000)}),
    "labels of ours": pod(labels={f"{keys.COLOCATION}{at}": "x" for at in range(2000)}),
}


@pytest.mark.parametrize("found", SPECS.values(), ids=SPECS.keys())
def test_no_pod_is_expensive(found: Json) -> None:
    assert cost(review(found), SMALL) <= LIMIT


EXPENSIVE: dict[str, Json] = {
    "operators with an unknown pool each": pod("; ".join(f"O{at}: host(P{at})" for at in range(CLAUSES))),
    "operators with a pending pool each": pod("; ".join(f"O{at}: host(P{at}x)" for at in range(CLAUSES))),
    "pools of a tag each": pod("; ".join(f"O{at}: host(T{at})" for at in range(TOKENS))),
    "pools of a tag each, and labels": pod(
        "; ".join(f"O{at}: host(T{at})" for at in range(TOKENS)), nodeSelector={f"k{at}": "v" for at in range(16)}
    ),
    "tokens of a large group": pod(", ".join(f'hostColocation("t{at}")' for at in range(TOKENS))),
    "isolation among many": pod("hostIsolation"),
    "labels that no node has together": pod(nodeSelector={f"k{at}": "v" for at in range(64)}),
    "many taints": pod(nodeSelector={"size": "1"}),
}


@pytest.mark.parametrize("found", EXPENSIVE.values(), ids=EXPENSIVE.keys())
def test_no_pod_of_a_large_cluster_is_expensive(found: Json) -> None:
    assert cost(review(found), LARGE) <= LIMIT


@pytest.mark.parametrize("blank", [b"", b" "], ids=["compact", "with white space"])
@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({f"k{at}": 1 for at in range(5000)}, id="different keys"),
        pytest.param({f"k{at}": "x" * 200 for at in range(500)}, id="long values"),
    ],
)
def test_no_envelope_is_expensive(blank: bytes, fields: dict[str, object]) -> None:
    assert cost(blank + envelope({"uid": "u"} | fields), SMALL) <= LIMIT
    assert cost(blank + envelope({"uid": "u"}, **fields), SMALL) <= LIMIT


def test_no_pool_is_expensive() -> None:
    spec = {
        "tags": [f"t{at}" for at in range(5000)],
        "selector": {"matchLabels": {f"k{at}": "-" for at in range(5000)}},
    }
    body = review({"metadata": {"name": "p"}, "spec": spec}, kind="HostPool", group="streams.ibm.com")
    assert cost(body, SMALL, validate) <= LIMIT
