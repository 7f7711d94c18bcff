"""Texts that no command on a page can show are what the code says."""

from typing import Any

import pytest

from tests.answers import refused, warnings
from tests.builders import cluster, nodes, pod, pool, review
from tests.docs.pages import page
from webhook.admission.answer import Answer
from webhook.admission.mutate import mutate
from webhook.admission.validate import validate
from webhook.placement.inventory import Inventory
from webhook.placement.keys import INJECTED
from webhook.placement.policy import Policy

AUDIT = Policy(audit=True)


def known() -> Inventory:
    return cluster(nodes(13), [pool(tags=["source"])])


def changed(policy: Policy) -> Answer:
    """A pod whose placement is another one after its creation."""
    return validate(review(pod("hostIsolation"), "UPDATE", old=pod('host("node-a")')), known(), policy)


def audited(placement: str | None, **tweaks: Any) -> str:
    return warnings(mutate(review(pod(placement, **tweaks)), known(), AUDIT))[0]


TEXTS = {
    "a pod that lost its affinity": (
        "merging.md",
        refused(validate(review(pod("host(MyPool)")), known(), Policy()))[1],
    ),
    "a changed annotation": ("admission.md", refused(changed(Policy()))[1]),
    "the same in audit mode": ("admission.md", warnings(changed(AUDIT))[0]),
    "a refusal in audit mode": ("admission.md", audited('host("nope")')),
    "additions in audit mode": ("admission.md", audited('host("node-a"), hostExlocation("t")', schedulingGates=[{}])),
    "nothing to add in audit mode": ("admission.md", audited(None, annotations={INJECTED: "{}"})),
}


@pytest.mark.parametrize(("name", "text"), TEXTS.values(), ids=TEXTS.keys())
def test_a_text_on_a_page_is_what_the_code_says(name: str, text: str) -> None:
    assert f"\n{text}\n" in page(name)
