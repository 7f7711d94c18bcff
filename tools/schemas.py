"""``python -m tools.schemas``: write the JSON Schemas of what commands answer with ``-o json``, and of log lines."""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from webhook.cli.commands.check import CheckAnswer
from webhook.cli.commands.release import ReleaseAnswer
from webhook.cli.commands.tour import TourAnswer
from webhook.cli.commands.version import VersionAnswer
from webhook.cli.reviews.review_explanation import EvictionExplanation, ReviewExplanation
from webhook.cli.why.report import WhyReport
from webhook.cluster.queries.job_view import JobView
from webhook.placement.clusters.answer import ClustersAnswer
from webhook.placementreview.explanations.explanation import PodExplanation
from webhook.placementreview.explanations.job_explanation import JobExplanation
from webhook.placementreview.explanations.pool_explanation import PoolExplanation
from webhook.placementreview.plans.document import PlanDocument
from webhook.server.logs import LogLine

FOLDER: Final = Path(__file__).parents[1] / "docs" / "schemas"

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
"""The version of JSON Schema that the files are written in."""

ANSWERS: Final[Mapping[str, Sequence[type]]] = {
    "check": [CheckAnswer],
    "clusters": [ClustersAnswer],
    "explain": [PodExplanation, PoolExplanation, JobExplanation, ReviewExplanation, EvictionExplanation],
    "plan": [PlanDocument],
    "release": [ReleaseAnswer],
    "status": [JobView],
    "tour": [TourAnswer],
    "version": [VersionAnswer],
    "why": [WhyReport],
}
"""The types of each command's answer."""

LOG: Final = "log"
"""The name of the schema of log lines."""

_LISTS: Final = frozenset({"explain", "tour"})
"""Commands whose answer is a list."""

_ROLE: Final = re.compile(r":(?:class|func|meth):(?=`)")
"""What marks a name of Python in a docstring."""

_MANIFESTS: Final = {
    "type": "object",
    "description": "The manifests as one List of Kubernetes, which kubectl applies.",
    "required": ["apiVersion", "kind", "items"],
    "properties": {
        "apiVersion": {"const": "v1"},
        "kind": {"const": "List"},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["apiVersion", "kind", "metadata"],
                "properties": {
                    "apiVersion": {"type": "string"},
                    "kind": {"type": "string"},
                    "metadata": {"type": "object", "required": ["name"]},
                },
            },
        },
    },
}
"""The answer of ``convert``, whose items are objects of Kubernetes."""


def files() -> dict[Path, str]:
    """The text of every schema."""
    return {FOLDER / f"{name}.json": _text(title, body) for name, title, body in _schemas()}


def _schemas() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The name of each file, the title of its schema, and the schema."""
    yield LOG, "A line of the log of a server or controller", {**_schema([LogLine]), "unevaluatedProperties": False}
    for name, body in (("convert", _MANIFESTS), *((name, _answer(name)) for name in ANSWERS)):
        yield name, f"The answer of streams-placement {name} -o json", body


def _answer(command: str) -> dict[str, Any]:
    whole = _schema(ANSWERS[command])
    definitions = whole.pop("$defs")
    return {**({"type": "array", "items": whole} if command in _LISTS else whole), "$defs": definitions}


def _schema(types: Sequence[type]) -> dict[str, Any]:
    """The schema of a value of one of these types."""
    references, definitions = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    one = references[0] if len(references) == 1 else {"anyOf": list(references)}
    return {**one, "$defs": {each: _described(body) for each, body in definitions.items()}}


def _described(definition: dict[str, Any]) -> dict[str, Any]:
    """The definition of a type, with its docstring as a text for readers of the schema."""
    text = inspect.cleandoc(definition["description"])
    return {**definition, "description": _ROLE.sub("", text).replace("``", "`")}


def _text(title: str, body: dict[str, Any]) -> str:
    schema = {"$schema": DIALECT, "title": title, **body}
    return msgspec.json.format(msgspec.json.encode(schema), indent=2).decode() + "\n"


def write() -> Iterator[Path]:
    """Write the files; the paths of those that were different."""
    FOLDER.mkdir(exist_ok=True)
    wanted = files()
    for path, text in wanted.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            yield path
    for path in set(FOLDER.glob("*.json")) - wanted.keys():
        path.unlink()
        yield path


if __name__ == "__main__":
    for path in write():
        print(path)  # noqa: T201 -- a program
