"""Worker mapping and the clauses of one pod that cannot be kept together."""

import pytest

from tests.builders import cluster, decided, nodes, pod
from tests.placement.mapping_annotations import SAME, SEPARATE, path
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault

UNIFORM, WITH = path(keys.UNIFORM), path(keys.RUN_WITH)
DATABASE = {keys.RUN_WITH: "app=db"}
ONE = cluster(nodes(1))
LOOKS = "Kubernetes looks for one pod that meets"

REFUSED = {
    "together and apart": (
        'hostExlocation("t"); A: hostExlocation("t")',
        SAME,
        f'{UNIFORM}: uniform all-same-node and hostExlocation("t") contradict each other',
    ),
    "together and alone": (
        "hostIsolation",
        SAME,
        f"{UNIFORM}: uniform all-same-node and hostIsolation contradict each other",
    ),
    "apart and together": (
        'hostColocation("t")',
        SEPARATE,
        f'{UNIFORM}: uniform all-separate-nodes and hostColocation("t") contradict each other',
    ),
    "together, apart and alone": (
        'hostExlocation("t"), hostIsolation',
        SAME,
        (
            f'{UNIFORM}: uniform all-same-node and hostExlocation("t") contradict each other\n'
            f"{UNIFORM}: uniform all-same-node and hostIsolation contradict each other"
        ),
    ),
    "together in two ways": (
        'hostColocation("t")',
        SAME,
        (
            f'{UNIFORM}: hostColocation("t") and uniform all-same-node cannot both be required: '
            f"{LOOKS} both at once; keep one"
        ),
    ),
    "with the workers and with others": (
        None,
        SAME | DATABASE,
        f"{WITH}: uniform all-same-node and run-with app=db cannot both be required: {LOOKS} both at once; keep one",
    ),
    "together in all ways": (
        'hostColocation("t")',
        SAME | DATABASE,
        (
            f'{WITH}: hostColocation("t"), uniform all-same-node and run-with app=db cannot all be required: '
            f"{LOOKS} all of them at once; keep one"
        ),
    ),
}


@pytest.mark.parametrize(("placement", "annotations", "expected"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_kept_is_refused(placement: str | None, annotations: dict[str, str], expected: str) -> None:
    found = decided(pod(placement, annotations=annotations), ONE)
    assert (found.message, found.fault) == (expected, Fault.INVALID)


ADMITTED = {
    "apart in two ways": ('hostExlocation("t")', SEPARATE),
    "apart and alone": ("hostIsolation", SEPARATE),
    "apart, beside others": (None, SEPARATE | DATABASE),
    "away from others, with the workers": (None, SAME | {keys.RUN_APART_FROM: "app=db"}),
    "one of them only preferred": ('hostColocation("t")', SAME | {keys.PREFERRED: "hostColocation"}),
    "the mapping only preferred": ("hostIsolation", SAME | {keys.PREFERRED: "uniform"}),
    "nothing uniform": ('hostColocation("t")', {keys.UNIFORM: "none"}),
}


@pytest.mark.parametrize(("placement", "annotations"), ADMITTED.values(), ids=ADMITTED.keys())
def test_other_pairs_go_together(placement: str | None, annotations: dict[str, str]) -> None:
    found = decided(pod(placement, annotations=annotations), ONE)
    assert not found.refused, found.message
