"""The bill of materials: every library that the program runs with, with version, checksums, licences and its users."""

import json
from email.message import Message
from importlib import metadata
from pathlib import Path
from typing import Any, cast

import pytest
from cyclonedx.spdx import is_expression, is_supported_id
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.docs.pages import ROOT
from tools.release import sbom
from tools.release.locked import LockedLibrary, libraries
from tools.release.sbom import IN_IMAGE, current, document, licences, of_image, uninstalled
from tools.release.source import ReleaseError

pytestmark = pytest.mark.untraced

LOCK = (ROOT / "requirements.lock").read_text()
SHA = "a" * 64
PROJECT = "streams-placement"


def made(lock: str = LOCK) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(document(lock, PROJECT, "0.1.0", SHA, 1767323045))
    return read


@pytest.fixture(scope="module")
def bill() -> dict[str, Any]:
    return made()


def test_it_is_of_the_wheel_and_the_time_of_the_commit(bill: dict[str, Any]) -> None:
    about = bill["metadata"]
    assert (about["timestamp"], about["component"]) == (
        "2026-01-02T03:04:05+00:00",
        {
            "type": "application",
            "name": "streams-placement",
            "version": "0.1.0",
            "purl": "pkg:pypi/streams-placement@0.1.0",
            "bom-ref": "pkg:pypi/streams-placement@0.1.0",
            "hashes": [{"alg": "SHA-256", "content": SHA}],
            "licenses": [{"license": {"id": "Apache-2.0"}}],
        },
    )


def test_it_lists_what_the_program_imports_and_not_what_builds_it(bill: dict[str, Any]) -> None:
    """Counted from the installed libraries' own demands, without the lock file."""
    wanted, open_ends = set[str](), {str(PROJECT)}
    while open_ends:
        name = open_ends.pop()
        wanted.add(name)
        needed = map(Requirement, metadata.requires(name) or ())
        open_ends |= {canonicalize_name(each.name) for each in needed if not each.marker or each.marker.evaluate()}
        open_ends -= wanted
    names = {each["name"] for each in bill["components"]}
    assert wanted - {PROJECT} <= names
    assert "setuptools" not in names


def test_every_library_has_its_checksums_and_a_licence_by_spdx(bill: dict[str, Any]) -> None:
    for each in bill["components"]:
        assert each["hashes"], each["name"]
        for said in each["licenses"]:
            named = said.get("expression") or said["license"].get("id")
            assert named, (each["name"], said)
            assert is_supported_id(named) or is_expression(named)


def test_checksums_are_those_that_pip_is_told_to_demand(bill: dict[str, Any]) -> None:
    listed = {entry["content"] for each in bill["components"] for entry in each["hashes"]}
    assert listed < {line.split("sha256:")[1][:64] for line in LOCK.splitlines() if "sha256:" in line}


def test_every_library_is_needed_by_another_or_by_the_program(bill: dict[str, Any]) -> None:
    needs = {each["ref"]: each.get("dependsOn", []) for each in bill["dependencies"]}
    reached, open_ends = set[str](), [f"pkg:pypi/{PROJECT}@0.1.0"]
    while open_ends:
        one = open_ends.pop()
        reached.add(one)
        open_ends += [each for each in needs[one] if each not in reached]
    assert reached == {each["bom-ref"] for each in bill["components"]} | {f"pkg:pypi/{PROJECT}@0.1.0"}


def test_a_library_for_some_machines_says_for_which(bill: dict[str, Any]) -> None:
    markers = {
        f"{each['name']} {each['version']}": each["properties"][0]
        for each in bill["components"]
        if "properties" in each
    }
    uvloop = next(each for each in markers if each.startswith("uvloop "))
    assert markers[uvloop] == {"name": "streams-placement:marker", "value": "sys_platform != 'win32'"}
    assert len([each for each in markers if each.startswith("numpy ")]) > 1


def test_the_serial_number_is_that_of_the_content(bill: dict[str, Any]) -> None:
    other = json.loads(document(LOCK, PROJECT, "0.1.0", "b" * 64, 1767323045))
    assert bill["serialNumber"] == made()["serialNumber"] != other["serialNumber"]


def test_a_library_that_is_not_installed_is_an_error() -> None:
    lock = "no-such-library==1.0 \\\n    --hash=sha256:" + SHA + "\n    # via streams-placement (pyproject.toml)\n"
    with pytest.raises(
        ReleaseError, match="no-such-library is not installed, so its licence is not known: remove .venv"
    ):
        made(lock)


def about(**headers: str | list[str]) -> metadata.PackageMetadata:
    message = Message()
    for name, values in headers.items():
        for value in [values] if isinstance(values, str) else values:
            message[name.replace("_", "-")] = value
    return cast("metadata.PackageMetadata", message)


APACHE, MIT, BSD = (
    f"License :: OSI Approved :: {each}" for each in ("Apache Software License", "MIT License", "BSD License")
)


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (about(License_Expression="Apache-2.0 AND MIT", License="MIT"), "Apache-2.0 AND MIT"),
        (about(License_Expression="MIT"), "MIT"),
        (about(License="ISC", Classifier=[BSD]), "ISC"),
        (about(License="Apache 2.0", Classifier=[APACHE]), "Apache-2.0"),
        (about(License="MIT License", Classifier=[MIT, APACHE]), "Apache-2.0 OR MIT"),
        (about(License="Own licence\nAll of it", Classifier=[BSD]), "Own licence"),
    ],
)
def test_a_licence_is_read_from(said: metadata.PackageMetadata, read: str) -> None:
    (found,) = licences(said)
    assert read in {getattr(found, name, None) for name in ("id", "name", "value")}


def test_a_library_without_a_licence_is_an_error() -> None:
    with pytest.raises(ReleaseError, match=r"grab 1\.0 does not say which licence it has"):
        licences(about(Name="grab", Version="1.0"))


def test_a_lock_file_is_read() -> None:
    text = (
        "one==1.0 \\\n    --hash=sha256:" + "1" * 64 + " \\\n    --hash=sha256:" + "2" * 64 + "\n    # via\n"
        "    #   streams-placement (pyproject.toml)\n    #   two\n"
        "two==2.0.post1 ; python_full_version < '3.12' \\\n    --hash=sha256:" + "3" * 64 + "\n"
        "    # via streams-placement (pyproject.toml:build)\n"
    )
    one, two = libraries(text)
    assert one == LockedLibrary("one", "1.0", "", ("1" * 64, "2" * 64), ("streams-placement (pyproject.toml)", "two"))
    assert (two.marker, two.runs(PROJECT), one.runs(PROJECT)) == ("python_full_version < '3.12'", False, True)


def test_a_library_without_a_version_is_refused() -> None:
    with pytest.raises(ValueError, match="one>=1.0 is no pinned library: expected NAME==VERSION"):
        list(libraries("one>=1.0\n"))


def test_that_of_the_image_is_up_to_date() -> None:
    """``python -m tools.release.sbom`` writes it, as ``make lock`` and ``make release`` do."""
    assert IN_IMAGE.read_text() == current(ROOT)


def test_that_of_the_image_lists_what_linux_needs() -> None:
    stated = {
        "numpy": "",
        "uvloop": " ; sys_platform != 'win32'",
        "pip": " ; python_version < '3.12'",
        "rich": " ; python_full_version < '3.12'",
        "yarl": " ; python_full_version >= '3.13.15' and implementation_version >= '3.13.15'",
    }
    lock = "\n".join(
        f"{name}==1.0.0{marker} \\\n    --hash=sha256:{SHA}\n    # via streams-placement (pyproject.toml)"
        for name, marker in stated.items()
    )
    about = json.loads(of_image(lock, PROJECT, "0.1.0", "3.13.15"))
    assert [each["name"] for each in about["components"]] == ["numpy", "uvloop", "yarl"]
    assert all("hashes" not in each and "properties" not in each for each in about["components"])
    assert "timestamp" not in about["metadata"]


def test_that_of_the_image_leaves_out_what_pip_removes_from_it() -> None:
    dockerfile = (
        "RUN a -m pip uninstall --quiet --yes pygments setuptools pip \\\n && pip uninstall --quiet --yes pip \\\n"
    )
    assert uninstalled(dockerfile) == {"pygments", "setuptools", "pip"}
    lock = "\n".join(
        f"{name}==1.0.0 \\\n    --hash=sha256:{SHA}\n    # via {by}"
        for name, by in (("rich", "streams-placement (pyproject.toml)"), ("pygments", "rich"))
    )
    whole = json.loads(of_image(lock, PROJECT, "0.1.0", "3.13.15"))
    assert [each["name"] for each in whole["components"]] == ["pygments", "rich"]
    about = json.loads(of_image(lock, PROJECT, "0.1.0", "3.13.15", uninstalled(dockerfile)))
    assert [each["name"] for each in about["components"]] == ["rich"]
    assert "pygments" not in json.dumps(about)


def test_its_version_of_python_is_that_of_the_image(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    with pytest.raises(ReleaseError, match="does not say by ARG PYTHON= which Python it has"):
        current(tmp_path)


def test_the_command_writes_that_of_the_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("Dockerfile", "requirements.lock", "pyproject.toml"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    monkeypatch.setattr(sbom, "IN_IMAGE", tmp_path / "image.cdx.json")
    sbom.main()
    assert (tmp_path / "image.cdx.json").read_text() == IN_IMAGE.read_text()
