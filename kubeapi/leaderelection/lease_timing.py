"""``LeaseTiming``: how long a Lease lasts, how often its holder renews it, and the time-out of these requests."""

from typing import Self

from msgspec import Struct


class LeaseTiming(Struct, frozen=True, kw_only=True):
    """Durations in seconds; defaults as in Kubernetes (component-base, ``config/v1alpha1/defaults.go``)."""

    lease: int = 15
    """How long no other process takes the Lease after a renewal; whole seconds, as in the API."""
    deadline: float = 10.0
    """How long the holder may act after it sent a renewal; shorter than the lease, in case its clock is slower."""
    retry: float = 2.0
    """The pause between two renewals, or between two looks at a Lease that another process holds."""
    jitter: float = 0.2
    """Each pause is longer by a random share of up to this, so that candidates do not send requests all at once."""

    def __post_init__(self) -> None:
        """Raise ``ValueError`` if the Lease could not be renewed in time, or could be taken before the deadline."""
        if not 0 < self.retry * (1 + self.jitter) < self.deadline < self.lease:
            raise ValueError("the retry period must be shorter than the deadline, and that shorter than the lease")

    @classmethod
    def in_proportion(cls, lease: int, *, jitter: float) -> Self:
        """The timing for a Lease of ``lease`` seconds, with the default deadline and retry in proportion."""
        usual = cls()
        scale = lease / usual.lease
        return cls(lease=lease, deadline=usual.deadline * scale, retry=usual.retry * scale, jitter=jitter)

    @property
    def request(self) -> float:
        """The time-out of one request: half the deadline, so that another one fits in (client-go, ``interface.go``)."""
        return self.deadline / 2
