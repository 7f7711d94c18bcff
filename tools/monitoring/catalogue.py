"""What each metric is for, by the question that it answers, with a query to begin with; and what its labels say.

Kinds, labels and help texts are the code's (``registered``); here is what no code can say.
"""

from typing import Final

from msgspec import Struct


class Entry(Struct, frozen=True):
    """One metric: its ``name`` without ``streams_placement_``, what it tells, and a query in PromQL."""

    name: str
    answers: str
    query: str


class Topic(Struct, frozen=True):
    """A question that an operator has, and the metrics that answer it."""

    question: str
    entries: tuple[Entry, ...]


def _p(query: str) -> str:
    """The query with the whole names: ``@`` stands for the prefix."""
    return query.replace("@", "streams_placement_")


def _e(name: str, answers: str, query: str) -> Entry:
    return Entry(name, answers, _p(query))


def _phases(kind: str, names: str, what: str) -> tuple[Entry, ...]:
    """One gauge for each phase."""
    return tuple(
        _e(f"{kind}_{name}", f"how many {what} are {name.capitalize()}", f"max(@{kind}_{name})")
        for name in names.split()
    )


TOPICS: Final = (
    Topic("Is it healthy?", (
        _e("info", "which programs of which version run; joins other metrics to a program", "count by (program, version) (@info)"),
        _e("ready", "which processes answer `/readyz` with 200", 'sum(@ready and on (job, instance) @info{program="serve"})'),
        _e("review_failures_total", "reviews that an error in the program ended; the log has a traceback for each", "increase(@review_failures_total[1h])"),
        _e("http_errors_total", "requests that got an HTTP error: 4xx are wrong requests, 503 means not ready or too late", "sum by (code) (rate(@http_errors_total[5m]))"),
    )),
    Topic("What is refused, and why?", (
        _e("refusals_total", "refusals by rule, and in audit mode what would have been refused; one of two clauses counts for two rules", 'topk(5, sum by (rule) (increase(@refusals_total{mode="enforce"}[1h])))'),
        _e("reviews_total", "all answers: how many are allowed, patched, denied, errored or unreadable; [applications](applications.md) by their kind, if `workloads.kinds` names it", 'sum(rate(@reviews_total{outcome="denied"}[5m])) / sum(rate(@reviews_total[5m]))'),
        _e("waiting_pods_total", "pods admitted at `/mutate` that no node could run then ([waiting](verdicts.md#waiting))", "sum by (cause) (increase(@waiting_pods_total[1h]))"),
        _e("unknown_workloads_total", "workloads judged without the others [of their job](workloads.md#workloads-of-one-job)", "sum by (cause) (increase(@unknown_workloads_total[1h]))"),
    )),
    Topic("How long does a decision take?", (
        _e("review_seconds", "what the API server waits for: from a review's first byte to its answer", "histogram_quantile(0.99, sum by (le) (rate(@review_seconds_bucket[5m])))"),
        _e("decision_seconds", "the decision alone", "histogram_quantile(0.99, sum by (le) (rate(@decision_seconds_bucket[5m])))"),
        _e("job_decision_seconds", "decisions about whole Jobs and the workloads of one job, which other reviews do not wait for", "histogram_quantile(0.9, sum by (le) (rate(@job_decision_seconds_bucket[1h])))"),
        _e("job_process_running", "whether a [process of its own](architecture.md#whole-jobs-in-a-process-of-their-own) judges whole Jobs now: it is started when one comes", "sum(@job_process_running)"),
        _e("job_process_starts_total", "starts of that process", "sum(increase(@job_process_starts_total[1h]))"),
        _e("job_process_fallbacks_total", "whole Jobs that the server judged itself: no process can be started, the last one has just failed, or it ended, was silent, had too much to do, could not be sent a message or had an error", "sum by (cause) (increase(@job_process_fallbacks_total[1h]))"),
        _e("inline_answers", "1 if reviews are answered as they arrive; with 0 the installed aiohttp lacks an attribute that this needs (the log names it), and each review takes twice the CPU time", "min(@inline_answers)"),
        _e("waiting_reviews", "reviews that have arrived and wait for their decision", "max(@waiting_reviews)"),
        _e("connections", "open connections of clients; the limit is the setting `--max-connections`", "max by (pod) (@connections)"),
        _e("connection_failures_total", "connections that the server ended: `capacity` is too many, too large a header, or too much left unread", "sum by (cause) (rate(@connection_failures_total[5m]))"),
        _e("body_bytes", "memory reserved for large request bodies", "max(@body_bytes)"),
    )),
    Topic("Who asks before submitting, and how long does that take?", (
        _e("placement_reviews_total", "requests about [PlacementReviews](placementreview.md), by HTTP status: 429 is too many of one user, 504 too much work", 'sum by (code) (rate(@placement_reviews_total{code!="201"}[5m]))'),
        _e("placement_review_seconds", "what users wait for: from a PlacementReview's first byte to its answer, with the wait for its turn", "histogram_quantile(0.9, sum by (le) (rate(@placement_review_seconds_bucket[5m])))"),
        _e("placement_review_copy_seconds", "[copies of the webhook](placementreview.md#switching-it-on) from which reviews are answered: one for the first review, and one a minute while users go on asking; the webhook answers nothing while it makes one", "sum(increase(@placement_review_copy_seconds_count[1h]))"),
        _e("waiting_placement_reviews", "PlacementReviews that wait for their turn: each process answers one at a time", "max(@waiting_placement_reviews)"),
    )),
    Topic("How are HostPools, and how long do they wait?", (
        *_phases("host_pools", "pending ready failed releasing", "HostPools"),
        _e("host_pools_pending_oldest_seconds", "how long the oldest Pending HostPool has waited", "max(@host_pools_pending_oldest_seconds)"),
        _e("host_pool_wait_seconds", "how long sized HostPools waited for their hosts", "histogram_quantile(0.9, sum by (le) (rate(@host_pool_wait_seconds_bucket[1h])))"),
        _e("host_pools_degraded", "how many HostPools have the condition `Degraded`", "max(@host_pools_degraded)"),
        _e("host_pool_degraded", "which ones, with the setting `--name-degraded-pools`: the first 20 by name", "max by (host_pool_namespace, host_pool) (@host_pool_degraded)"),
        _e("pool_hosts_assigned", "hosts that are assigned to HostPools", "max(@pool_hosts_assigned)"),
        _e("pool_hosts_gone", "hosts of HostPools whose nodes are gone; more than 0 for a long time: no other node is eligible", "max(@pool_hosts_gone)"),
    )),
    Topic("How are Jobs, and who waits?", (
        *_phases("jobs", "submitting running degraded failed completed deleting", "Jobs"),
        _e("jobs_unsatisfiable", "Jobs that [could not be restarted, or are stranded](jobs.md#still-satisfiable), and those that could not be started", "max(@jobs_unsatisfiable)"),
        _e("jobs_submitting_oldest_seconds", "how long the oldest Submitting Job has waited", "max(@jobs_submitting_oldest_seconds)"),
        _e("job_wait_seconds", "how long Jobs waited until all of them ran", "histogram_quantile(0.9, sum by (le) (rate(@job_wait_seconds_bucket[1h])))"),
        *_phases("processing_elements", "pending running completed failed stopped", "processing elements"),
        _e("pods_waiting", "pods that were admitted to [wait](verdicts.md#waiting) and have no node yet", "max(@pods_waiting)"),
        _e("pods_waiting_oldest_seconds", "how long the leader has seen the first of them wait", "max(@pods_waiting_oldest_seconds)"),
    )),
    Topic("Does the controller keep up, and who leads?", (
        _e("leader", "which process leads: one of them, always", "@leader == 1"),
        _e("queue_depth", "HostPools that wait to be reconciled", "max(@queue_depth)"),
        _e("queue_oldest_seconds", "how long the first of them has waited", "max(@queue_oldest_seconds)"),
        _e("queue_failing", "HostPools whose last reconcile failed; the log says why", "max(@queue_failing)"),
        _e("queue_retries", "reconciles that were retried after a failure, since the start", "delta(@queue_retries[1h])"),
        _e("job_queue_depth", "Jobs that wait to be reconciled", "max(@job_queue_depth)"),
        _e("element_queue_depth", "processing elements that wait to be reconciled", "max(@element_queue_depth)"),
        _e("events_written", "Events written since the start", "delta(@events_written[1h])"),
        _e("events_lost", "Events that could not be written, or were dropped, since the start", "delta(@events_lost[1h])"),
    )),
    Topic("Is the cache stale?", (
        _e("cache_age_seconds", "how long the API server has been silent about a resource; normally below a minute, 0 for a snapshot and in a standby controller", "max by (pod) (@cache_age_seconds)"),
        _e("cluster_failures_total", "why lists and watches fail", "sum by (cause) (increase(@cluster_failures_total[1h]))"),
        _e("nodes", "nodes that the webhook knows", "max(@nodes)"),
        _e("host_pools", "HostPools that the webhook knows", "max(@host_pools)"),
        _e("hpa_intents", "HPAIntents that the webhook knows", "max(@hpa_intents)"),
        _e("skipped_objects", "objects of the cluster that could not be used; the log names them", "max(@skipped_objects)"),
    )),
    Topic("Does the certificate end soon?", (
        _e("certificate_expiry_seconds", "when the serving certificate expires, in seconds since 1970; 0 without one", "(min(@certificate_expiry_seconds > 0) - time()) / 86400"),
        _e("certificate_reload_failures_total", "changed certificate files that could not be used", "sum(increase(@certificate_reload_failures_total[1h]))"),
    )),
    Topic("What does the REST interface do?", (
        _e("rest_requests_total", "requests by what they are about, and their answers", 'sum(rate(@rest_requests_total{code=~"5.."}[5m])) / sum(rate(@rest_requests_total[5m]))'),
        _e("rest_request_seconds", "from a request's first byte to its answer", "histogram_quantile(0.99, sum by (le) (rate(@rest_request_seconds_bucket[5m])))"),
    )),
)  # fmt: skip
"""All metrics, in the order of the page."""

LABELS: Final = {
    "cause": "of connections `handshake`, `timeout`, `capacity`; of waiting pods `condition`, `elastic`, `scale-up`, `controlled`; of workloads "
    "`failed` (not listed in time, or too many), `busy`; of reading the cluster `unreachable`, `broken`, `busy`, `unauthorized`, "
    "`forbidden`, `missing`, `exists`, `conflict`, `invalid`, `gone`, `unreadable`",
    "code": "the HTTP status of the answer",
    "collection": "`hpa-intents`, `hpa-resource-consumers`, `resource-requirements`; `pages`; empty for unknown paths",
    "host_pool": "the name of a HostPool; at most 20 at a time",
    "host_pool_namespace": "its namespace",
    "kind": "the kind of the object under review; `other` for kinds that are not reviewed",
    "method": "the HTTP method; `other` for unknown ones",
    "mode": "`enforce`, or `audit` for what would have been refused",
    "outcome": "`allowed`, `patched`, `denied`, `errored`, `unreadable`",
    "path": "`/mutate`, `/validate`, `/guard`, `/convert`",
    "program": "`serve`, `controller`, `hpa-api`",
    "reason": "the reason of Kubernetes in a refusal (`Invalid`, `Forbidden`), or of an error; empty without one",
    "rule": "the rule of a refusal: see [below](#rules)",
    "version": "the version of the program",
}
"""What each label says, with its values."""
