"""How the packages of a release came to be: a SLSA provenance statement, its signature, and the check of both.

The statement is an in-toto Statement v1 with the predicate SLSA Provenance v1. It holds no time, so the same commit
gives the same bytes. Signed, it is a DSSE envelope; Ed25519, and ECDSA as of RFC 6979, sign the same bytes alike, too.
``python -m tools.release.provenance FOLDER --key PUBLIC`` checks a folder: signature, then checksums.
"""

import argparse
import base64
import binascii
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePrivateKey, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from tools.release.source import ReleasedCommit, ReleaseError

PrivateKey = EllipticCurvePrivateKey | Ed25519PrivateKey
PublicKey = EllipticCurvePublicKey | Ed25519PublicKey

STATEMENT: Final = "provenance.json"
"""The name of the file of the statement, behind that of the project and its version."""

ENVELOPE: Final = "provenance.dsse.json"
"""The name of the file of the signed statement."""

_PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"

_BUILD_TYPE: Final = "urn:streams-placement:make-dist:v1"
"""How it is built: ``make dist`` in a clone, as docs/releasing.md says."""


def statement(commit: ReleasedCommit, lock: str, subjects: Sequence[Path]) -> str:
    """The statement about these files, which were made of the commit; ``lock`` is the text of the lock file."""
    document = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": path.name, "digest": {"sha256": _sha256(path.read_bytes())}} for path in sorted(subjects)],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": _BUILD_TYPE,
                "externalParameters": {"commit": commit.name},
                "internalParameters": {"sourceDateEpoch": commit.seconds},
                "resolvedDependencies": [
                    {"name": "source", "digest": {"gitCommit": commit.name}},
                    {"name": "requirements.lock", "digest": {"sha256": _sha256(lock.encode())}},
                ],
            },
            "runDetails": {"builder": {"id": _BUILD_TYPE}},
        },
    }
    return json.dumps(document, indent=2) + "\n"


def envelope(text: str, key: PrivateKey) -> str:
    """The statement with its signature."""
    body = text.encode()
    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    signature = {"keyid": _sha256(public), "sig": base64.b64encode(_signed(key, _encoded(body))).decode()}
    document = {"payloadType": _PAYLOAD_TYPE, "payload": base64.b64encode(body).decode(), "signatures": [signature]}
    return json.dumps(document, indent=2) + "\n"


def private_key(path: Path) -> PrivateKey:
    """The key of a PEM file without a password; raises :class:`ReleaseError` if it is none that can be used."""
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise ReleaseError(f"{path} is not a private key without a password (PEM): {error}") from None
    if not isinstance(key, PrivateKey):
        raise ReleaseError(f"{path}: an Ed25519 or ECDSA key is needed")
    return key


def public_key(path: Path) -> PublicKey:
    """The key of a PEM file; raises :class:`ReleaseError` if it is none that can be used."""
    try:
        key = load_pem_public_key(path.read_bytes())
    except (OSError, ValueError, UnsupportedAlgorithm) as error:
        raise ReleaseError(f"{path} is not a public key (PEM): {error}") from None
    if not isinstance(key, PublicKey):
        raise ReleaseError(f"{path}: an Ed25519 or ECDSA key is needed")
    return key


def check(folder: Path, key: PublicKey) -> list[str]:
    """The names of the files of a release that the signed statement vouches for.

    Raises :class:`ReleaseError` if there is no statement, the key did not sign it, a file is missing, or a file has
    other bytes than were signed.
    """
    files = sorted(folder.glob(f"*.{ENVELOPE}"))
    if len(files) != 1:
        raise ReleaseError(f"{folder} has {len(files)} files *.{ENVELOPE}, expected 1")
    subjects = _verified(files[0], key)
    for name, digest in subjects.items():
        path = folder / name
        if not path.is_file():
            raise ReleaseError(f"{name} is missing")
        if _sha256(path.read_bytes()) != digest:
            raise ReleaseError(f"{name} is not the file that was signed: its SHA-256 differs")
    return sorted(subjects)


def _verified(path: Path, key: PublicKey) -> dict[str, str]:
    """The SHA-256 of each file, by name, as the envelope says after its signature was checked."""
    try:
        document: Any = json.loads(path.read_bytes())
        body = base64.b64decode(document["payload"], validate=True)
        signatures = [base64.b64decode(each["sig"], validate=True) for each in document["signatures"]]
    except (OSError, ValueError, KeyError, TypeError, binascii.Error):
        raise ReleaseError(f"{path.name} is not a DSSE envelope") from None
    if document.get("payloadType") != _PAYLOAD_TYPE:
        raise ReleaseError(f"{path.name} does not hold a statement of in-toto")
    if not any(_fits(key, signature, _encoded(body)) for signature in signatures):
        raise ReleaseError(f"{path.name} was not signed by this key")
    return {each["name"]: each["digest"]["sha256"] for each in json.loads(body)["subject"]}


def _encoded(body: bytes) -> bytes:
    """What is signed: the pre-authentication encoding of DSSE v1."""
    kind = _PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(body), body)


def _signed(key: PrivateKey, message: bytes) -> bytes:
    if isinstance(key, Ed25519PrivateKey):
        return key.sign(message)
    return key.sign(message, ECDSA(SHA256(), deterministic_signing=True))


def _fits(key: PublicKey, signature: bytes, message: bytes) -> bool:
    try:
        if isinstance(key, Ed25519PublicKey):
            key.verify(signature, message)
        else:
            key.verify(signature, message, ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def main(words: Sequence[str] | None = None) -> int:
    """Check a folder; returns 0, or 1 with an error on standard error."""
    parser = argparse.ArgumentParser(prog="python -m tools.release.provenance", description="Check a release.")
    parser.add_argument("folder", type=Path, help="The folder with the packages and their signed statement.")
    parser.add_argument("--key", type=Path, required=True, help="The public key of the releases (PEM).")
    options = parser.parse_args(words)
    try:
        names = check(options.folder, public_key(options.key))
    except ReleaseError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write("".join(f"signed: {name}\n" for name in names))
    return 0


if __name__ == "__main__":
    sys.exit(main())
