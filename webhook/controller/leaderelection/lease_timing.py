"""How long a lead lasts, and how often it is renewed."""

from msgspec import Struct


class LeaseTiming(Struct, frozen=True, kw_only=True):
    """Seconds; those of Kubernetes' own components (component-base, ``config/v1alpha1/defaults.go``)."""

    lease: int = 15
    """For so long nobody else takes the lease after a renewal; whole, as the API has it."""
    deadline: float = 10.0
    """For so long a renewal lets its sender lead: less, so that clocks may run apart by half."""
    retry: float = 2.0
    """Between two renewals, or two looks at another's lease."""
    jitter: float = 0.2
    """Up to this part of it more, lest all candidates look at once."""

    def __post_init__(self) -> None:
        """Only terms by which a lease can be kept, and not be lost unnoticed."""
        if not 0 < self.retry * (1 + self.jitter) < self.deadline < self.lease:
            raise ValueError("the retry period must be shorter than the deadline, and that shorter than the lease")

    @property
    def request(self) -> float:
        """Until a request is given up: half the deadline, so that another one fits in (client-go, ``interface.go``)."""
        return self.deadline / 2
