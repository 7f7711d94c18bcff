"""A preference never refuses: a pod whose required clauses alone are admitted is admitted with preferences, too.

The exceptions are what no preference can be read from, which is syntax, and a live pod that requires to be apart from
the label which the preference gives to the pod (``docs/preferences.md``).
"""

import copy
import re
from collections.abc import Collection

from hypothesis import assume, event, given
from hypothesis import strategies as st

from tests.answers import response
from tests.placement.properties import decision_core
from tests.placement.properties.clusters import TEAM, Json
from tests.placement.properties.generated_pods import PREFERABLE, requested
from tests.placement.properties.oracle.mapping import LIST, SINGLE, SWITCH, UNIFORM
from tests.placement.properties.pods.test_own_output import Admission, admissions, owned, with_sidecar
from tests.placement.properties.random_choices import RandomChoices, drawn, examples
from tests.placement.properties.strategies import PREFIX
from webhook.placement.constraints.pods.pod_terms import PodsAntiAffinity
from webhook.placement.decision.decision import decide
from webhook.placement.request.world import World
from webhook.placement.text import keys

WISHES = (
    "host(Nope)", "host(P)", "host(Q)", "host(P[0])", "host(P[9])", "host(R[0])", 'host("gone")', 'host("10.0.0.99")',
    'host("10.9.9.9")', 'host("zz-secret-0")', 'hostColocation("t")', 'hostColocation("u")', 'hostExlocation("x")',
    "Op8: hostIsolation", "host($default)",
)  # fmt: skip
"""Clauses that a pod may come to prefer: also of pools and hosts that do not exist."""


def placement_of(pod: Json) -> str:
    """The placement text of the pod."""
    text: str = (pod["metadata"].get("annotations") or {}).get(keys.PLACEMENT, "")
    return text


def name_of(clause: str) -> str:
    """The name of a clause with or without its operator."""
    return re.sub(r"^Op\d+: ", "", clause).partition("(")[0]


def annotated(pod: Json, **said: str | None) -> Json:
    """The pod with these annotations of ours; without those that are ``None``."""
    found = copy.deepcopy(pod)
    annotations = {**(found["metadata"].get("annotations") or {})}
    annotations |= {PREFIX + key: text for key, text in said.items() if text is not None}
    gone = [PREFIX + key for key, text in said.items() if text is None]
    found["metadata"]["annotations"] = {key: text for key, text in annotations.items() if key not in gone}
    return found


def of_element(pod: Json) -> Json:
    """The pod with the labels of a job and an element, without which clauses about other pods mean nothing."""
    found = copy.deepcopy(pod)
    found["metadata"]["labels"] = {keys.JOB: "j", keys.PE: "a", **(found["metadata"].get("labels") or {})}
    return found


def wishing(pod: Json, soft: Collection[str], more: Collection[str]) -> Json:
    """The pod that prefers what it says under these names, and ``more`` clauses of these names."""
    clauses = [clause for clause in (*placement_of(pod).split("; "), *more) if clause]
    return annotated(pod, placement="; ".join(clauses) or None, preferred=",".join(sorted(soft)) or None)


def requiring(pod: Json, soft: Collection[str]) -> Json:
    """The pod without what it says under these names."""
    clauses = [clause for clause in placement_of(pod).split("; ") if clause and name_of(clause) not in soft]
    found = annotated(pod, placement="; ".join(clauses) or None, preferred=None)
    gone = {*([SWITCH, LIST, *SINGLE] if "mapping" in soft else []), *([UNIFORM] if "uniform" in soft else [])}
    annotations = found["metadata"]["annotations"]
    found["metadata"]["annotations"] = {key: text for key, text in annotations.items() if key not in gone}
    return found


def wishes() -> st.SearchStrategy[tuple[list[str], list[str]]]:
    """Names of what is only preferred, and more clauses of these names."""

    def make(choices: RandomChoices) -> tuple[list[str], list[str]]:
        soft = choices.some(PREFERABLE, 4, 1)
        able = [clause for clause in WISHES if name_of(clause) in soft]
        more = [choices.pick(able) for _ in range(choices.face(3))] if able else []
        return soft, [clause if "Op8" in clause else f"Op{7 + at}: {clause}" for at, clause in enumerate(more)]

    return drawn(12, make)


def kept_away(pod: Json, admission: Admission) -> bool:
    """Whether live pods require to be apart from a label that the pod gets by a preference."""
    world = World(admission.inventory, admission.policy, patient=True)
    verdict = decide(decision_core.read(pod), TEAM, world).verdict
    return verdict is not None and any(isinstance(judged.constraint, PodsAntiAffinity) for judged in verdict.hard)


@given(admissions(), requested(), wishes())
@examples(120)
def test_a_preference_never_refuses(
    made: tuple[Admission, RandomChoices], pod: Json, wished: tuple[list[str], list[str]]
) -> None:
    admission, choices = made
    soft, more = wished
    submitted = owned(choices, of_element(pod), admission)
    hard = admission.review(requiring(submitted, soft))
    assume(response(hard)["allowed"])
    asking = wishing(submitted, soft, more)
    answer = admission.review(asking)
    as_well = response(answer)["allowed"] and bool(answer.waits) <= bool(hard.waits)
    event("as well" if as_well else "kept away")
    assert as_well or kept_away(asking, admission), response(answer)


def deployed(pod: Json, replicas: int) -> Json:
    """A Deployment of such pods."""
    labels = {"app": "web", **(pod["metadata"].get("labels") or {})}
    metadata = {"labels": labels, "annotations": pod["metadata"].get("annotations") or {}}
    spec = {"restartPolicy": "Always", **pod["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": TEAM},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": metadata, "spec": spec},
        },
    }


@given(admissions(), requested(), wishes(), st.integers(1, 4))
@examples(60)
def test_a_preference_of_a_workload_never_refuses(
    made: tuple[Admission, RandomChoices], pod: Json, wished: tuple[list[str], list[str]], replicas: int
) -> None:
    admission, choices = made
    soft, more = wished
    submitted = with_sidecar(choices, of_element(pod))
    hard, asking = requiring(submitted, soft), wishing(submitted, soft, more)
    assume(admission.validates(deployed(hard, replicas)))
    event("reviewed")
    assert admission.validates(deployed(asking, replicas)) or kept_away(asking, admission)
