"""``explain``: what admission would make of manifests, against a snapshot or a cluster, and why."""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from webhook import app
from webhook.admission.checks.templates import DescribedPod, components_of, is_job, pods_of, pools_of
from webhook.admission.unstructured import Unstructured, mapping
from webhook.app.references import referenced_kinds
from webhook.cli import warn
from webhook.cli.arguments import given_settings
from webhook.cli.arguments.manifests import (
    NAMED,
    Manifests,
    note_unjudged,
    note_unreviewed,
    note_without,
    object_name,
    readable_manifests_of,
)
from webhook.cli.client import admission_review
from webhook.cli.declarations.setting_flags import JUDGING
from webhook.cli.exits import Exit, WrongUse
from webhook.cli.planned_manifests import write_page
from webhook.cli.reviews.what_if_flags import changes_of
from webhook.cli.screen import Screen
from webhook.cli.terminal.output import write
from webhook.cli.terminal.progress import progress
from webhook.cluster.snapshot.manifests import UnreadManifest
from webhook.placement.jobs.whole_application import read_pods
from webhook.placement.kinds.application import OperatorApplication
from webhook.placement.request.world import World
from webhook.placement.text.decoder_words import not_decoded
from webhook.placement.text.problem import enumerated
from webhook.placementreview import submission
from webhook.placementreview.explanations.application_explanation import explain_application
from webhook.placementreview.explanations.decided_pod import NAMESPACE
from webhook.placementreview.explanations.explanation import Explanation, beside, explain
from webhook.placementreview.explanations.job_explanation import JobExplanation, explain_job
from webhook.placementreview.explanations.pool_explanation import PoolExplanation, explain_pool, is_pool
from webhook.placementreview.plans.fuse import named
from webhook.placementreview.review import WhatIf
from webhook.setting_fields import flag
from webhook.settings import Settings

_NOTHING: Final = "nothing to judge: no pod, workload or HostPool"
_NO_REVIEW: Final = "no review to write"


def run(arguments: argparse.Namespace) -> int:
    """Explain every pod and host pool that can be read.

    Returns ``Exit.REFUSED`` if one of them would be refused, else ``Exit.WRONG_USE`` if something could not be read.
    """
    settings = given_settings.read(arguments)
    changes = changes_of(arguments, settings)
    _check_asked(arguments, changes)
    given, unread = readable_manifests_of(arguments)
    _leave_out(unread)
    if arguments.server or changes:
        # What answers reviews imports the HTTP client, without which a snapshot is read in four fifths of the time.
        from webhook.cli.reviews.reviewed_manifests import explain_by_review  # noqa: PLC0415

        reviewed, admitted = explain_by_review(given, arguments, settings, changes)
        if reviewed:
            note_unreviewed(given, reviewed)
        elif arguments.filename:
            _note_nothing(_NOTHING, (), given, strict=arguments.must_judge)
        return Exit.REFUSED if not admitted else Exit.WRONG_USE if unread else Exit.OK
    if arguments.output == "review":
        _write_reviews(given, strict=arguments.must_judge)
        return Exit.WRONG_USE if unread else Exit.OK
    if arguments.output == "html":
        return write_page(given, settings, title="Explanation") or (Exit.WRONG_USE if unread else Exit.OK)
    explanations, undecoded = _judged(given, settings)
    if undecoded and not explanations:
        raise WrongUse(str(undecoded[0]))
    _leave_out(undecoded)
    _note_nothing(_NOTHING, explanations, given, strict=arguments.must_judge)
    if arguments.output == "text":
        _show(explanations)
    else:
        write(explanations, arguments.output)
    if any(explanation.refused for explanation in explanations):
        return Exit.REFUSED
    return Exit.WRONG_USE if unread or undecoded else Exit.OK


def _check_asked(arguments: argparse.Namespace, changes: WhatIf | None) -> None:
    """Raise :class:`WrongUse` if nothing is asked, or for a setting of verdicts with ``--server``: it has its own."""
    if not arguments.filename and not (changes and changes.drain):
        raise WrongUse("nothing to review: give manifests with -f, or nodes with --drain")
    if not arguments.server:
        return
    for name in JUDGING:
        if name in vars(arguments):
            raise WrongUse(f"{flag(name)} has no effect with --server: the settings of the webhook apply")


def _leave_out(unread: Iterable[UnreadManifest]) -> None:
    """Warn of files and objects that cannot be read, once for each reason; all others are judged."""
    files: dict[str, dict[str, None]] = {}
    for one in unread:
        files.setdefault(one.reason, {})[one.file] = None
    for reason, paths in files.items():
        warn(f"{enumerated([*paths], NAMED)}: {reason} (left out)")


def _judged(given: Manifests, settings: Settings) -> tuple[list[Explanation], list[UnreadManifest]]:
    """The explanation of every pod and host pool, in a world in which the manifests are applied.

    With the reason for each object whose pods cannot be decoded.
    """
    given = [(file, named(document)) for file, document in given]
    with progress() as step:
        try:
            world = app.explain.explaining(settings, given, warn, step=step)
        except ValueError as error:
            raise WrongUse(str(error)) from error
        earlier = submission.EarlierWorkloads(world)
        explanations: list[Explanation] = []
        undecoded: list[UnreadManifest] = []
        for at, (file, document) in enumerate(given):
            step("deciding", at, len(given))
            try:
                explanations += _explained(file, document, world, earlier)
            except msgspec.ValidationError as error:
                undecoded.append(UnreadManifest(file, not_decoded(document, error)))
    if explanations:
        note_unjudged(given, world, "judge")
    return explanations, undecoded


def _explained(
    file: str, document: Unstructured, world: World, earlier: submission.EarlierWorkloads
) -> Sequence[Explanation]:
    """The explanations of what the object holds; raises ``ValidationError`` if its pods cannot be decoded."""
    if is_pool(document):
        return [explain_pool(file, document, world)]
    if is_job(document):
        return _explained_job(file, document, world)
    if application := submission.application_of(document, world):
        return _explained_application(file, document, application, world)
    return [
        _explained_pod(file, document, described, world, earlier)
        for described in submission.own_pods(document, referenced_kinds())
    ]


def _explained_pod(
    file: str, document: Unstructured, described: DescribedPod, world: World, earlier: submission.EarlierWorkloads
) -> Explanation:
    """The pods of the object; those of a workload beside earlier workloads of its job."""
    alone = explain(file, document, described, world)
    return alone if alone.refused or not alone.asks else beside(alone, earlier.judge(document, described))


def _explained_job(file: str, document: Unstructured, world: World) -> Sequence[Explanation]:
    """The Job, the HostPools that it declares, and the pods of its processing elements; a refused Job alone."""
    whole = explain_job(file, document, world)
    if whole.refused:
        return [whole]
    pools = [explain_pool(file, pool, world) for pool in pools_of(document)]
    return [whole, *pools, *(explain(file, document, described, world) for described in pods_of(document))]


def _explained_application(
    file: str, document: Unstructured, application: OperatorApplication, world: World
) -> Sequence[Explanation]:
    """The application of another operator, and the pods of its components; alone if refused, or not readable."""
    pods = read_pods(application)
    whole = explain_application(file, document, application, pods, world)
    if whole.refused or isinstance(pods, tuple):
        return [whole]
    return [whole, *(explain(file, document, described, world) for described in components_of(application, document))]


def _note_nothing(nothing: str, judged: Sequence[object], given: Manifests, *, strict: bool) -> None:
    """Warn, or with ``strict`` raise :class:`WrongUse`, if ``judged`` is empty (only a Service, for example)."""
    if judged:
        return
    objects = [object_name(document) for _, document in given]
    contents = f", only {enumerated(objects, NAMED)}" if objects else ", they are empty"
    if strict:
        raise WrongUse(f"{nothing} in the manifests{contents}")
    warn(f"{nothing} in the manifests{contents}")


def _reviews(document: Unstructured) -> Iterator[bytes]:
    """The AdmissionReview of every pod of the object, as the API server sends it to ``/mutate``, as JSON."""
    for described in submission.own_pods(document, referenced_kinds()):
        namespace = mapping(described.pod, "metadata").get("namespace") or NAMESPACE
        yield msgspec.json.encode(admission_review(described.pod, namespace))


def _write_reviews(given: Manifests, *, strict: bool) -> None:
    by_object = [(document, [*_reviews(document)]) for _, document in given]
    reviews = [each for _, own in by_object for each in own]
    _note_nothing(f"{_NO_REVIEW}: no pod or workload", reviews, given, strict=strict)
    if reviews:
        note_without(_NO_REVIEW, (document for document, own in by_object if not own), given)
    for each in reviews:
        print(each.decode())
    if len(reviews) > 1:
        warn(f"these are {len(reviews)} reviews, one a line: the server takes one at a time")


def _show(explanations: Iterable[Explanation]) -> None:
    """Print the explanations as text for a person."""
    screen = Screen()
    for explanation in explanations:
        if isinstance(explanation, PoolExplanation):
            screen.pool(explanation)
        elif isinstance(explanation, JobExplanation):
            screen.job(explanation)
        else:
            screen.explanation(explanation)
