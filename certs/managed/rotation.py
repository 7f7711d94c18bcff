"""``decide``: the next step of renewing a leaf or rotating the authority, from what was observed in the cluster.

A rotation has three steps. The new authority is *staged*: clients are told to trust it besides the old authority. When
all webhook configurations have had the new bundle for ``propagation`` seconds, so that every API server uses it, the
new authority is *put to use*: it issues the leaf. When the leaf has been in the Secret for ``adoption`` seconds, so
that every server shows it, the old authority is *dropped* from the bundle. The bundle grows before the leaf changes,
and shrinks after that, so at every moment every leaf that may be served verifies against every bundle that may be in
use. Each step depends on the observed objects only, so a process that takes over after a crash goes on with the same
step.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Final, TypeAlias

from cryptography import x509

from certs.authority import Authority, Leaf, create_authority
from certs.certificate import is_for_servers, names_of, needs_renewal
from certs.managed.action import Action, Idle, WriteBundle, WriteSecret
from certs.managed.bundle import Bundle, merged, read_bundle, write_bundle
from certs.managed.observed import Observed, RotationPolicy
from certs.names import Names

SHORT_PROPAGATION: Final = 5.0
"""Seconds to wait for API servers to learn of a bundle if there is no usable leaf that could break; they usually need
hundredths of a second."""

Rule: TypeAlias = Callable[[Observed, RotationPolicy, datetime], Action | None]
"""Returns the step that the rule demands, ``None`` if it demands none."""


def decide(observed: Observed, policy: RotationPolicy, now: datetime) -> Action:
    """The next step, for any input. ``now`` is the time of the API server, which verifies leaves by its own clock."""
    for rule in (_repair, _renew, _stage, _trust, _issue, _put_to_use, _drop):
        if action := rule(observed, policy, now):
            return action
    return Idle()


def _repair(observed: Observed, _policy: RotationPolicy, _now: datetime) -> Action | None:
    """Add the authorities to the bundle if it lacks one of them, because another program has changed it."""
    holding = observed.holding
    needed = [one.certificate for one in (holding.authority, holding.following) if one]
    if set(needed) <= set(holding.bundle):
        return None
    return WriteSecret(replace(holding, bundle=_extended(observed, needed)), "ca.crt lacked an authority")


def _renew(observed: Observed, policy: RotationPolicy, now: datetime) -> Action | None:
    """Issue a new leaf of the same authority, which clients trust already, so nothing has to be waited for."""
    authority, leaf = observed.holding.issuer, observed.holding.leaf
    if authority is None or leaf is None or not _valid(authority.certificate, now):
        return None
    reason = _fault(leaf, policy.names, now)
    # A new leaf helps only if it expires later; a leaf that expires with its authority needs a new authority.
    end = min(now + policy.lifetime, authority.certificate.not_valid_after_utc)
    if not reason and needs_renewal(leaf.certificate, now) and end > leaf.certificate.not_valid_after_utc:
        reason = "tls.crt was due for renewal"
    if not reason:
        return None
    return WriteSecret(
        replace(observed.holding, leaf=authority.issue(policy.names, now, lifetime=policy.lifetime)), reason
    )


def _stage(observed: Observed, policy: RotationPolicy, now: datetime) -> Action | None:
    """Stage a new authority, to be trusted besides the present one, if that is missing or due for renewal."""
    holding = observed.holding
    if _lasts(holding.authority, now) or _lasts(holding.following, now):
        return None
    following = create_authority(now, policy.authority_lifetime)
    needed = [holding.authority.certificate] if holding.authority else []
    bundle = _extended(observed, [*needed, following.certificate])
    reason = "there was no usable authority" if holding.authority is None else "authority.crt was due for renewal"
    return WriteSecret(replace(holding, following=following, bundle=bundle), reason)


def _trust(observed: Observed, _policy: RotationPolicy, _now: datetime) -> Action | None:
    """Write the bundle of the Secret into the configurations that have another one."""
    wanted = write_bundle(observed.holding.bundle)
    wrong = tuple(name for name, bundles in observed.trusted.items() if set(bundles) - {wanted})
    return WriteBundle(wrong, wanted) if wrong else None


def _issue(observed: Observed, policy: RotationPolicy, now: datetime) -> Action | None:
    """Issue a leaf if there is none, or if another authority issued it."""
    authority = observed.holding.authority
    if authority is None or observed.holding.issuer or not _valid(authority.certificate, now):
        return None
    if waiting := _propagation(observed, policy, now):
        return waiting
    leaf = authority.issue(policy.names, now, lifetime=policy.lifetime)
    return WriteSecret(replace(observed.holding, leaf=leaf), "tls.crt was missing, or not issued by authority.crt")


def _put_to_use(observed: Observed, policy: RotationPolicy, now: datetime) -> Action | None:
    """Put the next authority to use, when all clients trust it."""
    following = observed.holding.following
    if following is None or not _valid(following.certificate, now):
        return None
    if waiting := _propagation(observed, policy, now):
        return waiting
    leaf = following.issue(policy.names, now, lifetime=policy.lifetime)
    holding = replace(observed.holding, authority=following, following=None, leaf=leaf)
    return WriteSecret(holding, "next-authority.crt is trusted everywhere")


def _drop(observed: Observed, policy: RotationPolicy, _now: datetime) -> Action | None:
    """Drop old authorities from the bundle, when no server shows a leaf of theirs any more."""
    authority = observed.holding.issuer
    if authority is None or observed.holding.bundle == (authority.certificate,):
        return None
    if observed.issued_for < policy.adoption:
        return Idle(policy.adoption - observed.issued_for)
    holding = replace(observed.holding, bundle=(authority.certificate,), following=None)
    return WriteSecret(holding, "only authority.crt is in use")


def _propagation(observed: Observed, policy: RotationPolicy, now: datetime) -> Idle | None:
    """The wait until every API server uses the present bundle; ``None`` if none is needed."""
    leaf = observed.holding.leaf
    usable = leaf is not None and not _fault(leaf, policy.names, now)
    needed = policy.propagation if usable else min(policy.propagation, SHORT_PROPAGATION)
    return Idle(needed - observed.trusted_for) if observed.trusted_for < needed else None


def _extended(observed: Observed, needed: list[x509.Certificate]) -> Bundle:
    """The ``needed`` certificates with the present bundle: the Secret's or, if that is empty, the configurations'."""
    trusted = observed.holding.bundle or tuple(
        one for bundles in observed.trusted.values() for text in bundles for one in read_bundle(text)
    )
    return merged(needed, trusted)


def _lasts(authority: Authority | None, now: datetime) -> bool:
    """Whether the authority exists, is valid and is not due for renewal."""
    if authority is None:
        return False
    return _valid(authority.certificate, now) and not needs_renewal(authority.certificate, now)


def _valid(certificate: x509.Certificate, now: datetime) -> bool:
    return certificate.not_valid_before_utc <= now < certificate.not_valid_after_utc


def _fault(leaf: Leaf, names: Names, now: datetime) -> str:
    """Why clients would not accept the leaf; empty if they would."""
    if not _valid(leaf.certificate, now):
        return "tls.crt was expired, or not valid yet"
    if set(names_of(leaf.certificate).texts) != set(names.texts):
        return "tls.crt was for other names"
    return "" if is_for_servers(leaf.certificate) else "tls.crt was not for servers"
