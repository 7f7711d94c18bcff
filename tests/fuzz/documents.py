"""What must hold of files: snapshots, and inputs of ``convert`` (SPL, ADL, bundles, properties, EMCO)."""

import functools
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final

import msgspec
import yaml

from tests.convert.adl_documents import adl, bundle, operator, packed, tar
from tests.fuzz.oracles import sayable
from tests.fuzz.seeds import EXAMPLES, files, literals
from webhook.cluster.snapshot.loader import SnapshotLoader
from webhook.cluster.snapshot.yaml_documents import UnreadableDocument, documents
from webhook.convert.conversion import ConvertOptions, Input, convert, kind_of
from webhook.convert.input_kind import InputKind
from webhook.placement.inventory.inventory import Inventory

_FINDING = 4096
"""Characters of a finding of a snapshot, which goes to a log or a terminal."""

_TEXT = 8
"""Levels below which PyYAML's own reader, which recurses, is asked too."""


class _Untimed(yaml.CSafeLoader):
    """PyYAML's safe loader without dates."""


_Untimed.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def snapshot(data: bytes) -> None:
    """Every document is read or named in the report, as PyYAML's own reader reads it."""
    read = list(documents(data))
    loader = SnapshotLoader(Inventory())
    loader.begin("x.yaml")
    for document in read:
        if isinstance(document, UnreadableDocument):
            assert document.reason
            loader.skip(document.reason)
        else:
            loader.document(document)
    report = loader.report()
    for finding in (*report.skipped, *report.noted):
        assert str(finding)
    # A value that cannot be merged, or the tag of a list or mapping, is passed over; PyYAML refuses it.
    odd = b"<<" in data or b"!" in data
    if read and not odd and not any(isinstance(each, UnreadableDocument) or _depth(each) > _TEXT for each in read):
        _as_pyyaml(data, read)


def snapshot_json(data: bytes) -> None:
    """A file of JSON is read, or named in the report."""
    loader = SnapshotLoader(Inventory())
    loader.begin("x.json")
    loader.document(msgspec.Raw(data))
    report = loader.report()
    for finding in (*report.skipped, *report.noted):
        assert str(finding)


def _as_pyyaml(data: bytes, read: list[object]) -> None:
    try:
        other = [each for each in yaml.load_all(data, Loader=_Untimed) if each is not None]
    except yaml.composer.ComposerError:  # an anchor that is set twice, which YAML allows and PyYAML does not
        return
    except yaml.YAMLError as error:
        raise AssertionError(f"PyYAML refuses what was read: {error}") from None
    except ValueError:  # a number in base 60, or one that is none
        return
    assert repr(other) == repr(read), f"PyYAML: {other!r}, read: {read!r}"


def _depth(value: object, depth: int = 0) -> int:
    if depth > _TEXT or not isinstance(value, list | dict):
        return depth
    inner = value.values() if isinstance(value, dict) else value
    return max((_depth(each, depth + 1) for each in inner), default=depth)


def _converted(kind: InputKind, data: bytes, *before: Input) -> None:
    """The conversion has manifests or problems, and every sentence of it can be printed."""
    kind_of(data)
    for found in convert([*before, Input("in", data, kind)], ConvertOptions()):
        assert not (found.manifests and found.problems)
        sayable(found.problems)
        for remark in found.remarks:
            assert str(remark).encode("utf-8", "surrogatepass")
        msgspec.json.encode(found.manifests)


spl: Callable[[bytes], None] = functools.partial(_converted, InputKind.SPL)
adl_text: Callable[[bytes], None] = functools.partial(_converted, InputKind.ADL)
archive: Callable[[bytes], None] = functools.partial(_converted, InputKind.SAB)
properties: Callable[[bytes], None] = functools.partial(_converted, InputKind.TWISTER2)
emco: Callable[[bytes], None] = functools.partial(_converted, InputKind.EMCO)


_PROGRAM: Final = b"composite Main { graph stream<int32 a> A = Beacon() {} () as B = FileSink(A) {} }"


def overlay(data: bytes) -> None:
    """The same for the overlay of a program."""
    _converted(InputKind.OVERLAY, data, Input("main.spl", _PROGRAM, InputKind.SPL))


def archive_inside(data: bytes) -> None:
    """The same for a TAR archive inside of a sound bundle, which no checksum protects from changes."""
    archive(packed({"tar/bundle.tar": data}, method=0))


def snapshot_seeds() -> Iterator[bytes]:
    return chain(files(EXAMPLES / "cluster", ".yaml"), literals("cluster"))


def json_seeds() -> Iterator[bytes]:
    for content in snapshot_seeds():
        try:
            for document in yaml.load_all(content, Loader=yaml.CSafeLoader):
                yield msgspec.json.encode(document)
        except (yaml.YAMLError, TypeError, ValueError, RecursionError, msgspec.MsgspecError):
            continue


def _inputs(*endings: str) -> Iterator[bytes]:
    return (content for content in files(EXAMPLES / "convert", *endings) if b"expected" not in content[:20])


def spl_seeds() -> Iterator[bytes]:
    return chain(
        _inputs(".spl"),
        literals("convert/test_spl.py", "convert/test_spl_programs.py", "convert/test_spl_values.py"),
        literals("convert/test_spl_library.py", "convert/test_spl_accounts.py"),
    )


def adl_seeds() -> Iterator[bytes]:
    yield from _inputs(".adl", ".xml")
    yield adl(operator("A", "<hostColocation>t</hostColocation>")).encode()
    for part in literals("convert/test_adl.py"):
        if b"<" in part:
            yield adl(part.decode("utf-8", "replace")).encode("utf-8", "replace")


def archive_seeds() -> Iterator[bytes]:
    yield bundle(adl(operator()))
    yield bundle(adl(operator()), info=None)
    yield packed({"Main.adl": adl(operator()).encode()}, method=0)


def tar_seeds() -> Iterator[bytes]:
    yield tar({"out/Main.adl": adl(operator()).encode(), "out/x": b"x"})
    yield tar({"a" * 150 + "/Main.adl": adl(operator()).encode()}, 2)


def property_seeds() -> Iterator[bytes]:
    return chain(_inputs(".properties"), literals("convert/test_java_properties.py", "convert/test_twister2.py"))


def overlay_seeds() -> Iterator[bytes]:
    return chain(_inputs("overlay.json"), literals("convert/test_overlay.py"))


def emco_seeds() -> Iterator[bytes]:
    return chain(_inputs(".yaml", ".json", ".txt"), literals("convert/test_emco.py", "convert/test_located_yaml.py"))
