"""Texts that no command on a page can show are what the code says."""

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from tests.admission.submitted_pools import host_pool, validated
from tests.answers import refused, warnings
from tests.builders import GATES, bound_pod, cluster, node, nodes, pod, pool, review
from tests.docs.pages import page
from webhook.admission.answer import Answer
from webhook.admission.mutate import mutate
from webhook.admission.validate import validate
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.quota import Quota
from webhook.placement.objects.pod import NodeDemand
from webhook.placement.text.keys import HOSTNAME, INJECTED, TAG

AUDIT = Policy(audit=True)


def known() -> Inventory:
    return cluster(nodes(13), [pool(tags=["source"])])


def changed(policy: Policy) -> Answer:
    """A pod whose placement is another one after its creation."""
    return validate(review(pod("hostIsolation"), "UPDATE", old=pod('host("node-a")')), known(), policy)


def audited(placement: str | None, **tweaks: Any) -> str:
    return warnings(mutate(review(pod(placement, **tweaks)), known(), AUDIT))[0]


def admitted_pool(**tweaks: Any) -> str:
    """The warning that an elastic pool, or one without a size, gets."""
    return warnings(validated(host_pool(name="P1", **tweaks), nodes=nodes(3)))[0]


def over_quota() -> str:
    """The refusal of a pool that asks for more than is left."""
    taken, policy = pool("Other", size=18, mode="Exclusive"), Policy(quota=Quota(20))
    mine = host_pool(name="P1", size=5, mode="Exclusive")
    return refused(validated(mine, taken, nodes=nodes(26), policy=policy))[1]


def too_many() -> str:
    """The refusal of one pool more than there may be."""
    there = (pool(f"Other{number}", size=1) for number in range(100))
    return refused(validated(host_pool(name="P1", size=1), *there, nodes=nodes(3)))[1]


HOSTED = cluster(
    [node(labels={TAG: "ib"})],
    [pool("P", size=1, tags=["ib"], assigned=["node-a"]), pool("R", size=1, mode="Exclusive", assigned=["node-a"])],
    [bound_pod(pools=["P"]), replace(bound_pod("", uid="u"), demand=NodeDemand("pe-0"))],
)


def changed_node(policy: Policy, labels: Mapping[str, str], *, cordoned: bool = False) -> Answer:
    """A host of a pool that is changed."""
    old = {"metadata": {"name": "node-a", "labels": {TAG: "ib"}}}
    new = {"metadata": {"name": "node-a", "labels": labels}, "spec": {"unschedulable": cordoned}}
    shared = cluster(HOSTED.nodes.nodes.values(), [HOSTED.pools["default", "p"]], [bound_pod(pools=["P"])])
    return validate(review(new, "UPDATE", old=old, kind="Node", name="node-a"), shared, policy)


def binding() -> Answer:
    """A stranger that is put onto an exclusive host."""
    found = {"metadata": {"name": "pe-0"}, "target": {"name": "node-a"}}
    return validate(review(found, kind="Binding", subresource="binding"), HOSTED, Policy(guard_bindings=True))


def woken(*, gated: bool = False) -> Answer:
    """A sleeper that selects an exclusive host, and keeps a gate or not."""
    sleeps = {"job": None, "pe": None, "tolerations": [{"operator": "Exists"}]}
    now = {"nodeSelector": {HOSTNAME: "node-a"}} | ({"schedulingGates": GATES} if gated else {})
    old = pod(**sleeps, schedulingGates=GATES)
    return validate(review(pod(**sleeps, **now), "UPDATE", old=old), HOSTED, Policy())


TEXTS = {
    "a pool without its hosts": ("hostpool.md", admitted_pool(size=4, elastic=True)),
    "a pool without any node": ("hostpool.md", admitted_pool(tags=["ib"])),
    "a pool over quota": ("hostpool.md", over_quota()),
    "a pool too many": ("hostpool.md", too_many()),
    "a node that loses a tag": ("admission.md", warnings(changed_node(Policy(), {}))[0]),
    "a node that is cordoned": ("admission.md", warnings(changed_node(Policy(), {TAG: "ib"}, cordoned=True))[0]),
    "a change of a node refused": ("admission.md", refused(changed_node(Policy(guard_nodes="refuse"), {}))[1]),
    "a binding refused": ("admission.md", refused(binding())[1]),
    "a sleeper let loose": ("admission.md", refused(woken())[1]),
    "a sleeper narrowed": ("admission.md", refused(woken(gated=True))[1]),
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
