"""A plan as one HTML page without any other file: no request leaves it, and texts of users never become markup in it.

The same document gives the same bytes. The page allows exactly its own style and script (Content-Security-Policy with
their hashes). Its data lies in it as JSON, which the script reads; names become text there, never markup, and Trusted
Types make the browser refuse anything else.
"""

import base64
import functools
import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from importlib import resources
from string import Template
from typing import Final

import msgspec

from webhook.cli.planpage.markup import Markup, escaped, joined, tag
from webhook.cli.planpage.room import in_unit_of
from webhook.cli.planpage.tables import VERDICTS, elements_table, groups_tables, nodes_table, pools_table, summary
from webhook.placementreview.plans.document import NodeResource, PlanDocument, Subject, pool_titles

_STYLES: Final = ("page.css", "overview.css")
_SCRIPTS: Final = ("model.js", "nodes.js", "panel.js", "squares.js", "overview.js", "page.js")
_POLICY: Final = (
    "default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'"
)
_IN_SCRIPT: Final = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&"})
"""What no text in a script element may have: it could end the element, or begin a comment."""


def render(document: PlanDocument) -> str:
    """The page of the document."""
    style, script = _style(), _script()
    policy = _POLICY.format(style=_digest(style), script=_digest(script))
    return Template(_part("page.html")).substitute(
        policy=escaped(policy),
        style=style,
        title=escaped(document.title),
        verdicts=_verdicts(document),
        cluster=escaped(document.cluster),
        figures=joined(*(tag("div", tag("dt", name), tag("dd", figure)) for name, figure in summary(document))),
        refused=_refused(document),
        pools=_pools(document),
        elements=elements_table(document),
        nodes=joined(groups_tables(document), nodes_table(document)),
        data=_data(document),
        script=script,
    )


def _verdicts(document: PlanDocument) -> Markup:
    """How many subjects were refused, undecided and admitted, those that were not first."""
    counts = Counter(subject.verdict for subject in document.subjects)
    shown = (
        tag("strong", f"{counts[verdict]:,} {word}", class_=f"verdict {verdict}")
        for verdict, word in VERDICTS.items()
        if counts[verdict]
    )
    note = tag("span", "Not everything was decided in time.", class_="note") if document.undecided else Markup()
    return joined(*(part for each in shown for part in (each, " ")), note)


def _pools(document: PlanDocument) -> Markup:
    """The HostPools, if there are any."""
    heading = tag("h2", "HostPools", id="pools-heading")
    table = pools_table(document)
    return tag("section", heading, table, aria_labelledby="pools-heading") if document.pools else Markup()


def _refused(document: PlanDocument) -> Markup:
    """The refused subjects with their messages and conflicts."""
    articles = [
        tag("article", *_refusal(subject), data_subject=place)
        for place, subject in enumerate(document.subjects)
        if subject.verdict == "refused"
    ]
    heading = tag("h2", "Refused", id="refused-heading")
    return tag("section", heading, *articles, id="refused", aria_labelledby="refused-heading") if articles else Markup()


def _refusal(subject: Subject) -> Iterator[Markup]:
    place = tag("small", f"in namespace {subject.namespace}, from {subject.file}")
    yield tag("h3", tag("span", subject.origin, class_="name"), " ", place)
    if subject.message:
        first, _, following = subject.message.partition("\n")
        yield tag("pre", tag("strong", first), f"\n{following}" if following else "", class_="message")
    for conflict in subject.conflicts:
        title = "Cannot hold" if len(conflict.clauses) == 1 else "Cannot hold together"
        rows = [(title, conflict.clauses, "code"), ("Elements", conflict.elements, "name")]
        if conflict.fix and conflict.fix not in subject.message:
            rows.append(("Nearest fix", (conflict.fix,), "fix"))
        yield tag("dl", *(_named(*row) for row in rows if row[1]), class_="conflict")


def _named(title: str, names: tuple[str, ...], kind: str) -> Markup:
    items = (tag("li", tag("span", name, class_=kind)) for name in names)
    return tag("div", tag("dt", title), tag("dd", tag("ul", *items)))


def _data(document: PlanDocument) -> str:
    """The document as JSON in ASCII that may stand in a script element; no text in it ends that element.

    Equal resources of nodes are stored once, as ``resources``: nodes have places in that list. ``amounts`` of each are
    what the node offers, what is used, planned and free, in one unit. ``poolTitles`` tell pools of one name apart.
    """
    data = msgspec.to_builtins(document)
    places: dict[NodeResource, int] = {}
    for node, shown in zip(document.nodes, data["nodes"], strict=True):
        shown["resources"] = [places.setdefault(resource, len(places)) for resource in node.resources]
    data["resources"] = [msgspec.to_builtins(each) | {"amounts": _amounts(each)} for each in places]
    data["poolTitles"] = pool_titles(document.pools)
    return json.dumps(data, separators=(",", ":")).translate(_IN_SCRIPT)


def _amounts(resource: NodeResource) -> tuple[str, ...]:
    """What a node offers of the resource, what is used, planned and free, in one unit."""
    return in_unit_of(resource.offers, (resource.offers, resource.used, resource.planned, resource.free))


def _digest(source: str) -> str:
    """SHA-256 of the source as a Content-Security-Policy has it."""
    return base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


@functools.cache
def _style() -> str:
    return "".join(map(_part, _STYLES))


@functools.cache
def _script() -> str:
    return "".join(map(_part, _SCRIPTS))


def _part(name: str) -> str:
    """The text of a file beside this one."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
