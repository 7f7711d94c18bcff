"""For each alert, series for which it fires, with what it then says, and series for which it does not.

Series are in promtool's notation: ``0x5 1+2x10`` is six times 0, and then 1, 3, 5 and so on, one value a minute.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

Series = Mapping[str, str]


class Fires(Struct, frozen=True):
    """Series for which an alert fires at a minute, and its labels and description then."""

    series: Series
    minute: int
    labels: Mapping[str, str]
    description: str


class AlertCase(Struct, frozen=True):
    """What makes one alert fire, and what does not, at the minute of the first that fires."""

    fires: tuple[Fires, ...]
    quiet: tuple[Series, ...]


P: Final = "streams_placement_"
_TARGET: Final = 'instance="10.0.0.7:8081",job="m"'
_POD: Final = f'{_TARGET},pod="w-0"'
_OF_POD: Final = {"instance": "10.0.0.7:8081", "job": "m", "pod": "w-0"}
_DAY: Final = 1440
_SERVE: Final = {f'{P}info{{{_TARGET},program="serve"}}': "1x3000"}
_CONTROLLER: Final = {f'{P}info{{{_TARGET},program="controller"}}': "1x3000"}


def _of(name: str, labels: str, values: str) -> Series:
    return {f"{P}{name}{{{labels}}}": values}


def _case(fires: Fires, *quiet: Series) -> AlertCase:
    return AlertCase((fires,), quiet)


def _reviews(fast: int, slow: int) -> Series:
    """So many reviews a minute that take up to half a second, and up to a whole one."""
    return {
        **_of("review_seconds_bucket", 'le="0.5"', f"0+{fast}x60"),
        **_of("review_seconds_bucket", 'le="1.0"', f"0+{fast + slow}x60"),
        **_of("review_seconds_bucket", 'le="+Inf"', f"0+{fast + slow}x60"),
        **_of("review_seconds_count", "", f"0+{fast + slow}x60"),
    }


_REFUSED: Final = 'kind="Pod",mode="enforce",rule="pool"'

CASES: Final[dict[str, AlertCase]] = {
    "StreamsPlacementNoWebhook": AlertCase(
        (
            Fires({**_SERVE, **_of("ready", _TARGET, "0x20")}, 5, {}, "No webhook process is ready, so the API server refuses pods that ask for hosts."),
            Fires({**_CONTROLLER, **_of("ready", _TARGET, "1x20")}, 5, {}, "No webhook process is ready, so the API server refuses pods that ask for hosts."),
        ),
        ({**_SERVE, **_of("ready", _TARGET, "1x20")},),
    ),
    "StreamsPlacementNotReady": _case(
        Fires(_of("ready", _POD, "0x20"), 11, _OF_POD, "w-0 (10.0.0.7:8081) is not ready; its page /readyz says why."),
        _of("ready", _POD, "0x8 1x12"),
    ),
    "StreamsPlacementReviewFailures": _case(
        Fires(_of("review_failures_total", 'path="/mutate"', "0x5 3x15"), 10, {"path": "/mutate"}, "3 reviews at /mutate failed within 15 minutes; the log has a traceback for each."),
        _of("review_failures_total", 'path="/mutate"', "3x30"),
    ),
    "StreamsPlacementServerErrors": _case(
        Fires(_of("http_errors_total", 'code="503"', "0+60x30"), 25, {}, "1 requests in a second get an HTTP error of the server: it is not ready, or too late."),
        _of("http_errors_total", 'code="404"', "0+60x30"),
        _of("http_errors_total", 'code="503"', "0+1x30"),
    ),
    "StreamsPlacementReviewsSlow": _case(
        Fires(_reviews(80, 20), 25, {}, "The 99th percentile of reviews is 975ms; the API server waits for each of them."),
        _reviews(100, 0),
        _reviews(1, 1),
    ),
    "StreamsPlacementConnectionsRefused": _case(
        Fires(_of("connection_failures_total", 'cause="capacity"', "0+10x20"), 12, {}, "100 connections were closed within ten minutes, beyond the limit of a process."),
        _of("connection_failures_total", 'cause="handshake"', "0+10x20"),
    ),
    "StreamsPlacementRefusalsRise": AlertCase(
        (
            Fires(_of("refusals_total", _REFUSED, f"0+1x{_DAY} 1440+20x60"), _DAY + 40, {"kind": "Pod", "rule": "pool"}, "300 refusals of Pod by pool within 15 minutes, over four times as many as usual."),
            Fires(_of("refusals_total", _REFUSED, "0+5x60"), 30, {"kind": "Pod", "rule": "pool"}, "75 refusals of Pod by pool within 15 minutes, over four times as many as usual."),
        ),
        (
            _of("refusals_total", _REFUSED, f"0+5x{_DAY + 60}"),
            _of("refusals_total", _REFUSED, f"0+0x{_DAY} 0+1x60"),
            _of("refusals_total", _REFUSED.replace("enforce", "audit"), f"0x{_DAY} 0+20x60"),
        ),
    ),
    "StreamsPlacementPodsWait": _case(
        Fires(_of("pods_waiting_oldest_seconds", _TARGET, "4000+60x20"), 10, {}, "The pod that waits longest has waited for 1h 16m 40s."),
        _of("pods_waiting_oldest_seconds", _TARGET, "100+60x20"),
    ),
    "StreamsPlacementCacheStale": _case(
        Fires(_of("cache_age_seconds", _POD, "200x10"), 2, _OF_POD, "w-0 (10.0.0.7:8081) decides by a state that is 3m 20s old."),
        _of("cache_age_seconds", _POD, "50x10"),
    ),
    "StreamsPlacementClusterFailures": _case(
        Fires(_of("cluster_failures_total", 'cause="forbidden"', "0+1x60"), 40, {"cause": "forbidden"}, "15 failures (forbidden) of lists and watches within 15 minutes."),
        _of("cluster_failures_total", 'cause="gone"', "0+1x60"),
        _of("cluster_failures_total", 'cause="unreachable"', "0x20 3x40"),
    ),
    "StreamsPlacementCertificateExpires": _case(
        Fires(_of("certificate_expiry_seconds", _POD, f"{5 * 86400}x60"), 20, _OF_POD, "The certificate of w-0 (10.0.0.7:8081) should have been renewed by now."),
        _of("certificate_expiry_seconds", _POD, f"{30 * 86400}x60"),
        _of("certificate_expiry_seconds", _POD, "0x60"),
    ),
    "StreamsPlacementCertificateExpiresSoon": _case(
        Fires(_of("certificate_expiry_seconds", _POD, f"{12 * 3600}x60"), 20, _OF_POD, "After that the API server cannot ask w-0 (10.0.0.7:8081), and refuses pods that ask for hosts."),
        _of("certificate_expiry_seconds", _POD, f"{5 * 86400}x60"),
    ),
    "StreamsPlacementCertificateUnusable": _case(
        Fires(_of("certificate_reload_failures_total", _POD, "0x5 1x20"), 10, _OF_POD, "w-0 (10.0.0.7:8081) goes on with its last good pair, or is unready without one; its log says why."),
        _of("certificate_reload_failures_total", _POD, "1x30"),
    ),
    "StreamsPlacementNoLeader": AlertCase(
        (
            Fires({**_of("leader", 'pod="c-0"', "0x20"), **_of("leader", 'pod="c-1"', "0x20")}, 5, {}, "HostPools get no hosts and Jobs no pods; what runs goes on."),
            Fires(_of("leader", 'pod="c-0"', "1x2 stale"), 8, {}, "HostPools get no hosts and Jobs no pods; what runs goes on."),
        ),
        ({**_of("leader", 'pod="c-0"', "0x20"), **_of("leader", 'pod="c-1"', "1x20")}, _of("leader", 'pod="c-0"', "0x2 1x20")),
    ),
    "StreamsPlacementSeveralLeaders": _case(
        Fires({**_of("leader", 'pod="c-0"', "1x20"), **_of("leader", 'pod="c-1"', "1x20")}, 5, {}, "2 processes say that they lead; they have different Leases, or clocks that run apart."),
        {**_of("leader", 'pod="c-0"', "1x2 0x20"), **_of("leader", 'pod="c-1"', "0x1 1x20")},
    ),
    "StreamsPlacementReconcileFails": AlertCase(
        (
            Fires(_of("queue_failing", _TARGET, "2x30"), 20, {}, "For 15 minutes looks at some HostPool have failed, or waited for minutes; the controller's log says why."),
            Fires(_of("queue_oldest_seconds", _TARGET, "300x30"), 20, {}, "For 15 minutes looks at some HostPool have failed, or waited for minutes; the controller's log says why."),
        ),
        ({**_of("queue_failing", _TARGET, "1x10 0x20"), **_of("queue_oldest_seconds", _TARGET, "5x30")},),
    ),
    "StreamsPlacementPoolsDegraded": _case(
        Fires(_of("host_pools_degraded", _TARGET, "2x30"), 20, {}, "2 HostPools have hosts that are gone, cordoned, shared, or have lost a label."),
        _of("host_pools_degraded", _TARGET, "2x10 0x20"),
    ),
    "StreamsPlacementPoolsPending": _case(
        Fires(_of("host_pools_pending_oldest_seconds", _TARGET, "2000+60x20"), 10, {}, "The HostPool that waits longest has been Pending for 43m 20s."),
        _of("host_pools_pending_oldest_seconds", _TARGET, "60x30"),
    ),
    "StreamsPlacementJobsDegraded": _case(
        Fires(_of("jobs_degraded", _TARGET, "3x30"), 20, {}, "3 Jobs have been Degraded for 15 minutes."),
        _of("jobs_degraded", _TARGET, "3x10 0x20"),
    ),
    "StreamsPlacementJobsSubmitting": _case(
        Fires(_of("jobs_submitting_oldest_seconds", _TARGET, "2000+60x20"), 10, {}, "The Job that waits longest has been Submitting for 43m 20s."),
        _of("jobs_submitting_oldest_seconds", _TARGET, "60x30"),
    ),
    "StreamsPlacementRestErrors": _case(
        Fires({**_of("rest_requests_total", 'code="200"', "0+90x40"), **_of("rest_requests_total", 'code="503"', "0+10x40")}, 30, {}, "10% of the requests for HPA intents fail: storage cannot be used, or the program fails."),
        {**_of("rest_requests_total", 'code="200"', "0+99x40"), **_of("rest_requests_total", 'code="503"', "0+1x40")},
        _of("rest_requests_total", 'code="404"', "0+90x40"),
    ),
}  # fmt: skip
"""By the name of the alert, in the order of the file."""
