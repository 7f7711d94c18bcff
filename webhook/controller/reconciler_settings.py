"""Settings of the reconcilers, as values: the composition root makes them of flags and environment variables."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.placement.inventory.policy import Policy
from webhook.placement.planning.search.solver import Solving
from webhook.placement.text.defaults import RUNTIME_IMAGE
from webhook.tracing import Traces

SOON: Final = 0.1
"""Seconds until the next pass after a conflict, and while the watch is behind."""


class Replacement(Struct, frozen=True):
    """When hosts that still exist are replaced (``docs/operations.md``).

    ``unusable_after`` seconds of being cordoned, not ready or otherwise tainted; 0 for never. ``unlabelled`` is whether
    a host that has lost a tag is.
    """

    unusable_after: float = 0.0
    unlabelled: bool = False


class ReconcilerSettings(Struct, frozen=True):
    """The settings of the reconcilers: ``policy`` is admission's as well, the others are the controller's own.

    ``runtime_image`` is the image of processing elements without a template, ``solving`` how it is found out whether a
    whole Job can run, ``traces`` what has a span for each reconcile. ``kueue`` is whether admission checks of
    Kueue are answered, ``provisioning_requests`` whether the cluster autoscaler is asked for room.
    """

    policy: Policy
    replacement: Replacement = Replacement()
    runtime_image: str = RUNTIME_IMAGE
    solving: Callable[[], Solving] = AtOnce
    traces: Traces | None = None
    kueue: bool = False
    provisioning_requests: bool = False

    @property
    def asks_autoscaler(self) -> bool:
        """Whether it is asked about Jobs that wait for new nodes: there are none without node groups."""
        return self.provisioning_requests and self.policy.scale_up != "off"
