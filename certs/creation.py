"""``create``: brings a folder into a state with a usable authority and leaf; replaces only what is not usable."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509

from certs import files
from certs.authority import Authority, create_authority
from certs.certificate import names_of, needs_renewal
from certs.inspection import Inspection
from certs.names import Names, printable


@dataclass(frozen=True, slots=True)
class Order:
    """The order to ``create``: folder, names of the leaf, and lifetimes of new certificates."""

    folder: Path
    names: Names
    lifetime: timedelta
    authority_lifetime: timedelta
    force: bool = False
    """Replace all four files, whatever the folder holds."""


@dataclass(frozen=True, slots=True)
class Created:
    """The folder holds a usable pair. ``made`` names the new files, ``reasons`` says why each had to be made."""

    authority: x509.Certificate
    leaf: x509.Certificate
    made: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    """Files of keys that were kept, and whose mode let other users access them until now."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was changed, because the authority was made by another program and cannot be used for ``reasons``."""

    authority: x509.Certificate
    reasons: tuple[str, ...]


def create(order: Order, now: datetime) -> Created | Refused:
    """Bring the folder into the ordered state. A second call with the same order changes nothing.

    Raises:
        OSError: the folder or a file cannot be read or written.
    """
    files.make_folder(order.folder)
    with files.locked(order.folder):
        contents = files.read(order.folder)
        inspection = Inspection.of(contents, now)
        if order.force:
            return _replacement(order, now, ("--force was given",))
        if inspection.authority.faults:
            return _replaced(order, inspection, now)
        authority = Authority.from_pem(contents[files.AUTHORITY_CERTIFICATE], contents[files.AUTHORITY_KEY])
        reasons = _reasons(inspection, order.names, now)
        if inspection.leaf.certificate is not None and not reasons:
            protected = tuple(files.protect(order.folder))
            return Created(authority.certificate, inspection.leaf.certificate, protected=protected)
        # A leaf expires with its authority at the latest, so a leaf of an old authority would be due soon, too.
        if needs_renewal(authority.certificate, now) and not inspection.is_foreign:
            return _replacement(order, now, (*reasons, f"{files.AUTHORITY_CERTIFICATE} is due for renewal"))
        return _issued(order, authority, now, reasons)


def _replaced(order: Order, inspection: Inspection, now: datetime) -> Created | Refused:
    """Replace all four files, because the authority has faults; refuse that for another program's authority."""
    if inspection.authority.certificate is not None and inspection.is_foreign:
        return Refused(inspection.authority.certificate, inspection.authority.faults)
    return _replacement(order, now, inspection.faults)


def _replacement(order: Order, now: datetime, reasons: tuple[str, ...]) -> Created:
    """Make a new authority and a new leaf."""
    authority = create_authority(now, order.authority_lifetime)
    leaf = authority.issue(order.names, now, lifetime=order.lifetime)
    contents = {
        files.AUTHORITY_KEY: authority.key_pem,
        files.AUTHORITY_CERTIFICATE: authority.certificate_pem,
        files.LEAF_KEY: leaf.key_pem,
        files.LEAF_CERTIFICATE: leaf.certificate_pem,
    }
    files.write(order.folder, contents)
    return Created(authority.certificate, leaf.certificate, tuple(contents), reasons)


def _issued(order: Order, authority: Authority, now: datetime, reasons: tuple[str, ...]) -> Created:
    """Make a new leaf of the existing authority."""
    leaf = authority.issue(order.names, now, lifetime=order.lifetime)
    contents = {files.LEAF_KEY: leaf.key_pem, files.LEAF_CERTIFICATE: leaf.certificate_pem}
    files.write(order.folder, contents)
    protected = tuple(files.protect(order.folder))
    return Created(authority.certificate, leaf.certificate, tuple(contents), reasons, protected)


def _reasons(inspection: Inspection, names: Names, now: datetime) -> tuple[str, ...]:
    """Why the leaf has to be replaced; empty if it can stay."""
    certificate = inspection.leaf.certificate
    if inspection.leaf.faults or certificate is None:
        return inspection.leaf.faults
    has, wanted = set(names_of(certificate).texts), set(names.texts)
    reasons = []
    if wanted - has:
        reasons.append(f"{files.LEAF_CERTIFICATE} lacks {_listed(wanted - has)}")
    if has - wanted:
        reasons.append(f"{files.LEAF_CERTIFICATE} is also for {_listed(has - wanted)}")
    if needs_renewal(certificate, now):
        reasons.append(f"{files.LEAF_CERTIFICATE} is due for renewal")
    return tuple(reasons)


def _listed(names: set[str]) -> str:
    return printable(", ".join(sorted(names)))
