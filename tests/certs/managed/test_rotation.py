"""Every step, and why it is taken."""

from dataclasses import replace

import pytest
from cryptography import x509

from certs.authority import Leaf
from certs.certificate import issued, names_of, renewal_time
from certs.managed.action import Idle, WriteBundle, WriteSecret
from certs.managed.bundle import write_bundle
from certs.managed.certificate_secret import CertificateSecret
from certs.managed.observed import Observed
from certs.managed.rotation import decide
from certs.names import LOOPBACK, Names
from tests.certs.managed.rotation_samples import HOUR, NAMES, holding, leaf, terms, view
from tests.certs.samples import DAY, NOW, authority, other_programs

ONE, TWO = authority(days=365), authority(days=365)
BOTH = (ONE.certificate, TWO.certificate)
STEADY = holding(ONE)
STAGED = holding(ONE, bundle=BOTH, following=TWO)
IN_USE = holding(TWO, bundle=BOTH)


def trusting(held: CertificateSecret, **more: float) -> Observed:
    return view(held, write_bundle(held.bundle), **more)


def written(seen: Observed, *, at: float = 0) -> WriteSecret:
    """The step, ``at`` days from now."""
    step = decide(seen, terms(), NOW + at * DAY)
    assert isinstance(step, WriteSecret)
    return step


def test_nothing_is_done_where_nothing_is_due() -> None:
    assert decide(trusting(STEADY), terms(), NOW) == Idle()


def test_a_first_authority_is_staged_before_it_issues() -> None:
    step = written(view(CertificateSecret()))
    assert step.reason == "there was no usable authority"
    assert step.holding.following is not None
    assert step.holding == CertificateSecret((step.holding.following.certificate,), following=step.holding.following)


def test_a_first_authority_is_used_as_soon_as_api_servers_can_know() -> None:
    staged = CertificateSecret((TWO.certificate,), following=TWO)
    assert decide(trusting(staged, trusted_for=2), terms(), NOW) == Idle(3)
    assert written(trusting(staged, trusted_for=5)).holding.issuer == TWO


def test_what_clients_trust_is_kept_where_the_secret_is_gone() -> None:
    step = written(view(CertificateSecret(), write_bundle(BOTH), b"", ONE.certificate_pem))
    assert step.holding.bundle[1:] == BOTH


def test_what_is_said_to_be_trusted_where_the_secret_knows_is_not_taken_over() -> None:
    step = written(view(holding(ONE, authority=None), TWO.certificate_pem))
    assert TWO.certificate not in step.holding.bundle


@pytest.mark.parametrize(
    "bundles",
    [
        pytest.param((b"",), id="wiped"),
        pytest.param((b"garbage",), id="garbage"),
        pytest.param((ONE.certificate_pem, TWO.certificate_pem), id="one of two"),
        pytest.param((write_bundle(BOTH),), id="one too many"),
    ],
)
def test_a_configuration_that_trusts_anything_else_is_put_right(bundles: tuple[bytes, ...]) -> None:
    wrong = tuple(f"mutating/{index}" for index, bundle in enumerate(bundles) if bundle != ONE.certificate_pem)
    assert decide(view(STEADY, *bundles), terms(), NOW) == WriteBundle(wrong, ONE.certificate_pem)


def test_a_configuration_is_wrong_if_one_of_its_webhooks_is() -> None:
    seen = Observed(STEADY, {"a": (ONE.certificate_pem, b""), "b": ()})
    assert decide(seen, terms(), NOW) == WriteBundle(("a",), ONE.certificate_pem)


def test_a_leaf_is_renewed_in_its_last_third_by_the_same_authority() -> None:
    assert STEADY.leaf is not None
    due = renewal_time(STEADY.leaf.certificate)
    assert decide(trusting(STEADY), terms(), due - HOUR) == Idle()
    step = decide(trusting(STEADY), terms(), due)
    assert isinstance(step, WriteSecret)
    assert step.reason == "tls.crt was due for renewal"
    assert step.holding == replace(STEADY, leaf=step.holding.leaf)
    assert step.holding.issuer is ONE


def test_a_leaf_is_renewed_although_a_configuration_cannot_be_changed() -> None:
    assert written(view(STEADY, b""), at=61).reason == "tls.crt was due for renewal"


def test_a_leaf_is_renewed_while_the_next_authority_is_staged() -> None:
    assert written(trusting(STAGED), at=61).holding.issuer is ONE


def test_a_leaf_that_ends_with_its_authority_is_not_renewed_for_nothing() -> None:
    own = authority(days=60)
    held = holding(own, leaf=leaf(own))
    step = decide(trusting(held), terms(), NOW + 59 * DAY)
    assert isinstance(step, WriteSecret)
    assert step.reason == "authority.crt was due for renewal"


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        pytest.param(leaf(ONE, days=1 / 48), "tls.crt was expired, or not valid yet", id="expired"),
        pytest.param(leaf(ONE, now=NOW + 2 * DAY), "tls.crt was expired, or not valid yet", id="of the future"),
        pytest.param(leaf(ONE, names=NAMES + LOOPBACK), "tls.crt was for other names", id="for more names"),
        pytest.param(leaf(ONE, names=Names(("a",))), "tls.crt was for other names", id="for another name"),
    ],
)
def test_a_leaf_that_no_client_accepts_is_replaced_at_once(broken: Leaf, reason: str) -> None:
    step = decide(view(holding(ONE, leaf=broken), b""), terms(), NOW + HOUR)
    assert isinstance(step, WriteSecret)
    assert step.reason == reason
    assert step.holding.leaf is not None
    assert set(names_of(step.holding.leaf.certificate).dns) == set(NAMES.dns)


def test_a_leaf_that_is_for_clients_is_replaced() -> None:
    names = x509.SubjectAlternativeName([x509.DNSName(name) for name in NAMES.dns])
    usage = x509.ExtendedKeyUsage([x509.ExtendedKeyUsageOID.CLIENT_AUTH])
    pem, key = other_programs(names, usage, issuer=ONE)
    held = CertificateSecret.of(STEADY.contents() | {"tls.crt": pem, "tls.key": key})
    assert written(trusting(held)).reason == "tls.crt was not for servers"


def test_a_missing_leaf_waits_until_its_authority_is_trusted() -> None:
    held = holding(ONE, leaf=None)
    assert decide(view(held, b""), terms(), NOW) == WriteBundle(("mutating/0",), ONE.certificate_pem)
    assert decide(trusting(held, trusted_for=1), terms(), NOW) == Idle(4)
    assert written(trusting(held, trusted_for=5)).holding.issuer is ONE


def test_another_authoritys_leaf_serves_until_ours_is_trusted_everywhere() -> None:
    held = holding(ONE, leaf=leaf(TWO))
    assert decide(trusting(held, trusted_for=50), terms(), NOW) == Idle(10)
    assert written(trusting(held, trusted_for=60)).holding.issuer is ONE


def test_an_impatient_wish_is_met_without_a_leaf_too() -> None:
    step = decide(trusting(holding(ONE, leaf=None), trusted_for=1), terms(propagation=1), NOW)
    assert isinstance(step, WriteSecret)


def test_a_new_authority_is_staged_in_the_last_third_of_the_old_one() -> None:
    fresh = holding(ONE, leaf=leaf(ONE, now=NOW + 200 * DAY))
    due = renewal_time(ONE.certificate)
    assert decide(trusting(fresh), terms(), due - HOUR) == Idle()
    step = decide(trusting(fresh), terms(), due)
    assert isinstance(step, WriteSecret)
    assert step.reason == "authority.crt was due for renewal"
    assert step.holding.following is not None
    bundle = (ONE.certificate, step.holding.following.certificate)
    assert step.holding == replace(fresh, following=step.holding.following, bundle=bundle)


def test_an_authority_without_its_key_is_followed_by_another() -> None:
    step = written(trusting(holding(ONE, authority=None)))
    assert step.holding.following is not None
    assert set(step.holding.bundle) == {ONE.certificate, step.holding.following.certificate}
    assert step.holding.leaf is not None


def test_a_staged_authority_waits_for_every_configuration() -> None:
    seen = view(STAGED, write_bundle(BOTH), ONE.certificate_pem, trusted_for=1000)
    assert decide(seen, terms(), NOW) == WriteBundle(("mutating/1",), write_bundle(BOTH))


def test_a_staged_authority_waits_for_every_api_server() -> None:
    assert decide(trusting(STAGED, trusted_for=59), terms(), NOW) == Idle(1)


def test_a_staged_authority_then_takes_over_beside_the_old_one() -> None:
    step = written(trusting(STAGED, trusted_for=60))
    assert step.reason == "next-authority.crt is trusted everywhere"
    assert step.holding == CertificateSecret(BOTH, TWO, None, step.holding.leaf)
    assert step.holding.leaf is not None
    assert issued(TWO.certificate, step.holding.leaf.certificate)


def test_a_staged_authority_that_is_old_already_is_followed_by_another() -> None:
    old = authority(now=NOW - 300 * DAY, days=365)
    step = written(trusting(holding(None, authority=None, bundle=(old.certificate,), following=old), trusted_for=1000))
    assert step.holding.following not in (old, None)


def test_a_staged_authority_that_has_ended_is_dropped_if_it_is_not_needed() -> None:
    ended = authority(now=NOW - 300 * DAY, days=100)
    held = holding(ONE, bundle=(ONE.certificate, ended.certificate), following=ended)
    assert written(trusting(held, issued_for=600)).holding == replace(held, bundle=(ONE.certificate,), following=None)


def test_the_old_authority_is_trusted_until_every_server_shows_the_new_leaf() -> None:
    assert decide(trusting(IN_USE, issued_for=599), terms(), NOW) == Idle(1)


def test_the_old_authority_is_then_dropped() -> None:
    step = written(trusting(IN_USE, issued_for=600))
    assert (step.reason, step.holding) == ("only authority.crt is in use", replace(IN_USE, bundle=(TWO.certificate,)))


@pytest.mark.parametrize("bundle", [(), (TWO.certificate,)], ids=["empty", "another"])
def test_whoever_issues_is_put_back_into_the_bundle(bundle: tuple[x509.Certificate, ...]) -> None:
    step = written(view(holding(ONE, bundle=bundle), b""))
    assert step.reason == "ca.crt lacked an authority"
    assert step.holding.bundle == (ONE.certificate, *bundle)


def test_whoever_will_issue_is_put_back_into_the_bundle() -> None:
    assert written(view(holding(ONE, following=TWO))).holding.bundle == BOTH


def test_an_authority_that_has_ended_issues_nothing() -> None:
    ended = authority(days=10)
    held = holding(ended, leaf=None, bundle=(ended.certificate, TWO.certificate), following=TWO)
    step = written(trusting(held, trusted_for=5), at=11)
    assert step.holding.issuer is TWO


def test_with_no_configuration_at_all_rotation_goes_on() -> None:
    assert written(view(STAGED, trusted_for=60)).holding.authority is TWO
