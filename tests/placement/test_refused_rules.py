"""Clauses of refusals belong to rules, of which there are few."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import cluster, nodes, pod, typed
from tests.docs.pages import ROOT
from webhook.placement.decision.decision import decide
from webhook.placement.decision.refused_rules import rule_of, rules_of, rules_of_decision
from webhook.placement.inventory.policy import Policy
from webhook.placement.request.world import World
from webhook.placement.text.rule import Rule

CLAUSES = {
    'host("worker-1")': Rule.HOST,
    "host(MyPool)": Rule.POOL,
    "host(MyPool[3])": Rule.POOL,
    "HostPool P (2 hosts, Exclusive)": Rule.POOL,
    'hostColocation("t")': Rule.COLOCATION,
    'hostExlocation("t")': Rule.EXLOCATION,
    "hostIsolation": Rule.ISOLATION,
    "hardware nvidia.com/gpu 1": Rule.HARDWARE,
    "mapping disktype In [ssd]": Rule.MAPPING,
    "uniform all-same-node": Rule.MAPPING,
    "run-with app In [web]": Rule.MAPPING,
    "run-apart-from app In [web]": Rule.MAPPING,
    "kubernetes.bind.worker.to.cpu": Rule.MAPPING,
    "requests cpu 4": Rule.REQUESTS,
    "cpu 2, memory 1Gi (resources of job parallel)": Rule.REQUESTS,
    "spec.nodeName node-a": Rule.OWN_NODES,
    "nodeSelector disktype=ssd": Rule.OWN_NODES,
    "the pod's nodeSelector": Rule.OWN_NODES,
    "the pod's node affinity": Rule.OWN_NODES,
    "the pod's own anti-affinity on kubernetes.io/hostname": Rule.OWN_SPREAD,
    "topologySpread zone (maxSkew 1)": Rule.OWN_SPREAD,
    "hostPort 80": Rule.OWN_SPREAD,
    "replicas 8": Rule.REPLICAS,
    "parallelism 8": Rule.REPLICAS,
    "something else": Rule.OTHER,
}


@pytest.mark.parametrize(("clause", "rule"), CLAUSES.items(), ids=CLAUSES)
def test_a_clause_is_of_the_rule_that_its_beginning_says(clause: str, rule: Rule) -> None:
    assert rule_of(clause) is rule


def test_every_clause_that_the_examples_and_pages_are_refused_by_is_of_a_rule() -> None:
    """First lines of refusals that name one clause: what stands before ``cannot hold``."""
    expected = "".join(path.read_text() for path in sorted((ROOT / "examples").glob("*.expected.yaml")))
    pages = "".join(path.read_text() for path in sorted((ROOT / "docs").glob("*.md")))
    clauses = set(
        re.findall(r"^ *(?:message: )?['\"]?([a-zA-Z][^,\n]*?) cannot hold: \d", expected + pages, re.MULTILINE)
    )
    assert len(clauses) > 8
    assert {clause for clause in clauses if rule_of(clause.rpartition(": ")[2]) is Rule.OTHER} == set()


def test_several_clauses_of_one_rule_count_once() -> None:
    assert rules_of(['host("a")', "requests cpu 4", 'host("b")']) == (Rule.HOST, Rule.REQUESTS)


def test_without_a_clause_it_is_the_nodes() -> None:
    assert rules_of([]) == (Rule.NODES,)


@given(st.lists(st.text()))
def test_whatever_a_user_writes_there_are_few_rules(clauses: list[str]) -> None:
    assert set(rules_of(clauses)) <= set(Rule)


@pytest.mark.parametrize(
    ("placement", "rules"),
    [
        ('host("node-a")', ()),
        ('host("gone")', (Rule.HOST,)),
        ("host(", (Rule.MISTAKE,)),
        ("host(Unknown)", (Rule.STATE,)),
    ],
)
def test_a_decision_has_the_rules_of_its_refusal(placement: str, rules: tuple[Rule, ...]) -> None:
    world = World(cluster(nodes(2)), Policy())
    assert rules_of_decision(decide(typed(pod(placement)), "default", world)) == rules
