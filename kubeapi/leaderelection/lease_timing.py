"""How long a Lease lasts, and how often it is renewed."""

from typing import Self

from msgspec import Struct


class LeaseTiming(Struct, frozen=True, kw_only=True):
    """Seconds; by default those of Kubernetes' own components (component-base, ``config/v1alpha1/defaults.go``)."""

    lease: int = 15
    """How long nobody else takes the Lease after a renewal; whole seconds, as the API has it."""
    deadline: float = 10.0
    """How long the holder may act after it sent a renewal: shorter, so that clocks may run apart by half."""
    retry: float = 2.0
    """The pause between two renewals, or between two looks at a Lease that another process holds."""
    jitter: float = 0.2
    """The pause is longer by a random part of it, up to this one, so that candidates do not all look at once."""

    def __post_init__(self) -> None:
        """Refuse a timing by which a Lease could not be kept, or could be lost unnoticed."""
        if not 0 < self.retry * (1 + self.jitter) < self.deadline < self.lease:
            raise ValueError("the retry period must be shorter than the deadline, and that shorter than the lease")

    @classmethod
    def in_proportion(cls, lease: int, *, jitter: float) -> Self:
        """The usual deadline and retry, scaled to a Lease of so many seconds."""
        usual = cls()
        scale = lease / usual.lease
        return cls(lease=lease, deadline=usual.deadline * scale, retry=usual.retry * scale, jitter=jitter)

    @property
    def request(self) -> float:
        """The time-out of one request: half the deadline, so that another one fits in (client-go, ``interface.go``)."""
        return self.deadline / 2
