"""The software bill of materials of a release: a CycloneDX document of the wheel and every library it runs with.

Libraries, their versions, checksums and who needs them are those of ``requirements.lock``, so they are the same on
every machine; licences are what the installed libraries say of themselves. The base image of a container, and what
Debian installs there, are no part of it.

``python -m tools.release.sbom`` writes that of the image, :data:`IN_IMAGE`, which the Dockerfile copies.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Final

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import License
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from cyclonedx.spdx import is_supported_id
from cyclonedx.validation.json import JsonStrictValidator
from msgspec.structs import replace
from packageurl import PackageURL
from packaging.markers import Marker

from tools.release.locked import LockedLibrary, libraries
from tools.release.source import ReleaseError
from tools.release.version import PROJECT, version_of

_SCHEMA: Final = SchemaVersion.V1_6
"""What scanners of today read; 1.7 adds nothing that is needed here."""

_CLASSIFIERS: Final[Mapping[str, str]] = {
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: ISC License (ISCL)": "ISC",
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "License :: OSI Approved :: Python Software Foundation License": "PSF-2.0",
}
"""Classifiers that stand for one licence, by SPDX; that of BSD stands for several, and is no use."""

_NAMES: Final = {"3-Clause BSD License": "BSD-3-Clause"}
"""Names of licences, as libraries write them, by SPDX."""


IN_IMAGE: Final = Path(__file__).parents[2] / "image.cdx.json"
"""The document that is in the image: of the libraries that it has, whatever machine builds it."""

_NO_TIME: Final = datetime.fromtimestamp(0, UTC)
_LINUX: Final = {"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux"}


def write_sbom(lock: str, project: str, wheel: Path, seconds: int) -> Path:
    """Write the document beside the wheel; raises :class:`ReleaseError` if it would not be valid."""
    version = wheel.name.split("-")[1]
    text = document(lock, project, version, hashlib.sha256(wheel.read_bytes()).hexdigest(), seconds)
    path = wheel.with_name(f"{project}-{version}.cdx.json")
    path.write_text(text)
    return path


def document(lock: str, project: str, version: str, sha256: str, seconds: int) -> str:
    """The document as JSON. ``sha256`` is that of the wheel, and ``seconds`` the time of the release since 1970."""
    used = [each for each in libraries(lock) if each.runs(project)]
    return _document(used, project, version, sha256, datetime.fromtimestamp(seconds, UTC))


def of_image(lock: str, project: str, version: str, python: str, removed: Collection[str] = ()) -> str:
    """The document of the image with that version of Python (``3.13.15``): it has neither time nor wheel of its own.

    Libraries that are removed from it are neither listed nor needed by others.
    Libraries are there without checksums: those of the lock file are of files that the image does not have.
    """
    machine = _LINUX | {"python_full_version": python, "implementation_version": python, "extra": ""}
    machine |= {"python_version": python.rpartition(".")[0], "implementation_name": "cpython"}
    machine["platform_python_implementation"] = "CPython"
    used = [
        replace(each, marker="", hashes=())
        for each in libraries(lock)
        if each.runs(project)
        and each.name not in removed
        and (not each.marker or Marker(each.marker).evaluate(machine))
    ]
    text = _document(used, project, version, "", _NO_TIME)
    about = json.loads(text)
    del about["metadata"]["timestamp"]
    return json.dumps(about, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _document(used: Sequence[LockedLibrary], project: str, version: str, sha256: str, moment: datetime) -> str:
    own = (sha256,) if sha256 else ()
    itself = _component(project, version, own, licences(metadata.metadata(project)), ComponentType.APPLICATION)
    parts = {each: _library(each) for each in used}
    digest = sha256 or hashlib.sha256("".join(f"{one.name}=={one.version}\n" for one in used).encode()).hexdigest()
    bom = Bom(
        components=parts.values(),
        metadata=BomMetaData(component=itself, timestamp=moment),
        serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"{itself.purl}?checksum=sha256:{digest}"),
    )
    bom.register_dependency(itself, _needs(parts, f"{project} (pyproject.toml)"))
    for library, part in parts.items():
        bom.register_dependency(part, _needs(parts, library.name))
    text = make_outputter(bom, OutputFormat.JSON, _SCHEMA).output_as_string(indent=2) + "\n"
    fault = JsonStrictValidator(_SCHEMA).validate_str(text)
    if fault is not None:
        raise ReleaseError(f"the bill of materials is not valid: {fault}")
    return _sorted(text)


def licences(about: metadata.PackageMetadata) -> list[License]:
    """What a library says of its licence, in this order: an SPDX expression, an SPDX name, classifiers, any text.

    Several classifiers leave the choice to whoever uses the library. Raises :class:`ReleaseError` if it says nothing.
    """
    make = LicenseFactory()
    text = "".join(about.get_all("License", [])).strip()
    text = _NAMES.get(text, text)
    said = [each for each in about.get_all("Classifier", []) if each.startswith("License :: OSI Approved :: ")]
    if "License-Expression" in about:
        return [make.make_from_string(about["License-Expression"])]
    if is_supported_id(text):
        return [make.make_with_id(text)]
    if said and all(each in _CLASSIFIERS for each in said):
        return [make.make_from_string(" OR ".join(sorted(_CLASSIFIERS[each] for each in said)))]
    if text:
        return [make.make_with_name(text.splitlines()[0])]
    raise ReleaseError(f"{about['Name']} {about['Version']} does not say which licence it has")


def _library(library: LockedLibrary) -> Component:
    """The component of a library; whether it is needed on a machine is a property of its own."""
    try:
        about = metadata.metadata(library.name)
    except metadata.PackageNotFoundError:
        raise ReleaseError(f"{library.name} is not installed, so its licence is not known: remove .venv") from None
    return _component(
        library.name, library.version, library.hashes, licences(about), ComponentType.LIBRARY, library.marker
    )


def _component(
    name: str, version: str, hashes: Iterable[str], licensed: Iterable[License], kind: ComponentType, marker: str = ""
) -> Component:
    purl = PackageURL("pypi", None, name, version)
    return Component(
        name=name,
        version=version,
        type=kind,
        bom_ref=str(purl),
        purl=purl,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=each) for each in hashes],
        licenses=licensed,
        properties=[Property(name="streams-placement:marker", value=marker)] if marker else (),
    )


def _needs(parts: Mapping[LockedLibrary, Component], who: str) -> list[Component]:
    return [part for library, part in parts.items() if any(by.partition("[")[0] == who for by in library.needed_by)]


def _sorted(text: str) -> str:
    """The same document with the keys of each object sorted."""
    return json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the document of the image, for the version of Python that the Dockerfile names."""
    root = IN_IMAGE.parent
    IN_IMAGE.write_text(current(root))


def uninstalled(dockerfile: str) -> frozenset[str]:
    """The libraries that the Dockerfile has pip remove from the image."""
    return frozenset(" ".join(re.findall(r"pip uninstall --quiet --yes ([\w. -]+)", dockerfile)).split())


def current(root: Path) -> str:
    """What :data:`IN_IMAGE` has to say, by the lock file, the version and the Dockerfile of the repository."""
    dockerfile = (root / "Dockerfile").read_text()
    python = re.search(r"^ARG PYTHON=(3\.\d+\.\d+)", dockerfile, re.MULTILINE)
    if python is None:
        raise ReleaseError("the Dockerfile does not say by ARG PYTHON= which Python it has")
    lock = (root / "requirements.lock").read_text()
    return of_image(lock, PROJECT, version_of(root), python[1], uninstalled(dockerfile))


if __name__ == "__main__":
    main()
