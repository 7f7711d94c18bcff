"""Job configuration overlays of Streams: what is stated when a job is submitted, and so is part of a Job's spec.

An overlay is the JSON that ``streamtool submitjob -g`` takes (Streams 4.2, "Job configuration overlays reference"). It
configures the applications that are converted together with it. Every key that no Job can say is a remark.
"""

import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from webhook.convert.findings import InputLine, RefusedInputError, Remark
from webhook.convert.located_yaml import LocatedValue, located_documents, refused_at
from webhook.convert.source_text import SourceText
from webhook.convert.streams_application import StreamsApplication, StreamsOperator
from webhook.placement.fusion.application import PARTITION
from webhook.placement.fusion.scheme import Scheme
from webhook.placement.objects.jobs.job_spec import ELEMENT_LIMIT, FUSION_TYPES
from webhook.placement.spl.clauses import ClauseName, PlacementClause
from webhook.placement.text.problem import Problem, enumerated, quote

_ROOT: Final = "jobConfigOverlays"
_THREADING: Final = frozenset({"automatic", "manual", "dedicated", "dynamic"})
_SCHEMES: Final = tuple(sorted(Scheme))
_SWITCHES: Final = {"true": True, "false": False}
_NO_THREADS: Final = "notSpecified"

_ON_HOSTS: Final = frozenset({ClauseName.COLOCATION, ClauseName.EXLOCATION, ClauseName.ISOLATION})
_IGNORED: Final[Mapping[str, frozenset[ClauseName]]] = {
    "ALL": PARTITION | _ON_HOSTS,
    "HOST": _ON_HOSTS,
    "NONE": frozenset(),
    "PARTITION": PARTITION,
}
"""The clauses of the bundle that each value of ``ignoreBundleRelationalPlacements`` takes away."""


class Isolation(Struct, frozen=True):
    """``partitionIsolation`` of the operators whose name matches ``names``, in which ``*`` is any text."""

    at: InputLine
    names: str
    isolated: bool

    def holds_for(self, operator: StreamsOperator) -> bool:
        """Whether the operator has a matching name, with its channels or without."""
        pattern = re.compile(fnmatch.translate(re.sub(r"([?\[])", r"[\1]", self.names)))
        return bool(pattern.match(operator.name) or pattern.match(operator.stated))


class JobOverlay(Struct):
    """What an overlay says: the job's name, fields of its spec, and changes of the operators' clauses."""

    at: InputLine
    name: str | None = None
    spec: dict[str, Any] = field(default_factory=dict)
    isolations: list[Isolation] = field(default_factory=list)
    ignored: frozenset[ClauseName] = frozenset()

    def applied(self, application: StreamsApplication) -> tuple[StreamsApplication, list[Remark]]:
        """The application with the overlay's changes, and a remark about each name that no operator has."""
        operators = tuple(map(self._changed, application.operators))
        remarks = [
            Remark(
                one.at,
                f"partitionIsolation of {one.names} is left out",
                f"no operator of {application.name} has that name",
                "check the name",
            )
            for one in self.isolations
            if not any(map(one.holds_for, application.operators))
        ]
        return replace(application, operators=operators), remarks

    def _changed(self, operator: StreamsOperator) -> StreamsOperator:
        """The operator without clauses that are ignored, and isolated as the last entry about it says."""
        isolated = [one.isolated for one in self.isolations if one.holds_for(operator)]
        gone = self.ignored | ({ClauseName.PARTITION_ISOLATION} if isolated else set())
        parts = operator.parts or ((),) * len(operator.clauses)
        kept = [pair for pair in zip(operator.clauses, parts, strict=True) if pair[0].name not in gone]
        if isolated and isolated[-1]:
            kept.append((PlacementClause(ClauseName.PARTITION_ISOLATION), ()))
        return replace(operator, clauses=tuple(one for one, _ in kept), parts=tuple(own for _, own in kept))


def read_overlay(source: SourceText) -> tuple[JobOverlay, list[Remark]]:
    """The overlay, and remarks. Raises :class:`RefusedInputError` for a text that is not a valid overlay."""
    documents = located_documents(source)
    if len(documents) != 1 or _ROOT not in documents[0].fields:
        message = f"a job configuration overlay is one JSON object with {_ROOT}"
        raise RefusedInputError(Problem(str(source.line(0)), message))
    reader = _OverlayReader(documents[0].at)
    reader.read(documents[0])
    return reader.overlay, reader.remarks


class _OverlayReader:
    """Reads the sections of an overlay; each method is one section or one key."""

    def __init__(self, at: InputLine) -> None:
        self.overlay = JobOverlay(at)
        self.remarks: list[Remark] = []

    def read(self, document: LocatedValue) -> None:
        """The document; of several overlays the first counts, as in Streams."""
        self._others(document, "", {_ROOT, "comment", "results"})
        overlays = document.fields[_ROOT].items
        if not overlays:
            raise refused_at(document.fields[_ROOT].at, f"{_ROOT} has no overlay")
        if len(overlays) > 1:
            why = "Streams only reads the first overlay of a file"
            self.remarks.append(Remark(overlays[1].at, "the second overlay is left out", why, "use a file for each"))
        sections: Mapping[str, Callable[[LocatedValue], None]] = {
            "jobConfig": self._job_config,
            "deploymentConfig": self._deployment_config,
            "operatorConfigs": self._operator_configs,
            "configInstructions": self._instructions,
        }
        self._others(overlays[0], "", sections)
        for name, section in sections.items():
            if (value := overlays[0].fields.get(name)) is not None:
                section(value)

    def _others(self, value: LocatedValue, path: str, known: "Mapping[str, Any] | set[str]") -> None:
        """A remark about each key that is not read."""
        for key, one in value.fields.items():
            if key not in known:
                self._left_out(one.at, f"{path}{key}", "a Job has no such field", "check whether you need it")

    def _left_out(self, at: InputLine, what: str, why: str, instead: str, *, demand: bool = False) -> None:
        self.remarks.append(Remark(at, f"{what} is left out", why, instead, demand=demand))

    def _job_config(self, section: LocatedValue) -> None:
        path = "jobConfig."
        self._others(section, path, {"jobName", "submissionParameters", "dataDirectory", "tracing"})
        fields = section.fields
        options: dict[str, str] = {}
        if "tracing" in fields:
            options["appTraceLevel"] = fields["tracing"].text.upper()
        if "dataDirectory" in fields:
            options["dataPath"] = fields["dataDirectory"].text
        if options:
            self.overlay.spec["processingElement"] = options
        if "jobName" in fields:
            self.overlay.name = fields["jobName"].text
        if values := dict(self._submitted(fields.get("submissionParameters"))):
            self.overlay.spec["submissionTimeValues"] = values
            why = "clauses and widths of parallel regions that depend on them have the program's defaults"
            at, instead = fields["submissionParameters"].at, "replace what another value changes"
            self.remarks.append(Remark(at, "submission-time values are only handed to the application", why, instead))

    def _submitted(self, parameters: LocatedValue | None) -> Iterator[tuple[str, str]]:
        for one in parameters.items if parameters else ():
            self._others(one, "jobConfig.submissionParameters.", {"name", "value"})
            fields = one.fields
            if "name" not in fields or "value" not in fields:
                raise refused_at(one.at, "a submission parameter has a name and a value")
            yield fields["name"].text, fields["value"].text

    def _deployment_config(self, section: LocatedValue) -> None:
        path, fields = "deploymentConfig.", section.fields
        known = {"fusionScheme", "fusionTargetPeCount", "parallelRegionConfig", "threadingModel"}
        dynamic = {"dynamicThreadingElastic", "dynamicThreadingThreadCount"}
        self._others(section, path, known | dynamic)
        fusion = self._scheme(fields)
        region = fields.get("parallelRegionConfig")
        if region is not None:
            self._others(region, f"{path}parallelRegionConfig.", {"fusionType"})
            if "fusionType" in region.fields:
                fusion["type"] = _word(region.fields["fusionType"], "fusionType", FUSION_TYPES)
        if fusion:
            self.overlay.spec["fusion"] = fusion
        self._threading(fields)

    def _scheme(self, fields: Mapping[str, LocatedValue]) -> dict[str, Any]:
        """The scheme with the number of processing elements that the manual one has."""
        stated, count = fields.get("fusionScheme"), fields.get("fusionTargetPeCount")
        scheme = _word(stated, "fusionScheme", _SCHEMES) if stated is not None else ""
        if stated is not None and scheme == Scheme.MANUAL:
            if count is None:
                raise refused_at(stated.at, "fusionScheme manual needs a fusionTargetPeCount")
            return {scheme: _number(count, "fusionTargetPeCount", ELEMENT_LIMIT)}
        if count is not None:
            why = "only fusionScheme manual has a number of processing elements"
            self._left_out(count.at, "deploymentConfig.fusionTargetPeCount", why, "set fusionScheme to manual")
        return {scheme: True} if scheme else {}

    def _threading(self, fields: Mapping[str, LocatedValue]) -> None:
        stated = fields.get("threadingModel")
        model = _word(stated, "threadingModel", sorted((*_THREADING, _NO_THREADS))) if stated is not None else ""
        dynamic: dict[str, Any] = {}
        for key in ("dynamicThreadingElastic", "dynamicThreadingThreadCount"):
            if key in fields and model != "dynamic":
                why = "only threadingModel dynamic has it"
                self._left_out(fields[key].at, f"deploymentConfig.{key}", why, "set threadingModel to dynamic")
            elif key in fields and key.endswith("Elastic"):
                dynamic["elastic"] = _SWITCHES[_word(fields[key], key, sorted(_SWITCHES))]
            elif key in fields:
                dynamic["threadCount"] = _number(fields[key], key, ELEMENT_LIMIT)
        if model in _THREADING:
            self.overlay.spec["threadingModel"] = {model: dynamic if model == "dynamic" else True}

    def _operator_configs(self, section: LocatedValue) -> None:
        """Changes of operators; under the legacy scheme Streams ignores them."""
        if self.overlay.spec.get("fusion", {}).get(Scheme.LEGACY):
            why = "Streams ignores it under fusionScheme legacy"
            self._left_out(section.at, "operatorConfigs", why, "choose another scheme if you need it")
            return
        for key, value in section.fields.items():
            if key == "ignoreBundleRelationalPlacements":
                self.overlay.ignored |= _IGNORED[_word(value, key, sorted(_IGNORED))]
            elif value.items and all("nameSpec" in one.fields for one in value.items):
                for one in value.items:
                    self._override(one, f"operatorConfigs.{key}.")
            else:
                self._demand(value.at, f"operatorConfigs.{key}")

    def _override(self, entry: LocatedValue, path: str) -> None:
        for key, value in entry.fields.items():
            if key == "partitionIsolation":
                isolated = _SWITCHES[_word(value, key, sorted(_SWITCHES))]
                self.overlay.isolations.append(Isolation(value.at, entry.fields["nameSpec"].text, isolated))
            elif key != "nameSpec":
                self._demand(value.at, f"{path}{key} of {entry.fields['nameSpec'].text}")

    def _instructions(self, section: LocatedValue) -> None:
        for key, value in section.fields.items():
            self._demand(value.at, f"configInstructions.{key}")

    def _demand(self, at: InputLine, what: str) -> None:
        why = "it changes where operators run, and is only applied when a job is submitted to Streams"
        self._left_out(at, what, why, "change the operators of the Job", demand=True)


def _word(value: LocatedValue, name: str, words: "tuple[str, ...] | list[str]") -> str:
    if value.text not in words:
        shown = enumerated(words, len(words))
        raise refused_at(value.at, f"{name} is {quote(value.text)}, but its values are: {shown}")
    return value.text


def _number(value: LocatedValue, name: str, maximum: int) -> int:
    text = value.text
    if not text.isascii() or not text.isdigit() or len(text) > len(str(maximum)) or not 1 <= int(text) <= maximum:
        raise refused_at(value.at, f"{name} is {quote(text)}, which is not a whole number from 1 to {maximum}")
    return int(text)
