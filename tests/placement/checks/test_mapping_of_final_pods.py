"""Worker mapping of finished pods, and of pods whose answers are kept."""

from collections.abc import Callable

import pytest

from tests.builders import NAMESPACE, Json, asked, bound_pod, cluster, nodes, pod, typed
from tests.placement.final_pods import finished, problems
from tests.placement.mapping_annotations import SAME, SEPARATE, WORKER, mapping
from webhook.placement.checks.verification import undone
from webhook.placement.inventory.policy import Policy
from webhook.placement.request.memo import Key, Memo, key_of
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault, Problem

TWO = cluster(nodes(2))
NAMED = mapping("kubernetes.io/hostname", "Exists")


def without(kind: str) -> Callable[[Json], None]:
    """Something that takes one kind of affinity out of the pod."""
    return lambda made: made["spec"]["affinity"].pop(kind)


UNDONE: dict[str, tuple[str | None, dict[str, str], Callable[[Json], None], str, str]] = {
    "the term of a mapping": (None, NAMED, without("nodeAffinity"), "spec", "nodeAffinity"),
    "the label of a worker": (
        None,
        SAME,
        lambda made: made["metadata"]["labels"].pop(keys.WORKER),
        "metadata",
        "labels",
    ),
    "the term near the workers": (None, SAME, without("podAffinity"), "spec", "podAffinity"),
    "the term away from the workers": (None, SEPARATE, without("podAntiAffinity"), "spec", "podAntiAffinity"),
    "the term near others": (None, {keys.RUN_WITH: "a"}, without("podAffinity"), "spec", "podAffinity"),
    "the term away from others": (
        None,
        {keys.RUN_APART_FROM: "a"},
        without("podAntiAffinity"),
        "spec",
        "podAntiAffinity",
    ),
}


@pytest.mark.parametrize(("placement", "annotations", "undo", "field", "kind"), UNDONE.values(), ids=UNDONE.keys())
def test_what_a_later_webhook_undid_is_named(
    placement: str | None, annotations: dict[str, str], undo: Callable[[Json], None], field: str, kind: str
) -> None:
    made = finished(pod(placement, annotations=annotations), TWO, Policy())
    assert problems(undone, made, TWO, Policy()) == []
    undo(made)
    message = f"lacks {kind} that its clauses require: something removed what the placement webhook had added"
    assert problems(undone, made, TWO, Policy()) == [Problem(field, message, fault=Fault.FORBIDDEN)]


def key(found: Json) -> Key:
    made = key_of(typed(found), NAMESPACE, TWO)
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [(NAMED, "answer"), (SAME, None), (SEPARATE, None), ({keys.UNIFORM: "none"}, "answer")],
    ids=["mapped by nodes", "together", "apart", "nothing"],
)
def test_another_worker_matters_only_to_one_that_is_mapped_uniformly(
    annotations: dict[str, str], expected: str | None
) -> None:
    memo, inventory, found = Memo[str](), cluster(nodes(1)), pod(annotations=annotations)
    memo.keep(World(inventory, Policy()), key(found), asked(found, inventory), "answer")
    inventory.set_pod(bound_pod(labels=WORKER))
    assert memo.find(inventory, key(found)) == expected


def test_what_is_mapped_is_part_of_the_key() -> None:
    assert len({key(pod(annotations=said)) for said in (NAMED, SAME, SEPARATE, {}, {keys.RUN_WITH: "a"})}) == 5
