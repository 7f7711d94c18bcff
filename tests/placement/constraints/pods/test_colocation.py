"""``hostColocation("t")``."""

from collections.abc import Mapping

import pytest

from tests.builders import JOB, bound_pod, cluster, decided, job, node, nodes, pod
from webhook.placement.constraints.pods.colocation import group_label, token_label
from webhook.placement.decision.merge import Additions
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.pod import LabelSelector, PodTerm, Requirement
from webhook.placement.objects.pod import PodInfo
from webhook.placement.text import keys

TOGETHER = "streams.ibm.com/hostcolocation.9034FF9E2B8F00B47A44DFAF3C2A37176C101E2A"

TWO = 'hostColocation("a"), hostColocation("b")'

BOTH = 'hostColocation("a") and hostColocation("b")'


def near(key: str, value: str) -> PodTerm:
    """Pods of the job with a label, on the same host."""
    expressions = (Requirement(key, "In", (value,)), Requirement(keys.JOB, "In", (JOB,)))
    return PodTerm(LabelSelector(match_expressions=expressions), "kubernetes.io/hostname")


def added(placement: str, inventory: Inventory, annotations: Mapping[str, str] = {}) -> Additions:
    """What a pod that is admitted lacks."""
    found = decided(pod(placement, annotations=annotations), inventory)
    assert found.additions, found.message
    return found.additions


def member(on: str, token: str = "t", *, requests: Mapping[str, int] = {}) -> PodInfo:  # noqa: S107 - a token of SPL
    """A live pod with the token."""
    return bound_pod(on, labels=dict([token_label(token)]), requests=requests)


def test_one_token_is_a_label_and_a_term() -> None:
    found = added('hostColocation("together")', cluster(nodes(1)))
    assert (found.labels, found.near.required) == ({TOGETHER: "together"}, (near(TOGETHER, "together"),))


def test_one_token_written_twice_is_one_token() -> None:
    found = added('A: hostColocation("t"); B: hostColocation("t")', cluster(nodes(1)))
    assert (len(found.labels), len(found.near.required)) == (1, 1)


@pytest.mark.parametrize(
    ("placement", "labels"),
    [
        pytest.param(TWO, ["a", "b", "group"], id="both tokens"),
        pytest.param('hostColocation("b")', ["b", "group"], id="one token of the group"),
        pytest.param('hostColocation("c")', ["c"], id="a token of no group"),
    ],
)
def test_tokens_that_meet_are_one_group_with_one_term(placement: str, labels: list[str]) -> None:
    found = added(placement, cluster(nodes(1), jobs=[job({"parallel-0": TWO, "parallel-1": placement})]))
    assert sorted(found.labels.values()) == labels
    key, value = group_label(("a", "b") if "group" in labels else ("c",))
    assert (found.labels[key], found.near.required) == (value, (near(key, value),))


def test_the_label_of_a_group_hashes_its_tokens_line_by_line() -> None:
    assert group_label(("a", "b")) == (keys.COLOCATION + keys.digest("a\nb"), "group")


def test_a_preference_is_a_weighted_term() -> None:
    found = added('hostColocation("t")', cluster(nodes(1)), {keys.PREFERRED: "hostColocation"})
    assert ([term.weight for term in found.near.preferred], found.near.required) == ([100], ())


def test_preferred_tokens_need_no_job_object() -> None:
    found = added(TWO, cluster(nodes(1)), {keys.PREFERRED: "hostColocation"})
    assert len(found.near.preferred) == 1


def test_a_preference_that_cannot_be_met_never_refuses() -> None:
    full = cluster([node("node-a", cpu=1000), node("node-b")], pods=[member("node-a", requests={"cpu": 1000})])
    wish = pod('hostColocation("t")', requests={"cpu": "1"}, annotations={keys.PREFERRED: "hostColocation"})
    found = decided(wish, full)
    warning = 'hostColocation("t") is preferred, but no node that can run this pod meets it'
    assert (found.refused, found.warnings) == (False, (warning,))


@pytest.mark.parametrize(
    ("pods", "candidates"),
    [
        pytest.param([], 0b111, id="nobody yet"),
        pytest.param([member("node-b")], 0b010, id="where the others are"),
        pytest.param([member("node-b", "u")], 0b111, id="another token"),
        pytest.param([bound_pod("node-b", job="other", labels=dict([token_label("t")]))], 0b111, id="another job"),
        pytest.param(
            [bound_pod("node-b", namespace="other", labels=dict([token_label("t")]))], 0b111, id="another namespace"
        ),
        pytest.param(
            [bound_pod("node-b", labels=dict([token_label("t")]), terminating=True)], 0b111, id="one that is leaving"
        ),
    ],
)
def test_the_only_candidates_are_the_nodes_of_the_group(pods: list[PodInfo], candidates: int) -> None:
    verdict = decided(pod('hostColocation("t")'), cluster(nodes(3), pods=pods)).verdict
    assert verdict
    assert verdict.candidates == candidates


def test_pods_of_any_token_of_the_group_count() -> None:
    model = job({"parallel-0": TWO})
    inventory = cluster(nodes(2), pods=[member("node-b", "a")], jobs=[model])
    verdict = decided(pod('hostColocation("b")'), inventory).verdict
    assert verdict
    assert verdict.candidates == 0b10
