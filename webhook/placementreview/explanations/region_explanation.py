"""Explanation of one ParallelRegion: whether the width that it asks for fits, and which is the largest that does."""

from webhook.admission.unstructured import Unstructured, mapping
from webhook.placement.request.world import World
from webhook.placement.text.problem import Fault, counted
from webhook.placementreview.explanations.decided_pod import NAMESPACE
from webhook.placementreview.explanations.explanation import Explanation
from webhook.placementreview.explanations.region_channels import RegionChannels, channels_of


class RegionExplanation(Explanation, frozen=True):
    """The outcome of scaling a parallel region to the width that it asks for; ``channels`` are those that fit."""

    channels: RegionChannels


def explain_region(region: Unstructured, job: Unstructured, world: World) -> RegionExplanation | None:
    """Explain the ParallelRegion as admission would judge its width; ``None`` if its Job does not have the region."""
    channels = channels_of(region, job, world)
    if channels is None:
        return None
    metadata = mapping(region, "metadata")
    return RegionExplanation(
        file="",
        origin=f"ParallelRegion {metadata.get('name')}",
        namespace=str(metadata.get("namespace") or NAMESPACE),
        verdict="refused" if channels.refusal else "admitted",
        code=Fault.FORBIDDEN.value if channels.refusal else 200,
        message=channels.refusal,
        warnings=[*_narrower(channels)],
        candidates=[],
        removed=[],
        patch=[],
        before=region,
        after=None if channels.refusal else region,
        channels=channels,
    )


def _narrower(channels: RegionChannels) -> list[str]:
    """The warning about a region that has more channels than fit: their pods wait."""
    if channels.fitting.proved and channels.fitting.width < channels.made:
        return [f"{counted(channels.made, 'channel')} of it exist, and {channels.fitting.words}"]
    return []
