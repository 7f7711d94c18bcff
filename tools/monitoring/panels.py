"""The panels of the dashboard, row by row: each row is a question, each panel a part of the answer.

``@name{`` in a query stands for ``streams_placement_name{namespace=~"$namespace",``, and ``@name`` without labels for
the metric of the chosen namespaces.
"""

import re
from typing import Final, Literal

from msgspec import Struct

from webhook.server.metrics import PREFIX

_NAMESPACE: Final = 'namespace=~"$namespace"'


class Query(Struct, frozen=True):
    """One query of a panel, and the legend of its series."""

    short: str
    legend: str = ""

    @property
    def promql(self) -> str:
        """The query as Grafana sends it, but for its variables."""

        def whole(match: re.Match[str]) -> str:
            return f"{PREFIX}{match[1]}{{{_NAMESPACE}{',' if match[2] else '}'}"

        return re.sub(r"@(\w+)(\{)?", whole, self.short)


class Panel(Struct, frozen=True):
    """One panel: what it is called, what it tells, the unit of its values, and how it is drawn.

    ``steps`` are thresholds of colours: from the first value on yellow, from the second on red; ``low`` tells that low
    values are the bad ones.
    """

    title: str
    description: str
    unit: str
    queries: tuple[Query, ...]
    kind: Literal["stat", "timeseries", "table"] = "timeseries"
    steps: tuple[float, ...] = ()
    low: bool = False


class Row(Struct, frozen=True):
    """A question, and its panels."""

    title: str
    panels: tuple[Panel, ...]


def _q(short: str, legend: str = "") -> Query:
    return Query(short, legend)


def _stat(
    title: str, description: str, unit: str, query: str, steps: tuple[float, ...] = (), *, low: bool = False
) -> Panel:
    return Panel(title, description, unit, (Query(query),), "stat", steps, low)


def _quantiles(metric: str) -> tuple[Query, ...]:
    """Median, 90th and 99th percentile of a histogram."""
    rate = f"sum by (le) (rate(@{metric}_bucket[$__rate_interval]))"
    return tuple(
        Query(f"histogram_quantile({of}, {rate})", name) for of, name in ((0.5, "p50"), (0.9, "p90"), (0.99, "p99"))
    )


def _phases(kind: str, names: str) -> tuple[Query, ...]:
    return tuple(Query(f"max(@{kind}_{name})", name) for name in names.split())


def _increase(metric: str, label: str) -> tuple[Query, ...]:
    return (Query(f"sum by ({label}) (increase(@{metric}[$__rate_interval]))", f"{{{{{label}}}}}"),)


_WEBHOOK: Final = 'and on (job, instance) @info{program="serve"}'

ROWS: Final = (
    Row("Is it healthy?", (
        _stat("Webhooks ready", "Processes that answer reviews. Without one, pods that ask for hosts are refused.", "none", f"count(@ready == 1 {_WEBHOOK}) or vector(0)", (1, 2), low=True),
        _stat("Leaders", "Controllers that lead: 1 whenever all is well.", "none", "sum(@leader)", (1, 1), low=True),
        _stat("Not ready", "Processes of any kind whose /readyz is not 200.", "none", "count(@ready == 0) or vector(0)", (1, 2)),
        _stat("Certificate", "Time until the first serving certificate expires.", "s", "min(@certificate_expiry_seconds > 0) - time()", (86400, 604800), low=True),
        _stat("Refused", "Share of the reviews of the last hour that were refused.", "percentunit", 'sum(increase(@reviews_total{outcome="denied"}[1h])) / (sum(increase(@reviews_total[1h])) > 0) or vector(0)'),
        _stat("Failed reviews", "Reviews of the last hour that an error in the program ended.", "none", "sum(increase(@review_failures_total[1h]))", (1, 10)),
        Panel("Versions", "Programs that run, with their versions: two of one program during a rollout only.", "none", (_q("count by (program, version) (@info)"),), "table"),
        Panel("HTTP errors", "Requests that got an HTTP error, by status: 4xx are wrong requests, 503 means not ready or too late.", "reqps", (_q("sum by (code) (rate(@http_errors_total[$__rate_interval]))", "{{code}}"),)),
    )),
    Row("What is refused, and why?", (
        Panel("Answers", "Reviews by how they were answered.", "reqps", (_q("sum by (outcome) (rate(@reviews_total[$__rate_interval]))", "{{outcome}}"),)),
        Panel("Refusals by rule", "What refused objects could not have; a refusal counts once for each rule that is part of it.", "none", (_q('sum by (rule) (increase(@refusals_total{mode="enforce"}[$__rate_interval]))', "{{rule}}"),)),
        Panel("Refusals by kind", "Which kinds of objects are refused.", "none", (_q('sum by (kind) (increase(@refusals_total{mode="enforce"}[$__rate_interval]))', "{{kind}}"),)),
        Panel("Would be refused", "In audit mode: what would have been refused, by rule.", "none", (_q('sum by (rule) (increase(@refusals_total{mode="audit"}[$__rate_interval]))', "{{rule}}"),)),
        Panel("Reasons", "Refused and failed reviews by the reason that clients see.", "none", (_q('sum by (reason) (increase(@reviews_total{outcome!~"allowed|patched"}[$__rate_interval]))', "{{reason}}"),)),
        Panel("Let in to wait", "Pods admitted although no node could run them, by why.", "none", _increase("waiting_pods_total", "cause")),
    )),
    Row("How fast is it?", (
        Panel("Reviews", "Time from a review's first byte to its answer.", "s", _quantiles("review_seconds")),
        Panel("Decisions", "Time of the decision alone.", "s", _quantiles("decision_seconds")),
        Panel("Whole Jobs", "Time of decisions about whole Jobs and workloads of one job, with the wait for their turn.", "s", _quantiles("job_decision_seconds")),
        Panel("Process for Jobs", "Processes that judge whole Jobs, how often one was started, and the Jobs that a server judged itself, by why.", "none", (_q("sum(@job_process_running)", "running"), _q("sum(increase(@job_process_starts_total[$__rate_interval]))", "started"), *_increase("job_process_fallbacks_total", "cause"))),
        Panel("PlacementReviews", "Time from a PlacementReview's first byte to its answer.", "s", _quantiles("placement_review_seconds")),
        Panel("PlacementReviews answered", "Requests about PlacementReviews by HTTP status, those that wait for their turn, and copies of the webhook for them.", "none", (*_increase("placement_reviews_total", "code"), _q("max(@waiting_placement_reviews)", "waiting"), _q("sum(increase(@placement_review_copy_seconds_count[$__rate_interval]))", "copies"))),
        Panel("Load", "Reviews in a second, by path.", "reqps", (_q("sum by (path) (rate(@reviews_total[$__rate_interval]))", "{{path}}"),)),
        Panel("Queue", "Reviews that wait for their decision, of the busiest process.", "none", (_q("max(@waiting_reviews)", "waiting"),)),
        Panel("Connections", "Open connections of clients, those that a server ended, and whether reviews are answered as they arrive: 1 with an aiohttp that this release knows.", "none", (_q("sum(@connections)", "open"), *_increase("connection_failures_total", "cause"), _q("min(@inline_answers)", "as they arrive"))),
        Panel("Bodies", "Memory reserved for large request bodies, of the process with most.", "bytes", (_q("max(@body_bytes)", "reserved"),)),
        Panel("Errors of the program", "Reviews that an error in the program ended, by path.", "none", _increase("review_failures_total", "path")),
    )),
    Row("How are HostPools and Jobs?", (
        Panel("HostPools", "HostPools by phase.", "none", _phases("host_pools", "pending ready failed releasing")),
        Panel("Degraded HostPools", "HostPools with hosts in trouble, the first 20 by name, if the setting nameDegradedPools says so.", "none", (_q("max by (host_pool_namespace, host_pool) (@host_pool_degraded)"),), "table"),
        Panel("Hosts", "Hosts that pools have, those whose nodes are gone, and pools with hosts in trouble.", "none", (_q("max(@pool_hosts_assigned)", "assigned"), _q("max(@pool_hosts_gone)", "gone"), _q("max(@host_pools_degraded)", "degraded pools"))),
        Panel("Jobs", "Jobs by phase, and those that could not be restarted.", "none", (*_phases("jobs", "submitting running degraded failed completed deleting"), _q("max(@jobs_unsatisfiable)", "unsatisfiable"))),
        Panel("Processing elements", "Processing elements by phase.", "none", _phases("processing_elements", "pending running completed failed stopped")),
        Panel("Waiting now", "Pods that were admitted to wait and have no node yet.", "none", (_q("max(@pods_waiting)", "pods"),)),
        Panel("Longest waits", "The longest wait of a Pending HostPool, a Submitting Job and a waiting pod.", "s", (_q("max(@host_pools_pending_oldest_seconds)", "HostPool"), _q("max(@jobs_submitting_oldest_seconds)", "Job"), _q("max(@pods_waiting_oldest_seconds)", "pod"))),
        Panel("Time to hosts", "How long sized HostPools waited for their hosts.", "s", _quantiles("host_pool_wait_seconds")),
        Panel("Time to running", "How long Jobs waited until all of them ran.", "s", _quantiles("job_wait_seconds")),
    )),
    Row("Does the controller keep up?", (
        Panel("Queues", "What waits to be reconciled.", "none", (_q("max(@queue_depth)", "HostPools"), _q("max(@job_queue_depth)", "Jobs"), _q("max(@element_queue_depth)", "processing elements"))),
        Panel("Oldest in the queue", "How long the first HostPool has waited to be reconciled.", "s", (_q("max(@queue_oldest_seconds)", "oldest"),)),
        Panel("Failures", "HostPools whose last look failed, and looks that were repeated.", "none", (_q("max(@queue_failing)", "failing"), _q("max(delta(@queue_retries[$__rate_interval]))", "retries"))),
        Panel("Events", "Events that were written, and those that were lost.", "none", (_q("max(delta(@events_written[$__rate_interval]))", "written"), _q("max(delta(@events_lost[$__rate_interval]))", "lost"))),
    )),
    Row("Is the cache fresh, and the API server well?", (
        Panel("Age of the cache", "Since when the API server has been silent about a resource; below a minute while all is well.", "s", (_q("max by (instance) (@cache_age_seconds)", "{{instance}}"),), steps=(60, 120)),
        Panel("Failures of reading", "Why lists and watches failed.", "none", _increase("cluster_failures_total", "cause")),
        Panel("What is known", "Nodes, HostPools and HPAIntents that the webhook knows.", "none", (_q("max(@nodes)", "nodes"), _q("max(@host_pools)", "HostPools"), _q("max(@hpa_intents)", "HPAIntents"))),
        Panel("Unusable objects", "Objects of the cluster that could not be used, and workloads judged without the others of their job.", "none", (_q("max(@skipped_objects)", "skipped"), *_increase("unknown_workloads_total", "cause"))),
    )),
    Row("Certificate and leader", (
        Panel("Certificates", "Time until the serving certificate of each process expires.", "s", (_q("(@certificate_expiry_seconds > 0) - time()", "{{instance}}"),)),
        Panel("Unusable certificates", "Changed certificate files that could not be used.", "none", (_q("sum by (instance) (increase(@certificate_reload_failures_total[$__rate_interval]))", "{{instance}}"),)),
        Panel("Who leads", "1 for the process that leads.", "none", (_q("max by (instance) (@leader)", "{{instance}}"),)),
    )),
    Row("What does the REST interface do?", (
        Panel("Requests", "Requests by the status of their answer.", "reqps", (_q("sum by (code) (rate(@rest_requests_total[$__rate_interval]))", "{{code}}"),)),
        Panel("What they are about", "Requests by collection and method.", "reqps", (_q("sum by (collection, method) (rate(@rest_requests_total[$__rate_interval]))", "{{method}} {{collection}}"),)),
        Panel("Time of requests", "From a request's first byte to its answer.", "s", _quantiles("rest_request_seconds")),
    )),
    Row("What do the processes need?", (
        Panel("Memory", "Resident memory of each process.", "bytes", (_q("process_resident_memory_bytes and on (job, instance) @info", "{{instance}}"),)),
        Panel("CPU", "Cores that each process uses.", "none", (_q("rate(process_cpu_seconds_total[$__rate_interval]) and on (job, instance) @info", "{{instance}}"),)),
        Panel("Files", "Open file descriptors of each process.", "none", (_q("process_open_fds and on (job, instance) @info", "{{instance}}"),)),
    )),
)  # fmt: skip
"""The whole dashboard."""
