"""Pod terms as the webhook writes them: pods of the same job that carry a label, on the same host."""

import functools
from collections.abc import Iterable, Iterator

from webhook.placement import keys
from webhook.placement.bits import Bits
from webhook.placement.clauses import Clause
from webhook.placement.constraint import Reason
from webhook.placement.pod import LabelSelector, PodTerm, Requirement
from webhook.placement.problem import Problem
from webhook.placement.world import World


@functools.lru_cache(1024)
def with_label(key: str, value: str, job: str) -> PodTerm:
    """Pods of the job that carry the label.

    The job belongs to every selector: SPL tokens are names within one application, and without it two jobs of a
    namespace would bind each other.
    """
    return of_job(job, Requirement(key, "In", (value,)))


def of_job(job: str, *expressions: Requirement) -> PodTerm:
    """Pods of the job that meet all the expressions."""
    selector = LabelSelector(match_expressions=(*expressions, Requirement(keys.JOB, "In", (job,))))
    return PodTerm(label_selector=selector, topology_key=keys.HOSTNAME)


def needs_job(clause: str) -> Problem:
    """The refusal of a pod whose clause means nothing without a job."""
    return Problem(
        f"metadata.labels[{keys.JOB}]", f"{clause} counts within one job: label the pod {keys.JOB} with the job's name"
    )


def bad_tokens(clauses: Iterable[Clause], field: str) -> Iterator[Problem]:
    """A problem for each clause whose token cannot be a label value; those of SPL may be any string."""
    rule = "a token is 1 to 63 letters, digits, '-', '_' or '.', with a letter or digit at both ends"
    for clause in clauses:
        token = str(clause.argument)
        if not token or not keys.LABEL_VALUE.fullmatch(token):
            yield Problem(field, f"{clause}: {rule}")


def nameless(nodes: Bits) -> Reason:
    """Why nodes cannot take part: the scheduler does not see who else is on them."""
    label = f"{keys.HOSTNAME} label"
    return Reason(f"has no {label} of its own", f"have no {label} of their own", nodes)


def taken(out: Bits, what: str, world: World) -> Iterator[Reason]:
    """Why nodes are out for a pod that keeps away from ``what``: without a host name of their own, or one is there."""
    unseen = out & ~world.cluster.nodes.own_hostname
    if unseen:
        yield nameless(unseen)
    if out & ~unseen:
        yield Reason(f"already runs {what}", f"already run {what}", out & ~unseen)


def elsewhere(out: Bits, held: Bits, whom: str, world: World) -> Iterator[Reason]:
    """Why nodes are out for a pod that belongs beside ``whom``: no host name, not among those ``held``, or no room."""
    unseen = out & ~world.cluster.nodes.own_hostname
    absent = out & ~unseen & ~held
    if unseen:
        yield nameless(unseen)
    if absent:
        yield Reason(f"does not run {whom}", f"do not run {whom}", absent)
    if full := out & ~unseen & ~absent:
        what = f"{whom} and cannot hold this one beside them"
        yield Reason(f"runs {what}", f"run {what}", full)
