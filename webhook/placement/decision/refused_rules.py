"""The rules (:class:`Rule`) of a refusal: of clauses by how their texts begin, of problems by whose fault they are.

Clauses are texts of users, of which there is any number; their beginnings are words of this program.
"""

from collections.abc import Iterable
from typing import Final

from webhook.placement.decision.decision import Decision
from webhook.placement.provision.grants import BINDING
from webhook.placement.request.pod_text import AFFINITY, ANTI_AFFINITY, NODE_NAME, REQUESTS, SELECTOR
from webhook.placement.spl.clauses import ClauseName
from webhook.placement.text import keys
from webhook.placement.text.rule import OF_FAULT, Rule

_BEGINNINGS: Final = (
    (f'{ClauseName.HOST.value}("', Rule.HOST),
    (f"{ClauseName.HOST.value}(", Rule.POOL),
    (ClauseName.COLOCATION.value, Rule.COLOCATION),
    (ClauseName.EXLOCATION.value, Rule.EXLOCATION),
    (ClauseName.ISOLATION.value, Rule.ISOLATION),
    ("HostPool ", Rule.POOL),
    ("hardware ", Rule.HARDWARE),
    ("mapping ", Rule.MAPPING),
    ("uniform ", Rule.MAPPING),
    (keys.RUN_WITH.removeprefix(keys.PREFIX), Rule.MAPPING),
    (keys.RUN_APART_FROM.removeprefix(keys.PREFIX), Rule.MAPPING),
    (BINDING, Rule.MAPPING),
    (REQUESTS, Rule.REQUESTS),
    (NODE_NAME, Rule.OWN_NODES),
    (SELECTOR, Rule.OWN_NODES),
    ("nodeSelector ", Rule.OWN_NODES),
    (AFFINITY, Rule.OWN_NODES),
    (ANTI_AFFINITY, Rule.OWN_SPREAD),
    ("topologySpread ", Rule.OWN_SPREAD),
    ("hostPort ", Rule.OWN_SPREAD),
    ("replicas ", Rule.REPLICAS),
    ("parallelism ", Rule.REPLICAS),
)
"""How clauses begin. What a Job states for its elements (``cpu 2 (the resources of Job j)``) ends in a parenthesis."""


def rule_of(clause: str) -> Rule:
    """The rule of one clause, by the text that refusals name it by."""
    for beginning, rule in _BEGINNINGS:
        if clause.startswith(beginning):
            return rule
    return Rule.REQUESTS if clause.endswith(")") else Rule.OTHER


def rules_of(clauses: Iterable[str]) -> tuple[Rule, ...]:
    """The rules of clauses that cannot hold together, each once; ``nodes`` where there is no clause."""
    return tuple(dict.fromkeys(map(rule_of, clauses))) or (Rule.NODES,)


def rules_of_decision(decision: Decision) -> tuple[Rule, ...]:
    """The rules by which the pod is refused; none for one that is admitted."""
    if not decision.refused:
        return ()
    if decision.problems or decision.refusal is None:
        return (OF_FAULT[decision.fault],)
    return rules_of(decision.refusal.clauses)
