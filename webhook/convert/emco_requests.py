"""Finds the objects of EMCO hardware intents in the forms in which people keep them.

These are: resource files of ``emcoctl`` (YAML documents with an anchor), requests as documentation shows them (a path,
and bodies below ``POST:``), collections of Postman, lists as the REST interface answers them, and bare bodies one after
the other, each belonging to the one before it. The REST interface is that of EMCO's design "HPA Intent API".
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from webhook.convert.findings import InputLine
from webhook.convert.located_yaml import LocatedValue, located_documents, refused_at
from webhook.convert.source_text import SourceText
from webhook.placement.text.problem import quote

_PATH: Final = re.compile(
    r"projects/(?P<project>[^/]+)/composite-apps/(?P<app>[^/]+)/(?P<version>[^/]+)/deployment-intent-groups/(?P<group>[^/]+)"
    r"/hpa-intents(?:/(?P<intent>[^/]+)(?:/hpa-resource-consumers(?:/(?P<consumer>[^/]+)(?:/resource-requirements.*)?)?)?)?/?"
)
_REQUEST_PATH: Final = re.compile(
    r"^[ \t]*(?:(?:POST|PUT)[ \t]+)?(?:\S*?/)?(?P<path>projects/\S.*hpa-intents.*?)[ \t\r]*$"
)
_METHOD: Final = re.compile(r"^(?P<indent>[ \t]*)(?:POST|PUT)[ \t]*:[ \t\r]*$")
_SPOKEN: Final = re.compile(r"^[ \t]*(?:POST|PUT)[ \t]*:[ \t\r]*$", re.MULTILINE)
_LINE_LIMIT: Final = 4096
"""Characters of a path; a longer line is not taken for one."""
_FENCE: Final = re.compile(r"^[ \t]*```")
_COLLECTION_DEPTH: Final = 8

_PARTS: Final = frozenset({"metadata", "spec", "version", "resourcecontext", "apiversion", "kind"})
_REQUIREMENT: Final = frozenset({"mandatory", "weight", "allocatable", "resource", "requests", "limits", "value"})
_CONSUMER: Final = frozenset({"consumer", "apiVersion", "api-version", "kind", "container-name", "containerName"})
_INTENT: Final = frozenset({"app", "appName", "app-name", "consumers", "resourceConsumers"})


class EmcoPath(Struct, frozen=True, gc=False):
    """Where an object belongs: the deployment intent group, the intent and the consumer, as far as they are said."""

    group: str = ""
    intent: str = ""
    consumer: str = ""


class EmcoObject(Struct, frozen=True, gc=False):
    """One object with ``metadata`` and ``spec``, what it is, and where it belongs."""

    kind: str
    path: EmcoPath
    at: InputLine
    metadata: dict[str, LocatedValue]
    spec: dict[str, LocatedValue]

    @property
    def name(self) -> str:
        """Its name; empty if it has none."""
        named = self.metadata.get("name")
        return named.text if named is not None else ""


def emco_objects(source: SourceText) -> Iterator[EmcoObject]:
    """The objects of an input in their order. Raises :class:`RefusedInputError`."""
    if _SPOKEN.search(source.text):
        yield from _spoken(source)
        return
    for document in located_documents(source):
        yield from _of_document(document, None, 0)


def _spoken(source: SourceText) -> Iterator[EmcoObject]:
    """The bodies of requests that are written as a path and ``POST:`` with an indented body, as in documentation."""
    path: EmcoPath | None = None
    lines = source.text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if said := _REQUEST_PATH.match(line[:_LINE_LIMIT]):
            path = _path(re.sub(r"\s+", "", said["path"]), InputLine(source.name, at))
        elif method := _METHOD.match(line):
            begun = at
            while at < len(lines) and _is_body(lines[at], len(method["indent"])):
                at += 1
            body = SourceText(source.name, "\n".join(lines[begun:at]), begun + 1)
            for document in located_documents(body):
                yield _object(document, path)
        elif line.strip() and not line.lstrip().startswith("#") and not _FENCE.match(line):
            message = f"{quote(line.strip())} is neither a path nor POST: with a body below it"
            raise refused_at(InputLine(source.name, at), message)


def _is_body(line: str, indent: int) -> bool:
    """Whether a line belongs to the body of a method that is indented so far."""
    if not line.strip():
        return True
    own = len(line) - len(line.lstrip())
    return own > indent and not _METHOD.match(line) and not _FENCE.match(line)


def _of_document(document: LocatedValue, path: EmcoPath | None, depth: int) -> Iterator[EmcoObject]:
    """The objects of one document: a list, a collection of Postman, a resource of ``emcoctl``, or a body."""
    fields = document.fields
    if isinstance(document.value, list):
        for one in document.items:
            yield from _of_document(one, path, depth)
    elif "item" in fields or "request" in fields:
        if depth > _COLLECTION_DEPTH:
            raise refused_at(document.at, f"folders are nested more than {_COLLECTION_DEPTH} levels deep")
        yield from _of_collection(document, depth)
    elif context := fields.get("resourceContext"):
        anchor = context.fields.get("anchor")
        if anchor is None or not anchor.text:
            raise refused_at(context.at, "resourceContext needs an anchor, the path of the collection")
        if "hpa-intents" in anchor.text:
            yield _object(document, _path(anchor.text, anchor.at))
        else:
            yield EmcoObject("other", EmcoPath(), document.at, {"name": LocatedValue(anchor.at, anchor.text)}, {})
    else:
        yield _object(document, path)


def _of_collection(document: LocatedValue, depth: int) -> Iterator[EmcoObject]:
    """The bodies of a collection of Postman: those that are sent."""
    for item in document.fields["item"].items if "item" in document.fields else ():
        yield from _of_document(item, None, depth + 1)
    request = document.fields.get("request")
    if request is None or request.fields.get("method") is None or request.fields["method"].text not in {"POST", "PUT"}:
        return
    url = request.fields.get("url")
    address = url.fields["raw"] if url is not None and "raw" in url.fields else url
    body = request.fields.get("body")
    raw = body.fields.get("raw") if body is not None else None
    if address is None or "hpa-intents" not in address.text or raw is None:
        return
    source = SourceText(raw.at.file, raw.text)
    for located in located_documents(source):
        yield _object(_moved(located, raw.at), _path(re.sub(r"\s+", "", address.text), address.at))


def _moved(value: LocatedValue, at: InputLine) -> LocatedValue:
    """The value with all of it at one line: it is inside a text."""
    if isinstance(value.value, dict):
        return LocatedValue(at, {key: _moved(one, at) for key, one in value.value.items()})
    return LocatedValue(at, [_moved(one, at) for one in value.value] if isinstance(value.value, list) else value.value)


def _path(text: str, at: InputLine) -> EmcoPath:
    match = _PATH.search(text[:_LINE_LIMIT])
    if match is None:
        sample = "projects/P/composite-apps/A/VERSION/deployment-intent-groups/G/hpa-intents"
        raise refused_at(at, f"{quote(text)} is not a path of hardware intents, such as {sample}")
    group = "/".join(match[part] for part in ("project", "app", "version", "group"))
    return EmcoPath(group, match["intent"] or "", match["consumer"] or "")


def _object(document: LocatedValue, path: EmcoPath | None) -> EmcoObject:
    """The object that a body is. The case of ``metadata`` and ``spec`` does not count, as for ``emcoctl``."""
    fields = {key.lower(): value for key, value in document.fields.items()}
    if path is None and _is_manifest(fields):
        what = f"this is a Kubernetes manifest of kind {quote(fields['kind'].text)}"
        raise refused_at(document.at, f"{what}: explain and plan read it as it is, and --onto adds annotations to it")
    for key, value in document.fields.items():
        if key.lower() not in _PARTS:
            raise refused_at(value.at, f"unknown field {quote(key)}: an object of an intent has metadata and spec")
    metadata, spec = fields.get("metadata"), fields.get("spec")
    if metadata is None or spec is None:
        raise refused_at(document.at, "an object of an intent has metadata and spec")
    named = {key[:1].lower() + key[1:]: value for key, value in metadata.fields.items()}
    if not named.get("name", metadata).text:
        raise refused_at(metadata.at, "metadata.name is missing")
    if path is not None:
        kind = "requirement" if path.consumer else "consumer" if path.intent else "intent"
        return EmcoObject(kind, path, metadata.at, named, spec.fields)
    return EmcoObject(_kind(spec), EmcoPath(), metadata.at, named, spec.fields)


def _is_manifest(fields: Mapping[str, LocatedValue]) -> bool:
    """Whether these are the fields of a manifest for Kubernetes, such as a Deployment."""
    spec = fields.get("spec")
    named = spec.fields.keys() if spec is not None else frozenset()
    return {"apiversion", "kind"} <= fields.keys() and not named & (_REQUIREMENT | _INTENT | _CONSUMER)


def _kind(spec: LocatedValue) -> str:
    """What a body is, by the fields of its spec."""
    names = spec.fields.keys()
    if names & _REQUIREMENT:
        return "requirement"
    if names & _INTENT:
        return "intent"
    if names & _CONSUMER:
        return "consumer"
    raise refused_at(spec.at, "this spec is not that of an intent (app), a consumer or a requirement")
