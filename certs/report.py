"""``show``: reports a folder's inspection as text or as JSON, without any key material."""

import json
import shlex
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509

from certs import files
from certs.certificate import fingerprint, names_of, renewal_time
from certs.inspection import InspectedPair, Inspection
from certs.names import Names, dns_fault, flags, printable

PROGRAM = "streams-placement-certs"


def text_report(folder: Path, inspection: Inspection, now: datetime) -> str:
    """The report for people: whether the folder is usable; if not, the reasons and the repair; both certificates."""
    lines = [f"{printable(str(folder))}: {'unusable' if inspection.faults else 'usable'}"]
    lines += [f"  {fault}" for fault in inspection.faults]
    lines += [f"  note: {note}" for note in notes(folder)]
    if inspection.faults:
        lines.append(f"to repair it: {repair_command(folder, inspection)}")
    for title, half in (("authority", inspection.authority), ("leaf", inspection.leaf)):
        if half.certificate is not None:
            lines += ["", title, *_rows(half.certificate, now)]
            lines.append(f"  key matches      {_yes(fact=half.key_matches)}")
    if inspection.leaf.certificate is not None:
        lines.append(f"  chain verifies   {_yes(fact=inspection.chain_verifies)}")
    return "\n".join(lines)


def json_report(folder: Path, inspection: Inspection, now: datetime) -> str:
    """The report for programs: the same facts; ``authority`` and ``leaf`` are null if they cannot be read."""
    leaf = _facts(inspection.leaf, now)
    if leaf is not None:
        leaf["chainVerifies"] = inspection.chain_verifies
    document = {
        "directory": str(folder),
        "usable": not inspection.faults,
        "problems": inspection.faults,
        "notes": notes(folder),
        "repair": repair_command(folder, inspection) if inspection.faults else None,
        "authority": _facts(inspection.authority, now),
        "leaf": leaf,
    }
    return json.dumps(document, indent=2)


def notes(folder: Path) -> list[str]:
    """Sentences about keys that other users can access, which does not make the folder unusable."""
    return [
        f"{name} can be reached by others: its mode is {mode:04o}, not {files.KEY_MODE:04o}"
        for name, mode in files.exposed(folder).items()
    ]


def repair_command(folder: Path, inspection: Inspection) -> str:
    """The command that makes the folder usable, with flags for the names of the leaf if that can be read."""
    # The command must not overwrite another program's authority.
    where = "NEW-FOLDER" if inspection.authority.faults and inspection.is_foreign else str(folder)
    certificate = inspection.leaf.certificate
    had = Names() if certificate is None else names_of(certificate)
    legal = Names(tuple(name for name in had.dns if not dns_fault(name)), had.addresses)
    words = flags(legal) or ("--service", "NAME", "--namespace", "NAMESPACE")
    return printable(shlex.join((PROGRAM, "create", "--dir", where, *words)))


def days_left(certificate: x509.Certificate, now: datetime) -> int:
    """Whole days until the certificate expires; negative after that."""
    return (certificate.not_valid_after_utc - now) // timedelta(days=1)


def _rows(certificate: x509.Certificate, now: datetime) -> list[str]:
    start, end, due = (
        f"{moment:%Y-%m-%d %H:%M:%S} UTC"
        for moment in (certificate.not_valid_before_utc, certificate.not_valid_after_utc, renewal_time(certificate))
    )
    names = ", ".join(names_of(certificate).texts)
    return [
        f"  subject          {printable(certificate.subject.rfc4514_string())}",
        *([f"  names            {printable(names)}"] if names else []),
        f"  issuer           {printable(certificate.issuer.rfc4514_string())}",
        f"  valid            {start} to {end}",
        f"  days left        {days_left(certificate, now)}",
        f"  renewal due      {due}",
        f"  SHA-256          {fingerprint(certificate)}",
    ]


def _facts(half: InspectedPair, now: datetime) -> dict[str, Any] | None:
    certificate = half.certificate
    if certificate is None:
        return None
    names = names_of(certificate)
    return {
        "subject": certificate.subject.rfc4514_string(),
        "dnsNames": names.dns,
        "ipAddresses": [str(address) for address in names.addresses],
        "issuer": certificate.issuer.rfc4514_string(),
        "notBefore": f"{certificate.not_valid_before_utc:%Y-%m-%dT%H:%M:%SZ}",
        "notAfter": f"{certificate.not_valid_after_utc:%Y-%m-%dT%H:%M:%SZ}",
        "daysLeft": days_left(certificate, now),
        "renewalTime": f"{renewal_time(certificate):%Y-%m-%dT%H:%M:%SZ}",
        "sha256": fingerprint(certificate),
        "keyMatches": half.key_matches,
    }


def _yes(*, fact: bool) -> str:
    return "yes" if fact else "no"
