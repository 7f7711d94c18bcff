"""What a pod demands of its node, and what keeps it off none, kept while it waits for one."""

from webhook.placement.checks.sleepers import opening
from webhook.placement.inventory.objects import Claim
from webhook.placement.kube.pod import LabelSelector, PodSpec
from webhook.placement.kube.selector import requirements_of


def claim_of(name: str, spec: PodSpec) -> Claim:
    """Its node selector and required node affinity; preferences demand nothing."""
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required if affinity else None
    return Claim(
        name,
        requirements_of(LabelSelector(match_labels=spec.node_selector)),
        (required.node_selector_terms or ()) if required else None,
        opening(spec.tolerations),
    )
