"""The API server's clock is set forward and back, by seconds and by years, and certificates run out meanwhile.

Soon after each jump there is a leaf that is valid by that clock, and every configuration trusts its authority.
"""

import random
from datetime import datetime, timedelta
from typing import Final

import pytest

from certs.certificate import issued
from certs.managed.action import Idle, WriteBundle, WriteSecret
from certs.managed.bundle import read_bundle, write_bundle
from certs.managed.certificate_secret import CertificateSecret
from certs.managed.keeper import PAUSE, StabilityTimer
from certs.managed.observed import Observed
from certs.managed.rotation import decide
from tests.certs.managed.rotation_samples import terms
from tests.certs.samples import DAY, NOW
from tests.suite.example_count import some_of

pytestmark = pytest.mark.examples

TERMS: Final = terms()
CONFIGURATIONS: Final = ("mutating/a", "validating/b")

JUMPS: Final = (-900, -100, -31, -1, -1 / 24, 1 / 24, 1, 31, 61, 100, 400, 900)
"""Days; a leaf lasts 90 and an authority 365."""

STEPS: Final = 40
"""Steps after which nothing is left to be done; a rotation has fewer than ten."""


class Rotation:
    """The Secret, the bundles of two configurations, and one leader."""

    def __init__(self) -> None:
        self.passed = 0.0
        """Seconds, by a clock that nobody sets."""
        self.offset = timedelta()
        self.held = CertificateSecret()
        self.bundles = dict.fromkeys(CONFIGURATIONS, b"")
        self._steady = StabilityTimer()

    @property
    def now(self) -> datetime:
        """The time of the API server."""
        return NOW + 1000 * DAY + self.offset + timedelta(seconds=self.passed)

    def settle(self) -> float:
        """Step until nothing is left to be done; the seconds that it takes until reviews do not fail any more."""
        began, good = self.passed, None if self.fault() else 0.0
        for _ in range(STEPS):
            held = CertificateSecret.of(self.held.contents())
            bundle = write_bundle(held.bundle)
            issuer = held.issuer and held.issuer.certificate
            seen = Observed(
                held,
                {name: (found,) for name, found in self.bundles.items()},
                trusted_for=self._steady.seconds("trusted", (bundle, tuple(self.bundles.values())), self.passed),
                issued_for=self._steady.seconds("issuer", issuer, self.passed),
            )
            action = decide(seen, TERMS, self.now)
            if isinstance(action, WriteSecret):
                self.held = action.holding
            elif isinstance(action, WriteBundle):
                self.bundles |= dict.fromkeys(action.configurations, action.bundle)
            elif action.seconds is None:
                assert good is not None, f"it is at rest, and {self.fault()}"
                return good
            self.passed += PAUSE + ((action.seconds or 0.0) if isinstance(action, Idle) else 0.0)
            if good is None and not self.fault():
                good = self.passed - began
        raise AssertionError(f"after {STEPS} steps it goes on with {action}")

    def fault(self) -> str:
        """Why a review would fail now; empty if none would."""
        leaf = self.held.leaf
        if leaf is None:
            return "there is no leaf"
        certificate = leaf.certificate
        if not certificate.not_valid_before_utc <= self.now < certificate.not_valid_after_utc:
            return f"the leaf is good from {certificate.not_valid_before_utc}, and it is {self.now}"
        for name, bundle in self.bundles.items():
            authorities = [one for one in read_bundle(bundle) if issued(one, certificate)]
            if not any(one.not_valid_before_utc <= self.now < one.not_valid_after_utc for one in authorities):
                return f"{name} trusts no authority of the leaf"
        return ""


@pytest.mark.parametrize("seed", range(min(some_of(60), 2_000)))
def test_soon_after_each_jump_reviews_do_not_fail(seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 -- repeatable, not secret
    rotation = Rotation()
    rotation.settle()
    for _ in range(30):
        days = dice.choice(JUMPS)
        rotation.offset += timedelta(days=days)
        seconds = rotation.settle()
        assert seconds <= 10, f"reviews failed for {seconds} seconds after a jump of {days} days"
        rotation.passed += dice.choice([0.0, 60.0, 3600.0, 86_400.0])
        rotation.settle()
