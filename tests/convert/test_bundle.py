"""Application bundles (``.sab``): the ADL is found, and hostile archives are refused."""

import struct
import tarfile
import zipfile

import pytest

from tests.convert.adl_documents import INFO, adl, bundle, operator, packed, tar
from tests.convert.converted_texts import converted, refusals
from webhook.convert import bundle as reading

TEXT = adl(operator(resources='<resources><hostLocation hostname="a"/></resources>'))


def placement(content: bytes) -> str:
    """The placement of the only operator of a bundle."""
    found = converted(content, "sab", file="x.sab")
    assert found.problems == ()
    text: str = found.manifests[0]["spec"]["operators"][0]["placement"]
    return text


@pytest.mark.parametrize(
    "content",
    [
        bundle(TEXT),
        bundle(TEXT, info=None),
        bundle(TEXT, info="<bundleInfoModel/>"),
        bundle(TEXT, info=INFO.replace('outputDirectory="out"', ""), path="Main.adl"),
        bundle(TEXT, path="./out/Main.adl"),
        b"#!/bin/sh\nexit 0\n" + bundle(TEXT),
        packed({"Main.adl": TEXT.encode()}),
        packed({"bundleInfo.xml": INFO.encode(), "out/Main.adl": TEXT.encode(), "other.adl": b""}, zipfile.ZIP_STORED),
    ],
)
def test_the_adl_of_a_bundle_is_found(content: bytes) -> None:
    assert reading.is_bundle(content)
    assert placement(content) == 'host("a")'


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_are_read(form: int) -> None:
    path = f"{'long/' * 60}Main.adl"
    inner = tar({f"{'x' * 300}.so": b"x" * 700, path: TEXT.encode()}, form)
    info = f'<i adlFile="Main.adl" outputDirectory="{"long/" * 59}long"/>'
    assert placement(packed({"bundleInfo.xml": info.encode(), "tar/bundle.tar": inner})) == 'host("a")'


def test_links_are_not_followed_and_headers_for_all_are_passed_over() -> None:
    link = tarfile.TarInfo("Other.adl")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    long_link = tarfile.TarInfo("long")
    long_link.type, long_link.size = tarfile.GNUTYPE_LONGLINK, 100
    everywhere = tarfile.TarInfo("pax")
    everywhere.type, everywhere.size = tarfile.XGLTYPE, 20
    data = b"19 path=/etc/passwd\n".ljust(512, b"\0")
    inner = everywhere.tobuf() + data + link.tobuf() + long_link.tobuf() + bytes(512) + tar({"Main.adl": TEXT.encode()})
    assert placement(packed({"tar/bundle.tar": inner})) == 'host("a")'


def test_problems_say_the_path_in_the_bundle() -> None:
    assert refusals(bundle(adl()), "sab", file="x.sab") == [
        'x.sab/out/Main.adl:3: "apps::Main" invokes no operator, so nothing would run'
    ]


def test_what_is_not_an_archive_is_not_a_bundle() -> None:
    assert not reading.is_bundle(b"composite Main {}")


def edited(content: bytes, at: int, *values: tuple[int, bytes]) -> bytes:
    """The archive with bytes replaced in the directory entry that begins at ``at``."""
    changed = bytearray(content)
    for offset, value in values:
        changed[at + offset : at + offset + len(value)] = value
    return bytes(changed)


def directory_entry(content: bytes, member: bytes) -> int:
    """Where the entry of a member begins in the directory of a ZIP archive."""
    return content.rindex(member) - 46


def encrypted() -> bytes:
    content = packed({"Main.adl": b"x"})
    return edited(content, directory_entry(content, b"Main.adl"), (8, b"\1\0"))


def odd() -> bytes:
    content = packed({"Main.adl": b"x"})
    return edited(content, directory_entry(content, b"Main.adl"), (10, struct.pack("<H", 98)))


def oversized() -> bytes:
    content = packed({"Main.adl": b"x"})
    return edited(content, directory_entry(content, b"Main.adl"), (24, struct.pack("<L", 2**31)))


@pytest.mark.parametrize(
    ("content", "refusal"),
    [
        (b"PK\3\4", "this is not a complete ZIP archive: its directory is missing"),
        (packed({"x": b""}), "there is neither an ADL in the bundle nor tar/bundle.tar: is it a bundle of Streams?"),
        (
            packed({"a.adl": b"", "b.adl": b""}),
            'the bundle has several ADLs, and does not say which one it is: "a.adl", "b.adl"',
        ),
        (
            packed({"tar/bundle.tar": tar({"a.adl": b"", "b.adl": b""})}),
            'the bundle has several ADLs, and does not say which one it is: "a.adl", "b.adl"',
        ),
        (packed({"tar/bundle.tar": tar({"a": b""})}), "the bundle contains no ADL"),
        (bundle(TEXT, path="out/Other.adl"), 'the bundle contains no ADL at "out/Main.adl"'),
        (packed({"../Main.adl": b""}), 'the member "../Main.adl" leads out of the bundle'),
        (packed({"/etc/Main.adl": b""}), 'the member "/etc/Main.adl" leads out of the bundle'),
        (packed({"a\\..\\b.adl": b""}), 'the member "a\\..\\b.adl" leads out of the bundle'),
        (packed({"C:x.adl": b""}), 'the member "C:x.adl" leads out of the bundle'),
        (
            packed({"tar/bundle.tar": tar({"a/../../b.adl": b""})}),
            'the member "a/../../b.adl" leads out of the bundle',
        ),
        (
            bundle(TEXT, info='<i adlFile="../../etc/passwd"/>'),
            'the member "../../etc/passwd" leads out of the bundle',
        ),
        (encrypted(), 'the member "Main.adl" is encrypted'),
        (odd(), 'the member "Main.adl" is packed by method 98, which bundles do not use'),
        (oversized(), 'the member "Main.adl" has 2147483648 bytes, at most 33554432 are read'),
        (
            packed({"Main.adl": bytes(17 * 1024 * 1024)}),
            'the member "Main.adl" is more than 200 times larger than packed',
        ),
        (
            packed({"tar/bundle.tar": bytes(17 * 1024 * 1024)}),
            'the member "tar/bundle.tar" is more than 200 times larger than packed',
        ),
        (
            bundle(TEXT, info='<!DOCTYPE x [<!ENTITY a "b">]><x adlFile="a"/>'),
            "bundleInfo.xml has a document type, which could define entities",
        ),
        (bundle(TEXT, info="<x"), "bundleInfo.xml, line 1: this is not XML"),
        (packed({"tar/bundle.tar": b"x" * 512}), "the bundle is damaged: invalid header"),
        (
            packed({"tar/bundle.tar": tar({"Main.adl": TEXT.encode()})[:600]}),
            'the ADL "Main.adl" is cut off',
        ),
        (packed({"tar/bundle.tar": tar({"Main.so": b"x" * 3000})[:1024]}), "the bundle contains no ADL"),
    ],
)
def test_what_is_not_a_bundle_or_hostile_is_refused(content: bytes, refusal: str) -> None:
    assert refusals(content, "sab", file="x.sab") == [f"x.sab: {refusal}"]


def test_a_damaged_member_is_refused() -> None:
    content = packed({"Main.adl": TEXT.encode() * 50})
    broken = edited(content, 0, (60, b"\xff" * 40))
    (found,) = refusals(broken, "sab", file="x.sab")
    assert found.startswith("x.sab: the bundle is damaged: ")


def test_doubles_are_refused() -> None:
    content = packed({"a.adl": b"", "b.adl": b""}).replace(b"b.adl", b"a.adl")
    assert refusals(content, "sab", file="x.sab") == ['x.sab: the member "a.adl" occurs twice']


def test_a_directory_that_would_not_fit_is_not_read() -> None:
    content = packed({"a.adl": b""})
    end = content.rindex(b"PK\5\6")
    assert refusals(edited(content, end, (10, b"\xff\xff")), "sab", file="x.sab") == [
        "x.sab: the bundle has 65535 members, at most 50000 are allowed"
    ]
    assert refusals(edited(content, end, (12, b"\xff\xff\xff\x7f")), "sab", file="x.sab") == [
        "x.sab: the directory of the bundle has 2147483647 bytes, at most 16777216 are read"
    ]
    large = content[:end] + b"PK\6\7" + bytes(16) + content[end:]
    assert refusals(large, "sab", file="x.sab") == [
        "x.sab: the bundle is in the ZIP64 format, for archives larger than are read here"
    ]


def test_sizes_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "ADL_LIMIT", 10)
    assert refusals(bundle(TEXT), "sab", file="x.sab") == [
        f'x.sab: the ADL "out/Main.adl" has {len(TEXT)} bytes, at most 10 are read'
    ]
    monkeypatch.setattr(reading, "MEMBER_LIMIT", 2)
    assert refusals(bundle(TEXT), "sab", file="x.sab") == ["x.sab: the bundle has 3 members, at most 2 are allowed"]
    many = packed({"tar/bundle.tar": tar({"a": b"", "b": b"", "c": b""})})
    assert refusals(many, "sab", file="x.sab") == ["x.sab: tar/bundle.tar has more than 2 members"]
    lying = packed({"a": b"", "b": b"", "c": b""})
    lying = edited(lying, lying.rindex(b"PK\5\6"), (8, b"\1\0\1\0"))
    assert refusals(lying, "sab", file="x.sab") == ["x.sab: the bundle has 3 members, at most 2 are allowed"]
    monkeypatch.setattr(reading, "_NAME_LIMIT", 100)
    named = packed({"tar/bundle.tar": tar({"x" * 300: b""})})
    assert refusals(named, "sab", file="x.sab") == [
        "x.sab: a name in tar/bundle.tar has 301 bytes, at most 100 are allowed"
    ]
    monkeypatch.setattr(reading, "BUNDLE_LIMIT", 100)
    content = bundle(TEXT)
    assert refusals(content, "sab", file="x.sab") == [
        f"x.sab: the bundle has {len(content)} bytes, at most 100 are read"
    ]
