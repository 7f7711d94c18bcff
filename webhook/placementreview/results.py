"""Results of single manifests: what admission says, and what the explanation of the same object has about nodes."""

import copy
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from webhook.admission.checks.templates import DescribedPod, components_of, is_job, pods_of, pools_of
from webhook.admission.unstructured import Unstructured, group_and_kind, mapping
from webhook.cluster.objects.metadata import NAMESPACE
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.placement.checks.completion import complete
from webhook.placement.constraints.constraint import Reason
from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.decision.replica_fit import ReplicaFit
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.whole_application import read_pods
from webhook.placement.kinds.application import OperatorApplication
from webhook.placement.kube.bits import Bits, slots
from webhook.placement.request.world import World
from webhook.placement.text.api_kinds import HOST_POOL, HPA_INTENT, STREAMS_JOB
from webhook.placement.text.clause import Clause
from webhook.placement.text.problem import escape
from webhook.placementreview.explanations.application_explanation import verdict_on
from webhook.placementreview.explanations.decided_pod import DecidedPod, judge_described
from webhook.placementreview.explanations.pool_explanation import could_be_hosts, is_pool
from webhook.placementreview.hidden_names import HiddenNames
from webhook.placementreview.plans.fuse import named
from webhook.placementreview.references import referred_to
from webhook.placementreview.review import CandidateNodes, ClosedByRule, ReviewResult, ReviewVerdict
from webhook.placementreview.submission import EarlierWorkloads, application_of, applied, own_pods, whole, wrong
from webhook.placementreview.submitter import Submission, Submitter, escaped

OURS: Final = frozenset((kind.group, kind.name) for kind in (HOST_POOL, STREAMS_JOB, HPA_INTENT))
"""Kinds of objects that count as applied for the manifests after them, once they are admitted."""

_GIVEN: Final = frozenset(
    {"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"}
)
"""Metadata that the API server writes, whatever a user says who creates an object."""


def submitted_form(manifest: Unstructured, namespace: str) -> Unstructured:
    """The manifest as the API server takes it: in its namespace, without a status and what else users cannot write.

    A status counts for much here: one of a HostPool would say which nodes are its hosts.
    """
    metadata = {key: value for key, value in mapping(manifest, "metadata").items() if key not in _GIVEN}
    stated = {key: value for key, value in manifest.items() if key != "status"}
    return {**stated, "metadata": {**metadata, "namespace": namespace}}


def with_applied(manifest: Unstructured, inventory: Inventory, policy: Policy) -> Inventory:
    """A view of the inventory in which the object is applied; the inventory as it is for objects of other kinds.

    Objects that say of which pods others are count as well. One that cannot be used is left out: audit mode admits it.
    """
    keep = referred_to(policy.kinds)
    if group_and_kind(manifest) not in OURS and (manifest.get("apiVersion"), manifest.get("kind")) not in keep:
        return inventory
    view = copy.copy(inventory)
    view.references = dict(inventory.references)
    view.jobs = dict(inventory.jobs)
    view.pools = inventory.pools.with_pools(())
    if group_and_kind(manifest) == (HPA_INTENT.group, HPA_INTENT.name):
        view.intents = copy.deepcopy(inventory.intents)
    try:
        applied([("", named(manifest))], view, keep)
    except ValueError:
        return inventory
    return view


class Results:
    """Results of manifests in the order in which they would be submitted; each admitted one counts for those after it.

    ``inventory`` is the cluster with what was admitted so far. ``searches`` says how much time is left for what
    admission does not look for: the smallest set of a refused Job, and workloads of one job together.
    """

    def __init__(
        self, submitter: Submitter, inventory: Inventory, policy: Policy, hidden: HiddenNames, searches: AtOnce
    ) -> None:
        self._submitter = submitter
        self._searches = searches
        self._policy = policy
        self._hidden = hidden
        self.inventory = inventory
        self._earlier = EarlierWorkloads(World(inventory, policy))

    async def of_manifest(self, place: int, manifest: Unstructured) -> list[ReviewResult]:
        """The result of the object, and those of its components if it is admitted."""
        namespace = str(mapping(manifest, "metadata").get("namespace") or NAMESPACE)
        said = await self._submitter.submit(manifest, namespace, self.inventory)
        plain = ReviewResult(
            manifest=place,
            kind=escape(str(manifest.get("kind"))),
            namespace=namespace,
            name=_name(manifest),
            verdict="Refused" if said.refused else "Admitted",
            message=said.message,
            warnings=said.warnings,
        )
        plain = replace(plain, **self._hidden.patch(said.patch, manifest, plain.warnings))
        view = with_applied(manifest, self.inventory, self._policy)
        try:
            results = list(self._detailed(plain, manifest, said, World(view, self._policy)))
        except msgspec.ValidationError:  # admission has said so, or passes such objects over
            results = [plain if said.refused else replace(plain, verdict="NotJudged")]
        if results[0].verdict != "Refused" and view is not self.inventory:
            self.inventory = view
            self._earlier = self._earlier.in_world(World(view, self._policy))
        return results

    def _detailed(
        self, plain: ReviewResult, manifest: Unstructured, said: Submission, world: World
    ) -> Iterator[ReviewResult]:
        """The result with what is known of nodes, and the components."""
        if is_pool(manifest):
            yield self._of_pool(plain, manifest, world)
        elif is_job(manifest):
            yield from self._of_job(plain, manifest, world)
        elif application := application_of(manifest, world):
            yield from self._of_application(plain, manifest, application, world)
        else:
            described = next(own_pods(manifest, referred_to(world.policy.kinds)), None)
            yield self._of_pods(plain, manifest, described, said, world) if described else _unjudged(plain)

    def _of_pods(
        self,
        plain: ReviewResult,
        manifest: Unstructured,
        described: DescribedPod,
        said: Submission,
        world: World,
    ) -> ReviewResult:
        """A pod, or a workload; one that could run by itself is judged beside earlier workloads of its job."""
        judged = judge_described(described, world)
        result = self._about(plain, judged)
        result = replace(result, warnings=(*judged.doubts(manifest), *plain.warnings))
        if said.refused:
            return result
        if not judged.asks:
            return replace(result, verdict="NotJudged")
        together = self._earlier.judge(manifest, described, self._searches.left())
        if together.refused:
            refused = _refused(together.refusal)
            return replace(result, verdict="Refused", message=escaped(together.text), patch=(), **refused)
        result = replace(result, warnings=(*result.warnings, *together.warnings))
        if said.waits or judged.decision.wait or judged.decision.scale_up:
            return replace(result, verdict="Waiting")
        return result

    def _of_job(self, plain: ReviewResult, manifest: Unstructured, world: World) -> Iterator[ReviewResult]:
        """A Job, the HostPools that it declares, and its processing elements; a refused Job alone."""
        manifest = named(manifest)
        verdict = None if wrong(manifest, world.inventory) else whole(manifest, world, self._searches.left()).verdict
        elements = mapping(manifest, "spec").get("processingElements")
        yield _whole(plain, verdict, len(elements) if isinstance(elements, list) else 0)
        if plain.verdict == "Refused":
            return
        for pool in pools_of(manifest):
            yield self._of_pool(_component(plain, f"HostPool {_name(pool)}"), pool, world, judged=True)
        for described in pods_of(manifest):
            yield self._of_component(plain, described, world)

    def _of_application(
        self, plain: ReviewResult, manifest: Unstructured, application: OperatorApplication, world: World
    ) -> Iterator[ReviewResult]:
        """An application of another operator, and the pods of its components; a refused one alone."""
        if plain.verdict != "Refused" and not application.asks:
            yield replace(plain, verdict="NotJudged")
            return
        yield _whole(plain, verdict_on(read_pods(application), plain.namespace, world, self._searches.left()), 0)
        if plain.verdict != "Refused":
            for described in components_of(application, manifest):
                yield self._of_component(plain, described, world)

    def _of_component(self, whole_object: ReviewResult, described: DescribedPod, world: World) -> ReviewResult:
        """The pods of one component of an object that is admitted as a whole."""
        judged = judge_described(described, world)
        decision = judged.decision
        result = _component(whole_object, described.origin.rpartition(", ")[2])
        verdict: ReviewVerdict = "Admitted"
        if not judged.asks:
            verdict = "NotJudged"
        elif decision.refused:
            verdict = "Refused"
        elif decision.wait or decision.scale_up:
            verdict = "Waiting"
        result = replace(
            result, verdict=verdict, message=decision.message if judged.asks else "", warnings=decision.warnings
        )
        return self._about(result, judged)

    def _about(self, result: ReviewResult, judged: DecidedPod) -> ReviewResult:
        """The result with what the decision about the pod says of nodes."""
        decision, replicas = judged.decision, judged.described.replicas
        known = _refused(decision.refusal if decision.refused else None)
        if decision.verdict is None:
            return replace(result, **known)
        if not replicas.everywhere:
            fit = ReplicaFit(decision.ask, decision.verdict.hard, judged.world).room(replicas.count)
            known |= {"replicas": replicas.count, "fit": fit}
        known["candidates"] = self._candidates(decision.verdict.candidates, judged.world)
        return replace(result, closed=tuple(self._closed(judged.removed(), judged.world)), **known)

    def _of_pool(
        self, plain: ReviewResult, manifest: Unstructured, world: World, *, judged: bool = False
    ) -> ReviewResult:
        """A HostPool; with ``judged`` one that a Job declares, about which admission was not asked by itself."""
        pool = world.inventory.pools.of_namespace(plain.namespace).get(str(mapping(manifest, "metadata").get("name")))
        if pool is None:
            return plain
        completion = complete(pool, world)
        if judged:
            verdict: ReviewVerdict = "Refused" if completion.refusal else "Admitted"
            plain = replace(plain, verdict=verdict, message=completion.refusal.text if completion.refusal else "")
        return replace(
            plain,
            verdict="Waiting" if plain.verdict == "Admitted" and completion.warning else plain.verdict,
            candidates=self._candidates(could_be_hosts(pool, completion, world), world),
            closed=tuple(self._closed(((None, reason) for reason in completion.reasons), world)),
            **_refused(completion.refusal if plain.verdict == "Refused" else None),
        )

    def _candidates(self, nodes: Bits, world: World) -> CandidateNodes:
        return CandidateNodes(nodes.bit_count(), self._names(nodes, world))

    def _closed(self, removed: Iterator[tuple[Clause | None, Reason]], world: World) -> Iterator[ClosedByRule]:
        for clause, reason in removed:
            nodes = self._names(reason.nodes, world)
            yield ClosedByRule(str(clause or reason.one), reason.one, reason.nodes.bit_count(), nodes)

    def _names(self, nodes: Bits, world: World) -> Any:  # noqa: ANN401 -- UNSET is of no type of its own
        """The names of the nodes, sorted, if the user may list nodes."""
        if not self._hidden.visible:
            return UNSET
        return tuple(sorted(world.inventory.nodes.names[slot] for slot in slots(nodes)))


def _name(document: Unstructured) -> str:
    metadata = mapping(document, "metadata")
    return escape(str(metadata.get("name") or metadata.get("generateName") or ""))


def _unjudged(plain: ReviewResult) -> ReviewResult:
    """An object without pods; admission may still refuse it."""
    intent = plain.kind == HPA_INTENT.name
    return plain if plain.verdict == "Refused" or intent else replace(plain, verdict="NotJudged")


def _component(whole_object: ReviewResult, name: str) -> ReviewResult:
    """The result of a component, about which nothing is known yet."""
    return ReviewResult(
        manifest=whole_object.manifest,
        kind=whole_object.kind,
        namespace=whole_object.namespace,
        name=whole_object.name,
        component=name,
        verdict="Admitted",
    )


def _whole(plain: ReviewResult, verdict: JobVerdict | None, count: int) -> ReviewResult:
    """The result of an object that is judged as a whole; ``count`` are its pods, 0 if that is not known."""
    if verdict is None:
        return plain
    if plain.verdict == "Refused":
        return replace(plain, **_refused(verdict.refusal))
    if verdict.grows:
        return replace(plain, verdict="Waiting")
    fits = bool(count) and not verdict.undecided
    return replace(plain, replicas=count, fit=count) if fits else plain


def _refused(refusal: Refusal | None) -> dict[str, Any]:
    """What a refusal says of clauses and fixes."""
    return {"smallest_set": refusal.clauses, "nearest_fix": refusal.fix} if refusal else {}
