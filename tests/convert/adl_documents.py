"""Compiled descriptions of applications (ADL) and bundles with them, with what tests vary."""

import io
import tarfile
import zipfile
from collections.abc import Mapping

NAMESPACE = "http://www.ibm.com/xmlns/prod/streams/application/v4200"
INFO = '<bundleInfoModel adlFile="Main.adl" outputDirectory="out" xmlns="x"><toolkit name="spl"/></bundleInfoModel>'


def adl(operators: str = "", pools: str = "", after: str = "", *, before: str = "") -> str:
    """An application with these elements."""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{before}<applicationSet xmlns="{NAMESPACE}">\n'
        f'<splApplication name="apps::Main" bundle="./apps.Main.sab">\n<hostpools>{pools}</hostpools>\n'
        f'<compositeOperInstance index="9" name="Main">\n{operators}\n</compositeOperInstance>\n{after}\n'
        "</splApplication></applicationSet>"
    )


def operator(name: str = "A", resources: str = "", index: int = 0, attributes: str = "", partitions: str = "") -> str:
    """An operator with these resources."""
    return (
        f'<primitiveOperInstance index="{index}" name="{name}" {attributes}>{resources}{partitions}'
        "</primitiveOperInstance>"
    )


def packed(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP archive."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return content.getvalue()


def tar(members: Mapping[str, bytes], form: int = tarfile.GNU_FORMAT) -> bytes:
    """A TAR archive."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=form) as archive:
        for name, member in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(member)
            archive.addfile(info, io.BytesIO(member))
    return content.getvalue()


def bundle(text: str, *, info: str | None = INFO, path: str = "out/Main.adl") -> bytes:
    """A bundle as the compiler of Streams makes it."""
    inner = tar({"out/bin/Main.so": b"\x7fELF" * 1000, path: text.encode(), "out/etc/readme": b"text"})
    members = {"META-INF/MANIFEST.MF": b"x", "tar/bundle.tar": inner}
    return packed(members if info is None else {"bundleInfo.xml": info.encode(), **members})
