"""What node groups can make for an object of a manifest that does not fit beside what comes before it."""

import msgspec

from webhook.admission.checks.templates import is_job
from webhook.admission.unstructured import mapping
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.placement.decision.scale_up import waits_for_new
from webhook.placement.jobs.applied_job import pools_of_job
from webhook.placement.jobs.newnodes.job_scale_up import JobScaleUp
from webhook.placement.jobs.newnodes.scaled_group import Beside
from webhook.placement.jobs.newnodes.scaled_job import scale_up_job
from webhook.placement.jobs.newnodes.scaled_pods import scale_up_workload
from webhook.placement.jobs.whole_job import AppliedJob
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.planning.members import Member
from webhook.placement.planning.search.solver import finished
from webhook.placementreview.plans.fuse import FusedManifest, name_of


def scale_up_of(fused: FusedManifest, beside: Beside, seconds: float) -> JobScaleUp | None:
    """What node groups can do for a Job of elements; ``None`` for all others, and where new nodes make no difference.

    The members of its group stay on the nodes there are, those that are waiting need new ones as well.
    """
    world = beside.group.world
    if not world.node_groups or fused.fusion is not None or not is_job(fused.manifest):
        return None
    spec = msgspec.convert(mapping(fused.manifest, "spec"), JobSpec)
    namespace, name = name_of(fused.manifest)
    pools = [world.inventory.pools[pool.namespace, pool.name] for pool in pools_of_job(namespace, name, spec)]
    return finished(scale_up_job(AppliedJob(namespace, name, spec, pools), world, AtOnce(seconds), beside))


def scale_up_pods(
    members: tuple[Member, ...], beside: Beside, seconds: float, *, named: bool = False
) -> JobScaleUp | None:
    """What node groups can do for pods that are no Job's; ``None`` where new nodes make no difference.

    ``named`` tells that these are components of an application, which the warning names.
    """
    world = beside.group.world
    if not world.node_groups or not any(waits_for_new(one.ask, tuple(one.verdict.constraints)) for one in members):
        return None
    return finished(scale_up_workload(members, world, AtOnce(seconds), beside, named=named))
