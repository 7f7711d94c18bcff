"""Converts inputs of other systems into manifests: what kind each input is, and the way from it to manifests."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webhook.convert.adl.reading import read_adl
from webhook.convert.bundle import adl_of_bundle, is_bundle
from webhook.convert.emco import intent_objects, read_emco
from webhook.convert.findings import Conversion, Manifest, RefusedInputError, Remark, object_name
from webhook.convert.input_kind import InputKind
from webhook.convert.overlay import JobOverlay, read_overlay
from webhook.convert.source_text import SourceText, decoded
from webhook.convert.spl.reading import SplReading, read_spl
from webhook.convert.streams_application import StreamsApplication, with_label_tokens
from webhook.convert.streams_job import job_of, pool_objects
from webhook.convert.targets import Targets
from webhook.convert.twister2 import read_twister2, workers_of
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import STREAMS_JOB
from webhook.placement.text.problem import Problem, quote


class ConvertOptions(Struct, frozen=True):
    """What a user says beside the input.

    ``name`` is that of the Job or workload, ``namespace`` that of all manifests. ``targets`` are objects that get
    annotations, in place of new Jobs, workloads and HPAIntents. ``primitives`` are names of operators of SPL that are
    known to be no composites. ``overlay`` is what the job configuration overlay among the inputs says.
    """

    name: str | None = None
    namespace: str | None = None
    targets: Targets | None = None
    primitives: frozenset[str] = frozenset()
    overlay: JobOverlay | None = None


class Input(Struct, frozen=True):
    """One input: the name of its file, for messages, its content and its kind."""

    name: str
    content: bytes
    kind: InputKind


_SIGNS: Final = (
    (InputKind.ADL, re.compile(r"\A\s*+<(?:\?xml|!DOCTYPE|!--|applicationSet|\w++:applicationSet)")),
    (
        InputKind.TWISTER2,
        re.compile(r"^[ \t]*+(?:twister2\.|kubernetes\.(?:bind|worker|namespace|image)\b)", re.MULTILINE),
    ),
    (InputKind.OVERLAY, re.compile(r"\"jobConfigOverlays\"\s*+:")),
    (
        InputKind.EMCO,
        re.compile(
            r"\A\s*+[\[{]\s*+[\"{\]}]|^[ \t-]*+[\"']?[Mm]etadata[\"']?[ \t]*+:[ \t\r]*+(?:\{.*+)?+$|/hpa-intents",
            re.MULTILINE,
        ),
    ),
    (
        InputKind.SPL,
        re.compile(
            r"\bcomposite\s++\w|\bconfig\s++\w++\s*+:|\bhostPool\s*+:|\bcreatePool\s*+\(|\bstream\s*+<"
            r"|\bhost(?:Colocation|Exlocation)?\s*+\(|\b(?:host|partition)Isolation\b|\bpartition(?:Col|Exl)ocation\b"
        ),
    ),
)
"""What the content of each kind looks like; the first that matches is it."""

_TOLD_BY: Final = 1024 * 1024
"""Characters of an input by which its kind is detected."""


def kind_of(content: bytes) -> InputKind | None:
    """The kind of an input by its content; ``None`` if it looks like none."""
    if is_bundle(content):
        return InputKind.SAB
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    text = content[:_TOLD_BY].decode(encoding, "replace")
    return next((kind for kind, sign in _SIGNS if sign.search(text)), None)


def convert(inputs: Sequence[Input], options: ConvertOptions) -> list[Conversion]:
    """The manifests of each input, in their order; never raises for what is in them.

    SPL programs are read together: composites of one are found by the others.
    """
    read = _overlays([one for one in inputs if one.kind is InputKind.OVERLAY], options)
    overlay = next((conversions for conversions, _ in read.values() if conversions is not None), None)
    options = replace(options, overlay=overlay)
    programs = _programs([one for one in inputs if one.kind is InputKind.SPL], options)
    conversions = [read[id(one)][1] if id(one) in read else _conversion(one, programs, options) for one in inputs]
    if overlay is None or any(one.problems for one in conversions) or any(map(_has_job, conversions)):
        return conversions
    message = "the overlay configures no Job: name the application that it is for as well"
    unused = Conversion(problems=(Problem(str(overlay.at), message),))
    return [unused if id(one) in read else conversion for one, conversion in zip(inputs, conversions, strict=True)]


def _has_job(conversion: Conversion) -> bool:
    return any(manifest["kind"] == STREAMS_JOB.name for manifest in conversion.manifests)


def _overlays(inputs: Sequence[Input], options: ConvertOptions) -> dict[int, tuple[JobOverlay | None, Conversion]]:
    """The overlay and the remarks or problems of each input that is one, by the identity of the input."""
    read: dict[int, tuple[JobOverlay | None, Conversion]] = {}
    for one in inputs:
        try:
            overlay, remarks = read_overlay(decoded(one.name, one.content))
        except RefusedInputError as refused:
            read[id(one)] = None, Conversion(problems=refused.problems)
            continue
        message = "an overlay configures a Job, and --onto makes none" if options.targets is not None else ""
        message = message or ("this is a second overlay: a job is submitted with one" if read else "")
        if message:
            read[id(one)] = None, Conversion(problems=(Problem(str(overlay.at), message),))
        else:
            read[id(one)] = overlay, Conversion(remarks=tuple(sorted(remarks, key=_line)))
    return read


def _programs(inputs: Sequence[Input], options: ConvertOptions) -> dict[int, SplReading]:
    """The readings of SPL programs, by the identity of their input."""
    sources: dict[int, SourceText] = {}
    by_number: dict[int, SplReading] = {}
    for one in inputs:
        try:
            sources[id(one)] = decoded(one.name, one.content)
        except RefusedInputError as refused:
            by_number[id(one)] = SplReading(problems=refused.problems)
    readings = read_spl(list(sources.values()), options.primitives, alone=not by_number)
    return {**by_number, **dict(zip(sources, readings, strict=True))}


def _conversion(one: Input, programs: Mapping[int, SplReading], options: ConvertOptions) -> Conversion:
    """The manifests of one input."""
    try:
        if reading := programs.get(id(one)):
            manifests, remarks = _spl(reading, options)
        else:
            manifests, remarks = _CONVERTERS[one.kind](one.name, one.content, options)
    except RefusedInputError as refused:
        return Conversion(problems=refused.problems)
    for manifest in manifests:
        if options.namespace is not None:
            manifest["metadata"]["namespace"] = options.namespace
    # Written to JSON and read again, no two manifests share a part that YAML would write as an alias.
    return Conversion(tuple(msgspec.json.decode(msgspec.json.encode(manifests))), tuple(sorted(remarks, key=_line)))


def _line(remark: Remark) -> tuple[str, int]:
    return remark.at.file, remark.at.line


_Converted = tuple[list[Manifest], list[Remark]]


def _spl(reading: SplReading, options: ConvertOptions) -> _Converted:
    """The Jobs of a program; nothing for a text that others use."""
    if reading.problems:
        raise RefusedInputError(*reading.problems)
    return _streams(list(reading.applications), list(reading.remarks), options)


def _adl(name: str, content: bytes, options: ConvertOptions) -> _Converted:
    applications, remarks = read_adl(name, content)
    if not applications:
        raise RefusedInputError(Problem(name, "the input contains no application"))
    return _streams(applications, remarks, options)


def _sab(name: str, content: bytes, options: ConvertOptions) -> _Converted:
    path, adl = adl_of_bundle(name, content)
    return _adl(f"{name}/{path}", adl, options)


def _streams(applications: list[StreamsApplication], remarks: list[Remark], options: ConvertOptions) -> _Converted:
    """A Job for each application, or only its pools where pods get the clauses or no operator is in the input."""
    manifests: list[Manifest] = []
    names: set[str] = set()
    overlay = options.overlay
    for read in applications:
        application, more = (read, []) if overlay is None else overlay.applied(read)
        application, renamed = with_label_tokens(application)
        remarks += more + renamed
        several = len(applications) > 1
        stated = overlay.name if overlay is not None and overlay.name and not several else application.name
        name = _name(options, object_name(stated), several=several)
        if name in names:
            message = f"two applications would be the Job {quote(name)}: convert them one by one, with --name"
            raise RefusedInputError(Problem(str(application.at), message))
        names.add(name)
        if options.targets is not None:
            remarks += options.targets.put_streams(application, name)
            manifests += pool_objects(application)
        elif not application.operators and not application.bundle:
            manifests += pool_objects(application)
        else:
            job, more = job_of(application, name, overlay)
            manifests.append(job)
            remarks += more
    return manifests, remarks


def _twister2(name: str, content: bytes, options: ConvertOptions) -> _Converted:
    workers, remarks = read_twister2(decoded(name, content))
    stem = _name(options, object_name(name.rpartition("/")[2].partition(".")[0]), several=False)
    if options.targets is not None:
        return [], [*remarks, *options.targets.put_workers(workers, stem)]
    manifests, more = workers_of(workers, stem)
    return manifests, [*remarks, *more]


def _emco(name: str, content: bytes, options: ConvertOptions) -> _Converted:
    intents, remarks = read_emco(decoded(name, content))
    objects = list(intent_objects(intents, options.namespace))
    if options.targets is not None:
        return [], [*remarks, *options.targets.put_intents(intents)]
    for intent in intents:
        what = f"HPAIntent {intent.name} is for the workloads of its namespace"
        why = f"it applies where the namespace has the label {keys.INJECT}={keys.ENABLED}"
        instead = f"label the namespace, or name the intent in the annotation {keys.INTENT}"
        remarks.append(Remark(intent.at, what, why, instead))
    return objects, remarks


def _name(options: ConvertOptions, made: str, *, several: bool) -> str:
    """The name that the user gives, else the one that was made; two applications cannot have one name."""
    return made if options.name is None or several else options.name


_CONVERTERS: Final[Mapping[InputKind, Callable[[str, bytes, ConvertOptions], _Converted]]] = {
    InputKind.ADL: _adl,
    InputKind.SAB: _sab,
    InputKind.TWISTER2: _twister2,
    InputKind.EMCO: _emco,
}
