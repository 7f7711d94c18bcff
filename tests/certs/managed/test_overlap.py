"""Every leaf that may be served verifies against every bundle that may be in use, whatever happens in between.

Two leaders act at once, as if there were no Lease, each on what it saw some time ago; either is killed at any point;
clocks run on by seconds or by days; somebody takes keys away. API servers and servers lag as far as they may.
"""

import functools
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TypeVar

import pytest
from cryptography import x509
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from certs.authority import create_authority
from certs.certificate import issued
from certs.managed.action import Action, Idle, WriteBundle, WriteSecret
from certs.managed.bundle import read_bundle, write_bundle
from certs.managed.certificate_secret import CertificateSecret
from certs.managed.keeper import StabilityTimer
from certs.managed.observed import Observed, RotationPolicy
from certs.managed.rotation import SHORT_PROPAGATION, decide
from tests.certs.managed.rotation_samples import holding, terms
from tests.certs.samples import NOW
from tests.suite.example_count import examples

pytestmark = pytest.mark.examples

T = TypeVar("T")

LEADERS = st.sampled_from((0, 1))
CONFIGURATIONS = ("mutating/a", "validating/b")
DAY = 86_400.0
PAUSE = 0.1


@dataclass(frozen=True)
class Served:
    certificate: x509.Certificate
    lag: float
    """Seconds that API servers may lag without harm; less if nothing was served anyway, as the last one had ended."""


@dataclass
class Leader:
    steady: StabilityTimer = field(default_factory=StabilityTimer)
    versions: dict[str, int] = field(default_factory=dict)
    action: Action = field(default_factory=Idle)


class Cluster(RuleBasedStateMachine):
    """The Secret and two configurations, with a version each."""

    terms: RotationPolicy = terms()
    lag = 60.0
    """Seconds that an API server uses an older bundle."""
    lateness = 600.0
    """Seconds that a server shows an older leaf."""

    def __init__(self) -> None:
        super().__init__()
        self.moment = 0.0
        self.holding = CertificateSecret()
        self.bundles = dict.fromkeys(CONFIGURATIONS, b"")
        self.versions = dict.fromkeys(("secret", *CONFIGURATIONS), 0)
        self.leaders = [Leader(), Leader()]
        self.served: list[tuple[float, Served]] = []
        """Since when each leaf was in the Secret; servers keep the last one if it is taken away."""
        self.trusted: list[tuple[float, str, bytes]] = []
        """Since when each configuration held each bundle; the first word of it that is ours counts as the beginning."""

    @initialize()
    def set_up(self) -> None:
        self.finish()

    @rule(seconds=st.sampled_from((0.2, 4.0, 5.0, 31.0, 60.0, 301.0, 600.0)))
    def time_passes(self, seconds: float) -> None:
        self.moment += seconds

    @rule(days=st.sampled_from((1, 31, 61, 124)))
    def days_pass(self, days: int) -> None:
        self.moment += days * DAY

    @rule(who=LEADERS)
    def look(self, who: int) -> None:
        leader = self.leaders[who]
        held = CertificateSecret.of(self.holding.contents())
        editions = tuple((self.versions[name], self.bundles[name]) for name in CONFIGURATIONS)
        seen = Observed(
            held,
            {name: (bundle,) for name, bundle in self.bundles.items()},
            trusted_for=leader.steady.seconds("trusted", (write_bundle(held.bundle), editions), self.moment),
            issued_for=leader.steady.seconds("issuer", held.issuer and held.issuer.certificate, self.moment),
        )
        leader.versions = dict(self.versions)
        leader.action = decide(seen, self.terms, NOW + timedelta(seconds=self.moment))

    @rule(who=LEADERS)
    def act(self, who: int) -> None:
        """One request of what was decided when it looked; refused if the object is another by now."""
        leader = self.leaders[who]
        action, leader.action = leader.action, Idle()
        if isinstance(action, WriteSecret) and leader.versions["secret"] == self.versions["secret"]:
            self.write(action.holding)
        if isinstance(action, WriteBundle):
            name, *rest = action.configurations
            if rest:
                leader.action = WriteBundle(tuple(rest), action.bundle)
            if leader.versions[name] == self.versions[name]:
                self.trust(name, action.bundle)

    @rule(who=LEADERS)
    def killed(self, who: int) -> None:
        self.leaders[who] = Leader()

    @rule()
    def authority_is_to_be_changed(self) -> None:
        self.write(replace(self.holding, authority=None))

    def write(self, held: CertificateSecret) -> None:
        self.holding = held
        self.versions["secret"] += 1
        leaf = self.holding.leaf
        if leaf and (not self.served or self.served[-1][1].certificate != leaf.certificate):
            lost = bool(self.served) and expired(self.served[-1][1].certificate, self.moment)
            self.served.append((self.moment, Served(leaf.certificate, SHORT_PROPAGATION if lost else self.lag)))

    def trust(self, name: str, bundle: bytes) -> None:
        self.bundles[name] = bundle
        self.versions[name] += 1
        self.trusted.append((self.moment, name, bundle))

    def finish(self) -> None:
        """One leader, left alone."""
        for _ in range(40):
            self.look(0)
            action = self.leaders[0].action
            if isinstance(action, Idle):
                if action.seconds is None:
                    break
                self.moment += action.seconds + PAUSE
            self.act(0)
            self.verifies()

    @invariant()
    def verifies(self) -> None:
        for leaf, end in ended(self.served):
            if self.moment >= end + self.lateness or expired(leaf.certificate, self.moment):
                continue
            for name in CONFIGURATIONS:
                held = [(since, bundle) for since, which, bundle in self.trusted if which == name]
                for bundle, until in ended(held):
                    trusted = self.moment >= until + leaf.lag or verifies(bundle, leaf.certificate)
                    assert trusted, "no client trusts this leaf"

    def teardown(self) -> None:
        self.finish()
        authority = self.holding.issuer
        assert authority is not None
        assert self.holding.following is None
        assert set(self.bundles.values()) == {authority.certificate_pem}


def expired(certificate: x509.Certificate, moment: float) -> bool:
    return certificate.not_valid_after_utc <= NOW + timedelta(seconds=moment)


@functools.cache
def verifies(bundle: bytes, leaf: x509.Certificate) -> bool:
    return any(issued(one, leaf) for one in read_bundle(bundle))


def ended(values: list[tuple[float, T]]) -> list[tuple[T, float]]:
    """Each with the moment at which the next one took its place."""
    ends = (*(since for since, _ in values[1:]), float("inf"))
    return [(value, end) for (_, value), end in zip(values, ends, strict=False)]


class Mishaps(Cluster):
    """Whole objects vanish; API servers are quick then, or there would be nothing to serve for a minute."""

    lag = SHORT_PROPAGATION

    @rule()
    def secret_is_deleted(self) -> None:
        self.write(CertificateSecret())

    @rule()
    def leaf_is_taken_away(self) -> None:
        self.write(replace(self.holding, leaf=None))

    @rule()
    def bundle_is_wiped(self) -> None:
        self.write(replace(self.holding, bundle=()))


class Swap(Cluster):
    """The authority, its leaf and the bundle are all made anew at once."""

    @rule()
    def swap(self) -> None:
        self.write(holding(create_authority(NOW + timedelta(seconds=self.moment), 365 * timedelta(days=1))))


class Impatient(Cluster):
    """The leader does not wait for API servers."""

    terms = terms(propagation=1)


class Hasty(Cluster):
    """The leader does not wait for servers."""

    terms = terms(adoption=1)


@pytest.mark.parametrize("machine", [Cluster, Mishaps], ids=["kills and clocks", "vanishing objects"])
def test_no_admission_fails(machine: type[Cluster]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(examples(60), stateful_step_count=60, suppress_health_check=list(HealthCheck)),
    )


@pytest.mark.parametrize("machine", [Swap, Impatient, Hasty])
def test_the_same_test_finds_what_goes_wrong_without_overlap(machine: type[Cluster]) -> None:
    with pytest.raises(AssertionError, match="no client trusts this leaf"):
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=300,
                stateful_step_count=40,
                deadline=None,
                database=None,
                phases=(Phase.generate,),
                suppress_health_check=list(HealthCheck),
            ),
        )
