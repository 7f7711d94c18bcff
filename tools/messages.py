"""``python -m tools.messages``: write ``docs/messages.md``, all texts that refuse, warn or report something.

The same texts go to ``webhook/cli/modelcontext/messages.json``, in which ``streams-placement mcp`` looks them up.

A text is taken from the code as it stands there: a literal of four words or more. What is put into it when it is said
is an ellipsis on the page. Each module that has such texts belongs to one topic, which says what to do.
"""

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from tools.template_messages import template_texts
from webhook.cli.modelcontext.message_search import CATALOGUE, MessageTopic

REPOSITORY: Final = Path(__file__).parents[1]
PAGE: Final = REPOSITORY / "docs" / "messages.md"

_HEAD: Final = """\
# Messages

<!-- Made by make messages from the code. -->

Every text with which the product refuses, warns or reports something, by what it is about. `…` stands for what is put
in: a name, a number, a value, or another of these texts. To find a message, paste it into the search of the site; what
to do about the common ones is in [troubleshooting](troubleshooting.md).
"""

_WORDS: Final = 4
"""Words that a text has at least: shorter ones are parts of others."""

_LINK: Final = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
"""A link of a page: its words, and where it leads."""

_LENGTH: Final = 300
"""Characters of the longest text that is a message; longer ones describe a command, or are a style sheet."""

_NO_MESSAGE: Final = re.compile(
    r"\(\?|\\[dwsu]|\|\s*None|</|SELECT |INSERT |CREATE |DELETE |UPDATE |PRAGMA |= \?|-src |charset="
    r"|\(default: |Exit codes:"
)
"""What no message has: regular expressions, types, markup, queries, headers, help."""

_HELP: Final = frozenset({"about", "description", "help", "epilog", "usage", "summary", "note"})
"""Names of arguments, and keys of dictionaries, whose values describe a command, a field or an operation."""

_DESCRIBED: Final = {
    "CommandFlag": 1, "Option": 2, "add_namespace": 1,
    "counts": 1, "durations": 1, "gauge": 1, "listing": 1,
    "NumberRule": 0, "SwitchRule": 0, "TextMapRule": 0, "object_name": 0,
    "_absolute": 0, "_path": 0, "_pull_policy": 0, "_url": 0,
}  # fmt: skip
"""Calls that declare a flag, a metric or a field of an object, and which argument of each describes it."""

_CONSTANTS: Final = frozenset({"COMMANDS", "_DESCRIPTION", "_EPILOG", "_VARIABLES"})
"""Names of constants that hold help."""

_DEVELOPERS: Final = frozenset({"AttributeError", "RuntimeError"})
"""Exceptions about mistakes in the program itself, whose texts are for its developers."""

_DESCRIPTIONS: Final = (
    "webhook/aggregated/discovery.py",
    "webhook/aggregated/fields.py",
    "webhook/aggregated/openapi.py",
    "webhook/aggregated/review_metrics.py",
    "webhook/cli/declarations/",
    "webhook/cli/parsers/",
    "webhook/convert/spl/toolkits.py",
    "webhook/placement/planning/search/assignment.py",
    "webhook/server/metrics.py",
    "webhook/rest/openapi",
    "webhook/rest/rest_metrics.py",
    "webhook/rest/rest_setting_fields.py",
    "webhook/setting_fields.py",
    "webhook/settings.py",
)
"""Modules with names and descriptions only, or with texts for developers."""

_RULES: Final = "webhook/cluster/crds/"
"""Modules with schemas of objects, whose messages are those of their calls of ``rule``."""


class Topic(NamedTuple):
    """Texts about one thing: the heading of its section, what to do, and the folders and modules that say them."""

    heading: str
    advice: str
    modules: tuple[str, ...]


TOPICS: Final = (
    Topic(
        "The placement annotation",
        "The text of `streams.ibm.com/placement` cannot be read, or its clauses contradict each other. "
        "[Annotations](annotations.md#the-placement-grammar) has the grammar.",
        ("webhook/placement/spl", "webhook/placement/annotations/placement_text.py"),
    ),
    Topic(
        "Other annotations",
        "An annotation under `streams.ibm.com/` has an invalid value. "
        "[Annotations](annotations.md) lists all keys, [mapping](mapping.md) and [hardware](hardware.md) have "
        "the syntax of their values.",
        ("webhook/placement/annotations", "webhook/placement/text"),
    ),
    Topic(
        "Nodes that cannot run the pod",
        "Each line counts nodes, and the nearest fix opens some: [refusals](refusals.md#no-node-can-run-the-pod), "
        "[verdicts](verdicts.md).",
        ("webhook/placement/constraints", "webhook/placement/decision", "webhook/placement/text/fix.py"),
    ),
    Topic(
        "Nodes that an autoscaler could make",
        "No node can run the pod, and whether a node group can make one: [autoscaled clusters](autoscaled.md).",
        (
            "webhook/placement/nodegroups", "webhook/placement/decision/scale_up.py",
            "webhook/placement/jobs/newnodes", "webhook/placement/checks/pool_growth.py",
        ),
    ),
    Topic(
        "HostPools",
        "A pool cannot have its hosts, is named wrongly, or would be broken by a change: [HostPools](hostpool.md).",
        (
            "webhook/placement/pools", "webhook/placement/checks", "webhook/placement/request/pool_lookup.py",
            "webhook/placement/inventory", "webhook/controller/hostpools",
        ),
    ),
    Topic(
        "Fields of our objects",
        "A field of a Job, ProcessingElement, HostPool or HPAIntent breaks its rule: [Jobs](jobs.md), "
        "[HostPools](hostpool.md), [HPAIntents](hpaintent.md).",
        ("webhook/placement/field_rules", "webhook/placement/objects"),
    ),
    Topic(
        "Binding to a host",
        "The pod names its host: [host](host.md).",
        ("webhook/placement/request",),
    ),
    Topic(
        "Applications of other operators",
        "An object of Flink, Spark, Ray or another operator: [applications](applications.md).",
        ("webhook/placement/kinds", "webhook/placement/jobs/whole_application.py"),
    ),
    Topic(
        "Resources and hardware",
        "Amounts contradict each other, or no container is named that gets them: [hardware](hardware.md), "
        "[devices](devices.md), [HPAIntents](hpaintent.md).",
        ("webhook/placement/provision",),
    ),
    Topic(
        "The pod's own fields",
        "Kubernetes would refuse a field of the pod, or the field has more entries than are judged: "
        "[merging](merging.md), [limits](operations.md#limits).",
        ("webhook/placement/kube",),
    ),
    Topic(
        "What the API server adds to pods",
        "The API server would refuse each of the pods, or what it adds to them is not known: "
        "[what the API server adds](pod-defaults.md).",
        ("webhook/placement/pod_defaults",),
    ),
    Topic(
        "All pods of a workload",
        "Not all pods of a Deployment, a StatefulSet or a Job can run at the same time: [workloads](workloads.md), "
        "[spread](spread.md).",
        ("webhook/placement/workload",),
    ),
    Topic(
        "Whole Jobs",
        "The elements of a Job, or the workloads of one job, cannot all run: [the whole Job](jobs.md#the-whole-job).",
        (
            "webhook/placement/jobs", "webhook/placement/elements", "webhook/placement/planning",
            "webhook/placement/fusion", "webhook/controller/jobs", "webhook/controller/processingelements",
        ),
    ),
    Topic(
        "Several clusters",
        "Fewer clusters can take an app than it needs: [clusters](clusters.md).",
        ("webhook/placement/clusters",),
    ),
    Topic(
        "Admission",
        "An object or a change of it is not allowed: [admission](admission.md), "
        "[security](security.md).",
        ("webhook/admission",),
    ),
    Topic(
        "Definitions of objects",
        "The API server itself reports these, by the schemas of the objects: [Jobs](jobs.md), "
        "[HostPools](hostpool.md), [HPAIntents](hpaintent.md).",
        ("webhook/cluster/crds",),
    ),
    Topic(
        "Policies of the API server",
        "The API server itself refuses these, also while no webhook answers: "
        "[what the API server refuses by itself]"
        "(../charts/streams-placement/README.md#what-the-api-server-refuses-by-itself).",
        (
            "charts/streams-placement/templates/policies.yaml", "charts/streams-placement/templates/_conditions.tpl",
        ),
    ),
    Topic(
        "Values of the chart",
        "helm reports these before anything is installed: [values](../charts/streams-placement/README.md#values).",
        ("charts/streams-placement/templates/checks.yaml",),
    ),
    Topic(
        "Reading the cluster",
        "An object of the cluster or of a snapshot cannot be used, or the API server does not answer: "
        "[the cluster](operations.md#the-cluster), [the snapshot](operations.md#the-snapshot).",
        ("webhook/cluster", "kubeapi"),
    ),
    Topic(
        "The server",
        "A request cannot be answered, or the process cannot start: [admission](admission.md#http-answers), "
        "[operations](operations.md).",
        ("webhook/server", "webhook/app"),
    ),
    Topic(
        "The controller",
        "What the controller says about its own work: [the controller](operations.md#the-controller).",
        ("webhook/controller",),
    ),
    Topic(
        "The command line",
        "A command got an argument or an input that it cannot use: [operations](operations.md#explaining-manifests).",
        ("webhook/cli", "webhook/placementreview/explanations", "webhook/placementreview/plans"),
    ),
    Topic(
        "Converting",
        "What an input of another system states and a manifest cannot express: "
        "[coming from SPL, Twister2 or EMCO](coming-from.md).",
        ("webhook/convert",),
    ),
    Topic(
        "The REST interface",
        "A request to `hpa-api` cannot be done: [REST](rest.md).",
        ("webhook/rest",),
    ),
    Topic(
        "Placement reviews",
        "A PlacementReview cannot be answered: [placement reviews](placementreview.md), [asking](ask.md).",
        (
            "webhook/placementreview", "webhook/aggregated", "webhook/app/review_requests.py", "webhook/cli/reviews",
            "webhook/cli/modelcontext",
        ),
    ),
    Topic(
        "Certificates",
        "A certificate, a Secret or the process that renews them: [certificates](operations.md#certificates).",
        ("certs",),
    ),
)  # fmt: skip
"""A module belongs to the topic with the longest path that it begins with."""


@functools.cache
def texts(source: str, *, of_rules: bool = False) -> list[str]:
    """The texts of a module, in their order, each once, with an ellipsis for everything that is put in."""
    tree = ast.parse(source)
    roots: list[ast.AST] = [ast.Tuple([rule.args[1]]) for rule in _rules(tree)] if of_rules else [tree]
    literals = (_text(node) for root in roots for node in _literals(root))
    return list(dict.fromkeys(text for text in literals if text is not None))


def _rules(tree: ast.Module) -> Iterator[ast.Call]:
    """The calls of ``rule``, whose second argument is what the API server says."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "rule":
            yield node


def _no_texts(node: ast.AST) -> Iterable[ast.AST]:
    """Parts without messages: docstrings, annotations of types, descriptions, help, and words to developers."""
    parts: Iterable[ast.AST] = ()
    match node:
        case ast.Expr(value=ast.Constant()):
            parts = (node.value,)
        case ast.AnnAssign(target=ast.Name(id=name)) if name in _CONSTANTS:
            parts = ast.iter_child_nodes(node)
        case ast.arg(annotation=ast.AST() as annotation) | ast.AnnAssign(annotation=annotation):
            parts = (annotation,)
        case ast.keyword(arg=name) if name in _HELP:
            parts = (node.value,)
        case ast.Dict():
            pairs = zip(node.keys, node.values, strict=True)
            parts = [value for key, value in pairs if isinstance(key, ast.Constant) and key.value in _HELP]
        case ast.Call():
            parts = _described(node)
    return parts


def _described(call: ast.Call) -> Iterable[ast.AST]:
    """The arguments of a call that describe something, or speak to developers."""
    function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if function == "HelpExample" or function in _DEVELOPERS:
        return ast.iter_child_nodes(call)
    return call.args[_DESCRIBED[function] :][:1] if function in _DESCRIBED else ()


def _literals(node: ast.AST) -> Iterator[ast.Constant | ast.JoinedStr]:
    """Strings, outermost first: parts of a formatted one are not strings of their own."""
    skipped = {*_no_texts(node)}
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Name) or child in skipped:
            continue
        if isinstance(child, ast.JoinedStr):
            yield child
            for part in child.values:
                if isinstance(part, ast.FormattedValue):
                    yield from _literals(part)
        elif isinstance(child, ast.Constant):
            if isinstance(child.value, str):
                yield child
        else:
            yield from _literals(child)


def _text(node: ast.Constant | ast.JoinedStr) -> str | None:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return said_by("".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in parts))


def said_by(text: str) -> str | None:
    """The text in one line, or ``None`` if it is too short for a message, too long, or something else."""
    lines = [line.strip() for line in text.strip().splitlines()]
    said = " / ".join(line for line in lines if line)
    words = re.findall(r"[A-Za-z']{2,}|\ba\b", said.replace("…", " "))
    if min(len(words), len(said.split())) < _WORDS or len(said) > _LENGTH or _NO_MESSAGE.search(said):
        return None
    return said


@functools.cache
def topics() -> dict[Topic, list[str]]:
    """Every topic with its texts, which are read once.

    Raises ``LookupError`` for a module with texts that belongs to no topic.
    """
    said_of: dict[Topic, list[str]] = {topic: [] for topic in TOPICS}
    for top in ("webhook", "certs", "kubeapi"):
        for path in sorted((REPOSITORY / top).rglob("*.py")):
            module = path.relative_to(REPOSITORY).as_posix()
            if module.startswith(_DESCRIPTIONS):
                continue
            if said := texts(path.read_text(), of_rules=module.startswith(_RULES)):
                said_of[_topic(module)] += said
    for path in sorted((REPOSITORY / "charts" / "streams-placement" / "templates").iterdir()):
        if said := [text for text in map(said_by, template_texts(path.read_text())) if text is not None]:
            said_of[_topic(path.relative_to(REPOSITORY).as_posix())] += said
    return {topic: list(dict.fromkeys(said)) for topic, said in said_of.items()}


def _topic(module: str) -> Topic:
    fitting = [
        (len(prefix), topic)
        for topic in TOPICS
        for prefix in topic.modules
        if module == prefix or module.startswith(f"{prefix}/")
    ]
    if not fitting:
        raise LookupError(f"{module} has messages and belongs to no topic: add it to TOPICS in tools/messages.py")
    return max(fitting, key=lambda each: each[0])[1]


def page() -> str:
    """The text of the page."""
    return _HEAD + "".join(_section(topic, said) for topic, said in topics().items())


def _section(topic: Topic, said: list[str]) -> str:
    return f"\n## {topic.heading}\n\n{topic.advice}\n\n" + "".join(f"- {_quoted(text)}\n" for text in said)


def _quoted(text: str) -> str:
    """Code, in as many backticks as it takes."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def catalogue() -> str:
    """The topics as JSON, one text a line."""
    listed = [MessageTopic(topic.heading, _plain(topic.advice), tuple(said)) for topic, said in topics().items()]
    return msgspec.json.format(msgspec.json.encode(listed), indent=1).decode() + "\n"


def _plain(advice: str) -> str:
    """The advice without links: the words of each, and the page in the folder ``docs`` that it leads to."""
    return _LINK.sub(lambda link: f"{link[1]} ({(PAGE.parent / link[2]).resolve().relative_to(REPOSITORY)})", advice)


def write() -> list[Path]:
    """Write the page and the catalogue anew; returns those that have changed."""
    changed = []
    for path, now in ((PAGE, page()), (CATALOGUE, catalogue())):
        if not path.exists() or path.read_text() != now:
            path.write_text(now)
            changed.append(path)
    return changed


if __name__ == "__main__":
    write()
