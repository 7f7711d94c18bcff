"""The pod's own required podAffinity beside a term of ours: the scheduler wants one neighbour that meets both."""

import pytest

from tests.builders import Json, cluster, decided, nodes, pod
from tests.placement.final_pods import finished
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
ONE = cluster(nodes(1))
FIELD = f"spec.affinity.podAffinity.{REQUIRED}"
WEB: Json = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}

NEAR: dict[str, tuple[str | None, Json, str]] = {
    "hostColocation": ('hostColocation("t")', {}, 'hostColocation("t")'),
    "all-same-node": (None, {keys.UNIFORM: "all-same-node"}, "uniform all-same-node"),
    "run-with": (None, {keys.RUN_WITH: "app=db"}, "run-with app=db"),
}


def beside(placement: str | None, annotations: Json, *terms: Json, field: str = REQUIRED) -> Json:
    """A pod with these terms of pod affinity of its own."""
    return pod(placement, annotations=annotations, affinity={"podAffinity": {field: list(terms)}})


@pytest.mark.parametrize("term", [WEB, {"topologyKey": "zone"}, WEB | {"topologyKey": "zone"}], ids=str)
@pytest.mark.parametrize(("placement", "annotations", "clause"), NEAR.values(), ids=NEAR)
def test_it_cannot_be_required_beside_ours(placement: str | None, annotations: Json, clause: str, term: Json) -> None:
    assert decided(beside(placement, annotations, term), ONE).message == (
        f"{FIELD}: {clause} and the pod's own podAffinity cannot both be required: "
        "Kubernetes looks for one pod that meets both at once; keep one"
    )


def test_with_two_of_ours_all_are_named() -> None:
    found = beside('hostColocation("t")', {keys.RUN_WITH: "app=db"}, WEB)
    assert decided(found, ONE).message == (
        f'{FIELD}: hostColocation("t"), run-with app=db and the pod\'s own podAffinity cannot all be required: '
        "Kubernetes looks for one pod that meets all of them at once; keep one"
    )


@pytest.mark.parametrize(("placement", "annotations", "_clause"), NEAR.values(), ids=NEAR)
def test_what_the_webhook_added_itself_is_not_the_pods_own(
    placement: str | None, annotations: Json, _clause: str
) -> None:
    again = finished(pod(placement, annotations=annotations), ONE, Policy())
    assert again["spec"]["affinity"]["podAffinity"][REQUIRED]
    assert decided(again, ONE).message == ""


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(beside('hostExlocation("t")', {}, WEB), id="ours keeps pods away"),
        pytest.param(beside('hostColocation("t")', {keys.PREFERRED: "hostColocation"}, WEB), id="ours is preferred"),
        pytest.param(
            beside('hostColocation("t")', {}, {"weight": 1, "podAffinityTerm": WEB}, field=PREFERRED),
            id="its own is preferred",
        ),
        pytest.param(beside('hostColocation("t")', {}), id="there is none"),
        pytest.param(beside(None, {keys.RUN_APART_FROM: "app=db"}, WEB), id="company to keep away from"),
    ],
)
def test_everything_else_goes_together(found: Json) -> None:
    assert not decided(found, ONE).refused
