"""The flags of ``manage`` and their defaults. This module imports nothing slow, because ``--help`` imports it, too."""

from typing import Final

from certs.options import CA_DAYS, DNS, IP, LEAF_DAYS, LOOPBACK_NAMES, NAMESPACE, SERVICE, Option

INTERVAL_SECONDS: Final = 10.0
"""Default of ``--interval``: an overwritten ``caBundle`` is restored within this time. A look takes two or three small
requests."""

PROPAGATION_SECONDS: Final = 60.0
"""Default of ``--propagation``: API servers learn of a configuration by a watch, in hundredths of a second; one that
lost its watch asks again after 30 s at most (client-go, ``tools/cache/reflector.go``). Twice that time."""

ADOPTION_SECONDS: Final = 600.0
"""Default of ``--adoption``: a kubelet renews a mounted Secret after 60 to 90 s and, in a large cluster, after up to
300 s of cache (kubelet, ``configMapAndSecretChangeDetectionStrategy``); the rest is for slow nodes. Waiting longer has
no disadvantage."""

LEASE_SECONDS: Final = 15.0
"""Default of ``--lease-seconds``, as in Kubernetes' own components (component-base, ``leaderelection``)."""

DAY_SECONDS: Final = 86_400.0
"""The longest time that ``--propagation`` and ``--adoption`` take."""

SECRET: Final = Option("secret", "NAME", "the Secret that holds everything, created if missing; required")
MUTATING: Final = Option(
    "mutating",
    "NAME",
    "keep caBundle of this MutatingWebhookConfiguration; may be repeated, the variable takes a list",
    "many",
)
VALIDATING: Final = Option(
    "validating", "NAME", "keep caBundle of this ValidatingWebhookConfiguration; neither is ever created", "many"
)
API_SERVICE: Final = Option(
    "api-service", "NAME", "keep caBundle of this APIService, such as v1.GROUP, which is never created", "many"
)
LEASE: Final = Option("lease", "NAME", "the Lease that one process holds (default: the name of the Secret)")
INTERVAL: Final = Option(
    "interval", "S", f"seconds between two reads of the cluster (0.1 to 3600; default: {INTERVAL_SECONDS:g})"
)
PROPAGATION: Final = Option(
    "propagation",
    "S",
    "seconds after which every API server uses a configuration that was changed "
    f"(1 to {DAY_SECONDS:g}; default: {PROPAGATION_SECONDS:g})",
)
ADOPTION: Final = Option(
    "adoption",
    "S",
    f"seconds after which every server shows a new leaf (1 to {DAY_SECONDS:g}; default: {ADOPTION_SECONDS:g})",
)
DURATION: Final = Option(
    "lease-seconds", "N", f"whole seconds that the Lease is good for (3 to 3600; default: {LEASE_SECONDS:g})"
)
KUBECONFIG: Final = Option("kubeconfig", "FILE", "the kubeconfig to use instead of the pod's account")
CONTEXT: Final = Option("context", "NAME", "the context of the kubeconfig (default: its current one)")

MANAGE: Final = (
    NAMESPACE,
    SECRET,
    SERVICE,
    MUTATING,
    VALIDATING,
    API_SERVICE,
    LEASE,
    LOOPBACK_NAMES,
    DNS,
    IP,
    LEAF_DAYS,
    CA_DAYS,
    INTERVAL,
    PROPAGATION,
    ADOPTION,
    DURATION,
    KUBECONFIG,
    CONTEXT,
)
