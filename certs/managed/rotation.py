"""What is to be done next, from what is seen: one step at a time, each of which leaves everything in working order.

A new authority comes in three steps. It is *staged*: clients are to trust it besides the old one. When every webhook
configuration has been seen to say so for long enough that every API server knows, it is *put to use*: the leaf is its
own from now on. When every server has had the time to take that leaf over, the old one is *dropped*. What is trusted
grows before what is served changes, and shrinks after it, so at every moment every leaf that may be served verifies
against every bundle that may be in use. A step looks at nothing but what is there: whoever continues after a kill does
the same as the one who was killed would have done.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Final, TypeAlias

from cryptography import x509

from certs.authority import Authority, Leaf, create_authority
from certs.certificate import is_for_servers, names_of, needs_renewal
from certs.managed.action import Action, Idle, Trust, Write
from certs.managed.bundle import Bundle, merged, read_bundle, write_bundle
from certs.managed.observed import Observed, RotationPolicy
from certs.names import Names

SETTLING: Final = 5.0
"""Seconds for API servers to learn of a bundle where no usable leaf is lost by haste; they need hundredths of one."""

Rule: TypeAlias = Callable[[Observed, RotationPolicy, datetime], Action | None]


def decide(view: Observed, terms: RotationPolicy, now: datetime) -> Action:
    """The next step; total. ``now`` is the API server's time: it is the one that judges a leaf."""
    for rule in (_mend, _renew, _stage, _trust, _issue, _put_to_use, _drop):
        if action := rule(view, terms, now):
            return action
    return Idle()


def _mend(view: Observed, _terms: RotationPolicy, _now: datetime) -> Action | None:
    """Whoever issues must be trusted: somebody else has changed the bundle."""
    holding = view.holding
    needed = [one.certificate for one in (holding.authority, holding.following) if one]
    if set(needed) <= set(holding.bundle):
        return None
    return Write(replace(holding, bundle=_extended(view, needed)), "ca.crt lacked an authority")


def _renew(view: Observed, terms: RotationPolicy, now: datetime) -> Action | None:
    """A leaf of an authority that is trusted already: no need to wait for anybody."""
    authority, leaf = view.holding.issuer, view.holding.leaf
    if authority is None or leaf is None or not _valid(authority.certificate, now):
        return None
    reason = _fault(leaf, terms.names, now)
    # A leaf that ends with its authority would be no better if it were new: only another authority helps.
    end = min(now + terms.lifetime, authority.certificate.not_valid_after_utc)
    if not reason and needs_renewal(leaf.certificate, now) and end > leaf.certificate.not_valid_after_utc:
        reason = "tls.crt was due for renewal"
    if not reason:
        return None
    return Write(replace(view.holding, leaf=authority.issue(terms.names, now, lifetime=terms.lifetime)), reason)


def _stage(view: Observed, terms: RotationPolicy, now: datetime) -> Action | None:
    """A new authority, to be trusted besides what is trusted now."""
    holding = view.holding
    if _lasts(holding.authority, now) or _lasts(holding.following, now):
        return None
    following = create_authority(now, terms.authority_lifetime)
    needed = [holding.authority.certificate] if holding.authority else []
    bundle = _extended(view, [*needed, following.certificate])
    reason = "there was no usable authority" if holding.authority is None else "authority.crt was due for renewal"
    return Write(replace(holding, following=following, bundle=bundle), reason)


def _trust(view: Observed, _terms: RotationPolicy, _now: datetime) -> Action | None:
    """Every webhook of every configuration says what the Secret says."""
    wanted = write_bundle(view.holding.bundle)
    wrong = tuple(name for name, bundles in view.trusted.items() if set(bundles) - {wanted})
    return Trust(wrong, wanted) if wrong else None


def _issue(view: Observed, terms: RotationPolicy, now: datetime) -> Action | None:
    """A leaf where there is none, or another authority's."""
    authority = view.holding.authority
    if authority is None or view.holding.issuer or not _valid(authority.certificate, now):
        return None
    if waiting := _propagation(view, terms, now):
        return waiting
    leaf = authority.issue(terms.names, now, lifetime=terms.lifetime)
    return Write(replace(view.holding, leaf=leaf), "tls.crt was not there, or not one of authority.crt")


def _put_to_use(view: Observed, terms: RotationPolicy, now: datetime) -> Action | None:
    """The next authority takes over, once it is trusted everywhere."""
    following = view.holding.following
    if following is None or not _valid(following.certificate, now):
        return None
    if waiting := _propagation(view, terms, now):
        return waiting
    leaf = following.issue(terms.names, now, lifetime=terms.lifetime)
    holding = replace(view.holding, authority=following, following=None, leaf=leaf)
    return Write(holding, "next-authority.crt is trusted everywhere")


def _drop(view: Observed, terms: RotationPolicy, _now: datetime) -> Action | None:
    """Nobody shows a leaf of the old authority any more."""
    authority = view.holding.issuer
    if authority is None or view.holding.bundle == (authority.certificate,):
        return None
    if view.issued_for < terms.adoption:
        return Idle(terms.adoption - view.issued_for)
    holding = replace(view.holding, bundle=(authority.certificate,), following=None)
    return Write(holding, "only authority.crt is in use")


def _propagation(view: Observed, terms: RotationPolicy, now: datetime) -> Idle | None:
    leaf = view.holding.leaf
    usable = leaf is not None and not _fault(leaf, terms.names, now)
    needed = terms.propagation if usable else min(terms.propagation, SETTLING)
    return Idle(needed - view.trusted_for) if view.trusted_for < needed else None


def _extended(view: Observed, needed: list[x509.Certificate]) -> Bundle:
    """What is trusted now and what is needed; where the Secret does not know, what the clients say they trust."""
    trusted = view.holding.bundle or tuple(
        one for bundles in view.trusted.values() for text in bundles for one in read_bundle(text)
    )
    return merged(needed, trusted)


def _lasts(authority: Authority | None, now: datetime) -> bool:
    if authority is None:
        return False
    return _valid(authority.certificate, now) and not needs_renewal(authority.certificate, now)


def _valid(certificate: x509.Certificate, now: datetime) -> bool:
    return certificate.not_valid_before_utc <= now < certificate.not_valid_after_utc


def _fault(leaf: Leaf, names: Names, now: datetime) -> str:
    """Why no client would take it; empty if they would."""
    if not _valid(leaf.certificate, now):
        return "tls.crt was outside its time"
    if set(names_of(leaf.certificate).texts) != set(names.texts):
        return "tls.crt was for other names"
    return "" if is_for_servers(leaf.certificate) else "tls.crt was not for servers"
