"""The most expensive words that a user can write: each answer is cheap."""

from collections.abc import Callable, Iterable

import pytest

from tests.admission.costs.large_cluster import TOKENS, large_cluster
from tests.builders import Json, cluster, envelope, nodes, pod, review
from tests.work import Work, excess
from webhook.admission.answer import Answer
from webhook.admission.mutate import mutate
from webhook.admission.validate import validate
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.nodegroups.label_values import LabelValues
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.text import keys

pytestmark = pytest.mark.examples

LIMIT = Work(calls=120_000, seconds=0.020)
"""For one answer: a burst of 500 reviews is then over in the 10 seconds an API server waits at most.

The dearest answers make 90,000 calls.
"""

SMALL = cluster(nodes(2))
TEXT = 8 * 1024
CLAUSES = 64


def excessive(
    body: bytes, inventory: Inventory, entry: Callable[[bytes, Inventory, Policy], Answer] = mutate
) -> Work | None:
    """What the answer costs, if that is too much."""
    return excess(lambda: entry(body, inventory, Policy()), LIMIT)


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
    assert excessive(review(pod(placement)), SMALL) is None


def test_no_pod_is_expensive_where_many_groups_may_make_a_node() -> None:
    """A thousand node terms, each of which would be compared with each of the groups."""
    scaled = cluster(nodes(2))
    for at in range(50):
        scaled.node_groups.put(NodeGroup("NodePool", f"p{at}", labels={"disk": LabelValues.one_of("hdd")}))
    needs = [{"key": "disk", "operator": "In", "values": [f"v{at}"]} for at in range(1000)]
    required = {"nodeSelectorTerms": [{"matchExpressions": [need]} for need in needs]}
    wide = pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}})
    body, policy = review(wide | {"metadata": pod("hostIsolation")["metadata"]}), Policy(scale_up="auto")
    assert excess(lambda: mutate(body, scaled, policy), LIMIT) is None


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
    assert excessive(review(pod(annotations=annotations)), SMALL) is None


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
    assert excessive(review(found), SMALL) is None


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
    assert excessive(review(found), large_cluster()) is None


@pytest.mark.parametrize("blank", [b"", b" "], ids=["compact", "with white space"])
@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({f"k{at}": 1 for at in range(5000)}, id="different keys"),
        pytest.param({f"k{at}": "x" * 200 for at in range(500)}, id="long values"),
    ],
)
def test_no_envelope_is_expensive(blank: bytes, fields: dict[str, object]) -> None:
    assert excessive(blank + envelope({"uid": "u"} | fields), SMALL) is None
    assert excessive(blank + envelope({"uid": "u"}, **fields), SMALL) is None


def test_no_pool_is_expensive() -> None:
    spec = {
        "tags": [f"t{at}" for at in range(5000)],
        "selector": {"matchLabels": {f"k{at}": "-" for at in range(5000)}},
    }
    body = review({"metadata": {"name": "p"}, "spec": spec}, kind="HostPool", group="streams.ibm.com")
    assert excessive(body, SMALL, validate) is None
