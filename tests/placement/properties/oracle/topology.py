"""Topology domains, counted one by one: a pod's own anti-affinity, and its topology spread constraints.

Written from the documents of Kubernetes and of this product (``docs/spread.md``), not from its code.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.placement.properties.clusters import TEAM, Json
from tests.placement.properties.oracle.selectors import selector_holds
from tests.placement.properties.random_choices import RandomChoices
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo

PREFIX = "streams.ibm.com/"
HOSTNAME = "kubernetes.io/hostname"
KEYS = ("zone", HOSTNAME, "zone", "cores", "nowhere")

SELECTORS: tuple[Any, ...] = (
    {"matchLabels": {f"{PREFIX}job": "j"}},
    {"matchLabels": {f"{PREFIX}job": "j"}},
    {"matchLabels": {f"{PREFIX}job": "j", f"{PREFIX}pe": "a"}},
    {"matchLabels": {f"{PREFIX}job": "j"}, "matchExpressions": [{"key": f"{PREFIX}worker", "operator": "Exists"}]},
    {"matchExpressions": [{"key": f"{PREFIX}job", "operator": "In", "values": ["j"]}]},
    {"matchExpressions": [{"key": f"{PREFIX}job", "operator": "Exists"}]},
    {"matchLabels": {"app": "web"}},
    {},
    None,
)
"""Selectors over pods: within the job, beyond it, of everybody and of nobody."""


def spread(choices: RandomChoices) -> list[Json]:
    """Spread constraints of a pod, one of which keeps it off nodes."""
    hard = _constraint(choices.part(12), choices.pick(KEYS))
    soft = {**_constraint(choices.part(12), choices.pick(KEYS)), "whenUnsatisfiable": "ScheduleAnyway"}
    return choices.pick([[hard], [hard], [hard, soft], [soft, hard], [soft]])


def _constraint(choices: RandomChoices, key: str) -> Json:
    found: Json = {"maxSkew": choices.pick([1, 1, 2]), "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    selector = choices.pick(SELECTORS)
    if selector is not None:
        found["labelSelector"] = selector
        if choices.chance(2):
            found["matchLabelKeys"] = choices.some([f"{PREFIX}pe", f"{PREFIX}job", "app"], 2, 1)
    if choices.chance(2):
        found["minDomains"] = choices.pick([1, 2, 3])
    for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if choices.chance(4):
            found[policy] = choices.pick(["Honor", "Ignore"])
    return found


def repelling(choices: RandomChoices) -> Json:
    """A term of an anti-affinity that may be about the pod itself."""
    found: Json = {"topologyKey": choices.pick(KEYS)}
    selector = choices.pick(SELECTORS)
    if selector is not None:
        found["labelSelector"] = selector
    if choices.chance(2):
        found["namespaces"] = choices.pick([[TEAM], ["zz-secret-tenant"], []])
    if choices.chance(1):
        found["namespaceSelector"] = choices.pick([{}, {"matchLabels": {"team": "x"}}])
    return found


def repels_itself(term: Json, labels: Mapping[str, str]) -> bool:
    """Whether the term matches pods with these labels in the team's namespace."""
    selector, spaces, among = term.get("labelSelector"), term.get("namespaces"), term.get("namespaceSelector")
    here = TEAM in (spaces or ()) or among == {} or (not spaces and among is None)
    return here and selector is not None and selector_holds(selector, labels)


class Domains:
    """One hard spread constraint, and what it counts by its domains, if that is ``known``.

    ``matched`` tells whether the pod itself counts. Where what runs is not known, nothing counts, but too few domains.
    """

    def __init__(self, said: Json, labels: Mapping[str, str], job: str, job_pods: Sequence[PodInfo]) -> None:
        self.key: str = said["topologyKey"]
        self.skew: int = said["maxSkew"]
        self.least: int = said.get("minDomains", 1)
        self.said = said
        selector = said.get("labelSelector")
        needs = [(key, "In", [value]) for key, value in ((selector or {}).get("matchLabels") or {}).items()]
        needs += [
            (need["key"], need["operator"], need.get("values", []))
            for need in (selector or {}).get("matchExpressions", [])
        ]
        needs += [(key, "In", [labels[key]]) for key in said.get("matchLabelKeys", []) if key in labels]
        selects = {"matchExpressions": [{"key": key, "operator": how, "values": to} for key, how, to in needs]}
        self.matched = selector is not None and bool(needs) and selector_holds(selects, labels)
        ours = all(key.startswith(PREFIX) for key, _, _ in needs) and (f"{PREFIX}job", "In", [job]) in needs
        self.known = selector is None or not needs or (bool(job) and ours)
        counts = bool(needs) and ours
        self.pods = [pod for pod in job_pods if counts and selector_holds(selects, _labels(pod))]
        self.counts: dict[str, int] = {}

    def count(self, nodes: Sequence[Node], required: Callable[[Node], bool], open_: Callable[[Node], bool]) -> None:
        """Count pods by domain on the nodes that the policies include."""
        for node in nodes:
            if self.said.get("nodeAffinityPolicy", "Honor") == "Honor" and not required(node):
                continue
            if self.said.get("nodeTaintsPolicy", "Ignore") == "Honor" and not open_(node):
                continue
            domain = node.labels[self.key]
            here = [pod for pod in self.pods if pod.node == node.name]
            self.counts[domain] = self.counts.get(domain, 0) + len(here)

    @property
    def fewest(self) -> int:
        """The global minimum, by ``minDomains``."""
        return 0 if len(self.counts) < self.least else min(self.counts.values(), default=0)

    def takes(self, node: Node) -> bool:
        """Whether one more of the pods may go there now."""
        if self.key not in node.labels:
            return False
        if not self.known and len(self.counts) >= self.least:
            return True
        return self.counts.get(node.labels[self.key], 0) + self.matched - self.fewest <= self.skew

    def place(self, node: Node) -> None:
        """One of the pods goes there."""
        domain = node.labels[self.key]
        if self.matched:
            self.counts[domain] = self.counts.get(domain, 0) + 1


def _labels(pod: PodInfo) -> dict[str, str]:
    return {f"{PREFIX}job": pod.job, f"{PREFIX}pe": pod.pe, **pod.labels}
