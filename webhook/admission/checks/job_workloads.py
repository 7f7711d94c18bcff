"""The question about the other workloads of a job, which a workload that is submitted is judged with.

See ``docs/workloads.md``, "Workloads of one job". Workloads are not watched, so the API server is asked for those that
there are (``cluster/queries/lookups/job_workloads.py``); nothing is asked about workloads whose pods belong to no job.
"""

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.answer import Answer, Outcome, RightsQuestion, WholeQuestion, WorkloadsQuestion
from webhook.admission.checks.replicas import demands_more
from webhook.admission.checks.templates import DescribedPod, pods_of
from webhook.admission.responses import allowed, audit_annotations, denied
from webhook.admission.review import Review
from webhook.admission.unstructured import Unstructured, mapping, sequence
from webhook.placement.decision.decision import Decision
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_workloads import WorkloadPods, judge_workload
from webhook.placement.kube.pod import Pod
from webhook.placement.planning.search.solver import Solving
from webhook.placement.text.api_kinds import BATCH_JOB, DEPLOYMENT, REPLICA_SET, STATEFUL_SET

KINDS: Final = (DEPLOYMENT, STATEFUL_SET, REPLICA_SET, BATCH_JOB)
"""Kinds of workloads that are judged together."""

_JUDGED: Final = frozenset((kind.group, kind.name) for kind in KINDS)

_OVER: Final = frozenset({"Complete", "Failed"})
"""Conditions of a batch Job that starts no more pods (Kubernetes, Jobs)."""


def with_others(
    answer: Answer, review: Review, described: DescribedPod, decision: Decision, inventory: Inventory, policy: Policy
) -> Answer:
    """The answer; if it allows pods of a job, with the question about the other workloads of that job.

    Nothing is asked for a ReplicaSet of a Deployment, nor for a change that demands no more than before.
    """
    ask = decision.ask
    if answer.outcome is not Outcome.ALLOWED or decision.refused or described.replicas.idle or not ask.job:
        return answer
    if (review.kind.group, review.kind.kind) not in _JUDGED or not _demanding(review):
        return answer
    beside = _Submission(review, described, decision, inventory, policy)
    question = WorkloadsQuestion(review.namespace, ask.job, beside.question)
    rights = answer.question
    return replace(answer, question=replace(rights, then=question) if isinstance(rights, RightsQuestion) else question)


def _demanding(review: Review) -> bool:
    """Whether the workload is not part of a Deployment, and is new or demands more than before."""
    if review.operation != "UPDATE" and review.kind.kind != REPLICA_SET.name:
        return True  # large objects are not decoded once more for nothing
    document = msgspec.json.decode(review.object) | {"kind": review.kind.kind}
    owners = sequence(mapping(document, "metadata"), "ownerReferences")
    if any(owner.get("controller") and owner.get("kind") == DEPLOYMENT.name for owner in owners):
        return False
    old = msgspec.json.decode(review.old) if review.operation == "UPDATE" else None
    return not isinstance(old, dict) or demands_more(document, old)


class _Submission(Struct, frozen=True, eq=False):
    """A workload under review that fits alone, with the inventory and policy to judge it by."""

    review: Review
    found: DescribedPod
    decision: Decision
    inventory: Inventory
    policy: Policy

    def question(self, documents: Sequence[Unstructured]) -> WholeQuestion:
        """The question whether the workload can run together with the stored workloads of its job."""
        others = [other for other in live_workloads(documents) if other.origin != self.found.origin]
        return WholeQuestion(functools.partial(self._beside, others))

    async def _beside(self, others: Sequence[WorkloadPods], solving: Solving) -> Answer:
        """The answer to the review."""
        review, policy, warnings = self.review, self.policy, self.decision.warnings
        job = review.namespace, self.decision.ask.job
        pods = WorkloadPods(self.found.origin, msgspec.convert(self.found.pod, Pod), self.found.replicas)
        verdict = await judge_workload(pods, others, job, self.inventory, policy, solving)
        noted = audit_annotations(self.decision)
        if not verdict.refused:
            return allowed(review, (*warnings, *verdict.warnings), noted)
        if policy.audit:
            would = f"audit: this would be refused: {verdict.headline}"
            return allowed(review, [would, *warnings], noted, verdict.rules)
        noted = {**noted, "verdict": "refused"}
        return denied(review, verdict.fault, verdict.text, warnings, noted, rules=verdict.rules)


def live_workloads(documents: Iterable[Unstructured]) -> Iterator[WorkloadPods]:
    """The pods that these workloads are to have, as far as they are readable; live pods of theirs are among them."""
    for document in documents:
        # As if nothing of the workload were changed: so its live pods are counted as its own.
        for described in pods_of(document, document):
            try:
                pod = msgspec.convert(described.pod, Pod)
            except msgspec.ValidationError:
                continue
            count = 0 if described.replicas.idle else _still(document, described.replicas.count)
            yield WorkloadPods(described.origin, pod, replace(described.replicas, count=count))


def _still(document: Unstructured, count: int) -> int:
    """How many of these pods a batch Job can still start, by what its status says; all of them for other kinds."""
    status, wanted = mapping(document, "status"), mapping(document, "spec").get("completions")
    if document.get("kind") != BATCH_JOB.name:
        return count
    if any(one.get("type") in _OVER and one.get("status") == "True" for one in sequence(status, "conditions")):
        return 0
    done = status.get("succeeded")
    if not isinstance(done, int) or not done:
        return count
    # Without a number of completions the first pod that succeeds is the sign that all work is done.
    return min(count, max(wanted - done, 0)) if isinstance(wanted, int) else 0
