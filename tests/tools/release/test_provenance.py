"""The provenance of a release says what was made of which commit, and a changed file or another key is found out."""

import base64
import json
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from tests.tools.release.keys import pem, public_pem
from tools.release.provenance import (
    ENVELOPE,
    STATEMENT,
    PrivateKey,
    check,
    envelope,
    main,
    private_key,
    public_key,
    statement,
)
from tools.release.source import ReleasedCommit, ReleaseError, last_commit

pytestmark = pytest.mark.untraced

KEYS: list[PrivateKey] = [ec.generate_private_key(ec.SECP256R1()), ed25519.Ed25519PrivateKey.generate()]
OTHER_BYTES = "a.whl is not the file that was signed: its SHA-256 differs"
NO_STATEMENT = "does not hold a statement of in-toto"
COMMIT = ReleasedCommit("c0ffee", 1_700_000_000)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small release that the first key has signed."""
    made = tmp_path / "made"
    made.mkdir()
    for name in ("a.whl", "b.tgz"):
        (made / name).write_text(name)
    signed = envelope(statement(COMMIT, "lock", list(made.iterdir())), KEYS[0])
    (made / f"x-1.{ENVELOPE}").write_text(signed)
    return made


def test_the_statement_says_what_was_made_of_what(folder: Path) -> None:
    said = json.loads(statement(COMMIT, "lock", [folder / "b.tgz", folder / "a.whl"]))
    assert said["_type"] == "https://in-toto.io/Statement/v1"
    assert said["predicateType"] == "https://slsa.dev/provenance/v1"
    assert said["subject"] == [
        {"name": name, "digest": {"sha256": sha256(name.encode()).hexdigest()}} for name in ("a.whl", "b.tgz")
    ]
    build = said["predicate"]["buildDefinition"]
    assert build["externalParameters"] == {"commit": "c0ffee"}
    assert build["internalParameters"] == {"sourceDateEpoch": 1_700_000_000}
    assert build["resolvedDependencies"] == [
        {"name": "source", "digest": {"gitCommit": "c0ffee"}},
        {"name": "requirements.lock", "digest": {"sha256": sha256(b"lock").hexdigest()}},
    ]


@pytest.mark.parametrize("key", KEYS, ids=["ecdsa", "ed25519"])
def test_the_same_key_signs_the_same_bytes_alike(key: PrivateKey) -> None:
    assert envelope("text", key) == envelope("text", key)


def test_what_was_signed_is_listed(folder: Path) -> None:
    assert check(folder, KEYS[0].public_key()) == ["a.whl", "b.tgz"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda made: (made / "a.whl").write_text("other"),
            "a.whl is not the file that was signed: its SHA-256 differs",
        ),
        (lambda made: (made / "a.whl").unlink(), "a.whl is missing"),
        (lambda made: (made / f"x-1.{ENVELOPE}").write_text("{}"), f"x-1.{ENVELOPE} is not a DSSE envelope"),
        (lambda made: (made / f"x-1.{ENVELOPE}").write_text("[]"), f"x-1.{ENVELOPE} is not a DSSE envelope"),
        (
            lambda made: rewritten(made, payloadType="text/plain"),
            f"x-1.{ENVELOPE} does not hold a statement of in-toto",
        ),
        (lambda made: rewritten(made, payload="e30="), f"x-1.{ENVELOPE} was not signed by this key"),
        (lambda made: rewritten(made, signatures=[]), f"x-1.{ENVELOPE} was not signed by this key"),
    ],
    ids=["changed", "removed", "empty", "a list", "another type", "another statement", "unsigned"],
)
def test_what_is_not_as_it_was_signed_is_refused(folder: Path, change: Any, message: str) -> None:
    change(folder)
    with pytest.raises(ReleaseError) as refused:
        check(folder, KEYS[0].public_key())
    assert str(refused.value) == message


def rewritten(made: Path, **fields: Any) -> None:
    path = made / f"x-1.{ENVELOPE}"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


@pytest.mark.parametrize("other", [ec.generate_private_key(ec.SECP256R1()), KEYS[1]], ids=["ecdsa", "ed25519"])
def test_another_key_is_refused(folder: Path, other: PrivateKey) -> None:
    with pytest.raises(ReleaseError, match="was not signed by this key"):
        check(folder, other.public_key())


def test_a_second_signature_does_no_harm(folder: Path) -> None:
    path = folder / f"x-1.{ENVELOPE}"
    signature = {"keyid": "", "sig": base64.b64encode(b"other").decode()}
    rewritten(folder, signatures=[signature, *json.loads(path.read_text())["signatures"]])
    assert check(folder, KEYS[0].public_key()) == ["a.whl", "b.tgz"]


def test_a_folder_without_a_signed_statement_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError) as refused:
        check(tmp_path, KEYS[0].public_key())
    assert str(refused.value) == f"{tmp_path} has 0 files *.{ENVELOPE}, expected 1"


@pytest.mark.parametrize(("read", "kind"), [(private_key, "private"), (public_key, "public")])
def test_a_file_that_is_not_a_key_is_refused(tmp_path: Path, read: Any, kind: str) -> None:
    (tmp_path / "key").write_text("no key")
    with pytest.raises(ReleaseError, match=f"key is not a {kind} key"):
        read(tmp_path / "key")
    with pytest.raises(ReleaseError, match=f"other is not a {kind} key"):
        read(tmp_path / "other")


@pytest.mark.parametrize(("read", "written"), [(private_key, pem), (public_key, public_pem)])
def test_a_key_of_another_kind_is_refused(tmp_path: Path, read: Any, written: Any) -> None:
    (tmp_path / "key").write_bytes(written(rsa.generate_private_key(65537, 2048)))
    with pytest.raises(ReleaseError, match="an Ed25519 or ECDSA key is needed"):
        read(tmp_path / "key")


@pytest.mark.parametrize("key", KEYS, ids=["ecdsa", "ed25519"])
def test_keys_of_files_sign_and_check(
    folder: Path, tmp_path: Path, key: PrivateKey, capsys: pytest.CaptureFixture[str]
) -> None:
    """Either kind; what signs a release does not depend on it."""
    (tmp_path / "key").write_bytes(pem(key))
    (tmp_path / "public").write_bytes(public_pem(key))
    packages = [folder / name for name in ("a.whl", "b.tgz")]
    signed = envelope(statement(COMMIT, "lock", packages), private_key(tmp_path / "key"))
    (folder / f"x-1.{ENVELOPE}").write_text(signed)
    assert main([str(folder), "--key", str(tmp_path / "public")]) == 0
    assert capsys.readouterr().out == "signed: a.whl\nsigned: b.tgz\n"
    packages[0].write_bytes(b"")
    assert main([str(folder), "--key", str(tmp_path / "public")]) == 1
    assert capsys.readouterr().err == f"{OTHER_BYTES}\n"


@pytest.mark.integration
def test_a_release_is_signed_and_checked(
    repository: Path, signed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(signed, tmp_path, dirs_exist_ok=True)
    made = tmp_path / "made"
    assert main([str(made), "--key", str(tmp_path / "public")]) == 0
    packages = sorted(
        path.name for path in made.iterdir() if path.suffix in {".whl", ".gz", ".tgz"} or ".cdx." in path.name
    )
    assert len(packages) == 4
    assert capsys.readouterr().out == "".join(f"signed: {name}\n" for name in packages)
    (said,) = made.glob(f"*.{STATEMENT}")
    build = json.loads(said.read_text())["predicate"]["buildDefinition"]
    assert build["externalParameters"] == {"commit": last_commit(repository).name}
    next(made.glob("*.whl")).write_bytes(b"")
    assert main([str(made), "--key", str(tmp_path / "public")]) == 1
    assert "is not the file that was signed: its SHA-256 differs" in capsys.readouterr().err
