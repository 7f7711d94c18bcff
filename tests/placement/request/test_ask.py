"""What a pod asks for, and everything that is wrong with its words."""

from typing import Any

import pytest

from tests.builders import NAMESPACE, asked, cluster, decided, nodes, pod, pool, typed
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Pod
from webhook.placement.request.ask import read
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import ClauseName
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault, render

ONE = cluster(nodes(1))


def problems(policy: Policy | None = None, **tweaks: Any) -> str:
    """The text of what is wrong with a pod."""
    _, found = read(typed(pod(**tweaks)), NAMESPACE, World(ONE, policy or Policy()))
    return render(found) if found else ""


def said(key: str, value: str) -> dict[str, dict[str, str]]:
    """An annotation, as a tweak."""
    return {"annotations": {key: value}}


def test_clauses_are_found_by_their_name() -> None:
    ask = asked(pod('host("node-a"), hostExlocation("a"), hostExlocation("b")'), ONE)
    assert [str(clause) for clause in ask.of(ClauseName.EXLOCATION)] == ['hostExlocation("a")', 'hostExlocation("b")']


def test_job_and_element_are_labels() -> None:
    ask = asked(pod(), ONE)
    assert (ask.job, ask.pe, ask.namespace) == ("parallel", "parallel-0", "default")


@pytest.mark.parametrize("found", [Pod(), typed({"metadata": {}, "spec": {}}), typed({"metadata": None, "spec": None})])
def test_a_pod_that_says_nothing_asks_for_nothing(found: Pod) -> None:
    ask, wrong = read(found, NAMESPACE, World(ONE, Policy()))
    assert (ask.job, ask.pe, ask.clauses, ask.requests, wrong) == ("", "", (), {"pods": 1}, ())


@pytest.mark.parametrize("name", ["applicationName", "applicationScope", "contentId", "redisConfig", "injected"])
def test_annotations_of_others_and_our_own_are_passed_through(name: str) -> None:
    assert problems(**said(keys.PREFIX + name, "anything")) == ""


@pytest.mark.parametrize("key", ["example.com/placement", "placement", "streams.ibm.com"])
def test_annotations_that_are_not_ours_are_passed_through(key: str) -> None:
    assert problems(**said(key, "anything")) == ""


UNKNOWN = {
    "placment": "unknown annotation, did you mean streams.ibm.com/placement?",
    "Placement": "unknown annotation, did you mean streams.ibm.com/placement?",
    "host-bindings": "unknown annotation, did you mean streams.ibm.com/host-binding?",
    "prefered": "unknown annotation, did you mean streams.ibm.com/preferred?",
    "zzz": "unknown annotation",
    "": "unknown annotation",
    "x" * 100: "unknown annotation",
}


@pytest.mark.parametrize(("name", "expected"), UNKNOWN.items())
def test_an_unknown_annotation_is_refused_with_the_nearest_known_one(name: str, expected: str) -> None:
    assert problems(**said(keys.PREFIX + name, "x")) == f"metadata.annotations[streams.ibm.com/{name}]: {expected}"


@pytest.mark.parametrize(("name", "expected"), UNKNOWN.items())
def test_an_installation_may_only_warn_of_unknown_annotations(name: str, expected: str) -> None:
    found = decided(pod(**said(keys.PREFIX + name, "x")), ONE, Policy(unknown_annotations="warn"))
    assert (found.refused, found.warnings) == (
        False,
        (f"metadata.annotations[streams.ibm.com/{name}]: {expected}",),
    )


CHOICES = "host, hostColocation, hostExlocation, hostIsolation, mapping, uniform"


@pytest.mark.parametrize(
    ("value", "soft"),
    [
        pytest.param("host", {"host"}, id="one"),
        pytest.param("host,hostIsolation", {"host", "hostIsolation"}, id="two"),
        pytest.param(" host , host ", {"host"}, id="blanks and repetition"),
        pytest.param(CHOICES, set(CHOICES.split(", ")), id="all"),
    ],
)
def test_preferred_is_a_list_of_constraints(value: str, soft: set[str]) -> None:
    assert asked(pod(**said(keys.PREFERRED, value)), ONE).soft == soft


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param("", '""', id="empty"),
        pytest.param(" ", '""', id="blank"),
        pytest.param("host,", '""', id="comma at the end"),
        pytest.param("Host", '"Host"', id="capital"),
        pytest.param("host;hostIsolation", '"host;hostIsolation"', id="semicolon"),
        pytest.param('["host"]', r'"[\"host\"]"', id="JSON"),
        pytest.param("x" * 100, f'"{"x" * 80}..."', id="endless"),
        pytest.param("\u202ehost", r'"\u202ehost"', id="right-to-left override"),
    ],
)
def test_preferred_names_only_constraints_there_are(value: str, shown: str) -> None:
    expected = f"metadata.annotations[streams.ibm.com/preferred]: {shown} is not one of {CHOICES}"
    assert problems(**said(keys.PREFERRED, value)) == expected


def test_each_wrong_preference_is_named_once_and_ten_at_most() -> None:
    text = ",".join(f"x{at % 20}" for at in range(100))
    _, found = read(typed(pod(**said(keys.PREFERRED, text))), NAMESPACE, World(ONE, Policy()))
    assert [problem.message.partition(" ")[0] for problem in found] == [f'"x{at}"' for at in range(10)]


@pytest.mark.parametrize("value", ["", "nodename", "NodeName", "auto ", "x\x1b"])
def test_host_binding_is_one_of_three(value: str) -> None:
    shown = value.replace("\x1b", r"\x1b")
    assert problems(**said(keys.HOST_BINDING, value)) == (
        f'metadata.annotations[streams.ibm.com/host-binding]: "{shown}" is not one of auto, nodeName, nodeAffinity'
    )


def test_a_wrong_host_binding_counts_as_none() -> None:
    assert (
        asked(pod(**said(keys.HOST_BINDING, "x")), ONE, Policy(host_binding="nodeAffinity")).binding == "nodeAffinity"
    )


@pytest.mark.parametrize(
    "clause", ['partitionColocation("t")', 'partitionExlocation("t")', "partitionIsolation"], ids=str
)
def test_clauses_for_fusion_have_no_effect_but_a_warning(clause: str) -> None:
    found = decided(pod(clause), ONE)
    assert found.additions
    assert (found.additions.missing, found.warnings) == (
        (),
        (f"{clause} controls fusion, which is complete: it has no effect on the pod",),
    )


def test_all_problems_of_all_annotations_come_at_once() -> None:
    found = pod(
        'host("a"), host("b")',
        annotations={keys.PREFERRED: "x", keys.HOST_BINDING: "y", f"{keys.PREFIX}z": ""},
        containers=[{"name": "c", "resources": {"limits": {"cpu": "-1"}}}],
        tolerations=[{"key": keys.EXCLUSIVE, "operator": "Exists"}],
    )
    assert decided(found, ONE).message == (
        "metadata.annotations[streams.ibm.com/z]: unknown annotation\n"
        "metadata.annotations[streams.ibm.com/placement]: "
        'the processing element has host("a") and host("b"): SPL allows one host per operator\n'
        '  host("a"), host("b")\n'
        "             ^\n"
        f'metadata.annotations[streams.ibm.com/preferred]: "x" is not one of {CHOICES}\n'
        'metadata.annotations[streams.ibm.com/host-binding]: "y" is not one of auto, nodeName, nodeAffinity\n'
        'spec.containers[0].resources.limits[cpu]: "-1" is not a Kubernetes quantity\n'
        "spec.tolerations[0]: "
        "only the webhook tolerates streams.ibm.com/exclusive: name the exclusive HostPool with host(...) instead"
    )


@pytest.mark.parametrize(
    "value",
    ["", " ", '""', "null", "[]", "host(", 'host("a', "host()", "hostColocaton", 'host("a") host("b")'],
    ids=repr,
)
def test_a_placement_that_is_none_is_the_pods_own_fault(value: str) -> None:
    found = decided(pod(value), ONE)
    assert found.message.startswith("metadata.annotations[streams.ibm.com/placement]: ")
    assert (found.refused, found.fault) == (True, Fault.INVALID)


def test_a_preferred_constraint_contradicts_nothing() -> None:
    wish = pod('hostColocation("t"), hostExlocation("t")', **said(keys.PREFERRED, "hostColocation"))
    assert not decided(wish, ONE).refused


def test_pools_come_with_the_clause_that_names_them() -> None:
    ask = asked(pod("A: host(P); B: host($default); C: host(Q)"), cluster(pools=[pool("P"), pool("Q")]))
    assert [(str(clause), found.spl_name) for clause, found in ask.pools] == [("host(P)", "P"), ("host(Q)", "Q")]
