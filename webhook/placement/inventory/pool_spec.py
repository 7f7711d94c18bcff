"""The spec of a HostPool as a value, and its validation without looking at the cluster (``docs/hostpool.md``).

The CustomResourceDefinition has the same rules, and admission checks them as well. A pool that breaks them all the
same, from an older definition or from a file, is not used.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from webhook.placement.annotations.expressions import problems_of_key, problems_of_values
from webhook.placement.inventory.objects import Pool
from webhook.placement.kube.addresses import canonical, is_node_name
from webhook.placement.kube.pod import LabelSelector
from webhook.placement.kube.selector import problems_of, unreadable
from webhook.placement.text.keys import LABEL_LIMIT, LABEL_VALUE
from webhook.placement.text.problem import Problem, quote

POOL_LIMIT = 5000
"""Hosts of one pool, in its list or by its size (``docs/operations.md``, limits)."""

TAG_LIMIT = 64
"""Tags of one pool: as many as a placement text may have clauses. Each is an expression in node affinity of pods."""

MODES = ("Shared", "Exclusive")


class HostPoolSpec(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The fields of ``spec``. An unknown field is an error, because a mistyped constraint must not be ignored."""

    name: str | None = None
    job: str | None = None
    hosts: tuple[str, ...] | None = None
    size: int | None = None
    tags: tuple[str, ...] | None = None
    selector: LabelSelector | None = None
    mode: str | None = None
    elastic: bool | None = None


def pool_of_spec(spec: HostPoolSpec, namespace: str, name: str) -> Pool:
    """The pool that the spec of the object ``name`` describes, Pending and without hosts."""
    return Pool(
        namespace=namespace,
        name=name,
        spl_name=spec.name or name,
        job=spec.job or None,
        hosts=spec.hosts,
        size=spec.size,
        tags=spec.tags or (),
        selector=spec.selector,
        mode="Exclusive" if spec.mode == "Exclusive" else "Shared",
        elastic=bool(spec.elastic),
    )


def problems_of_spec(spec: HostPoolSpec) -> Iterator[Problem]:
    """A problem for every rule that the spec breaks."""
    if spec.name and not _nameable(spec.name):
        yield Problem(
            "spec.name", f"{quote(spec.name)} is no SPL identifier or label value of at most {LABEL_LIMIT} characters"
        )
    if spec.mode is not None and spec.mode not in MODES:
        yield Problem("spec.mode", f"{quote(spec.mode)} is not one of {', '.join(MODES)}")
    yield from _created(spec) if spec.hosts is None else _literal(spec, spec.hosts)


def _nameable(name: str) -> bool:
    # SPL identifiers may begin and end with "_", label values may not.
    return len(name) <= LABEL_LIMIT and LABEL_VALUE.fullmatch(name.strip("_")) is not None


def _literal(spec: HostPoolSpec, hosts: tuple[str, ...]) -> Iterator[Problem]:
    """Problems of a literal pool: it has hosts and no other field, except for values that are defaults."""
    others = {
        "size": spec.size is not None,
        "tags": bool(spec.tags),
        "selector": spec.selector is not None,
        "mode Exclusive": spec.mode == "Exclusive",
        "elastic": bool(spec.elastic),
    }
    if any(others.values()):
        yield Problem("spec.hosts", f"excludes {', '.join(name for name, there in others.items() if there)}")
    if not hosts:
        yield Problem("spec.hosts", "must name at least one host")
    if len(hosts) > POOL_LIMIT:
        yield Problem("spec.hosts", f"{len(hosts)} hosts, at most {POOL_LIMIT} are allowed")
    for place, host in enumerate(hosts):
        if canonical(host) is None and not is_node_name(host):
            yield Problem(f"spec.hosts[{place}]", f"{quote(host)} is neither an IP address nor a node name")
    yield from repeated("spec.hosts", (canonical(host) or host for host in hosts))


def _created(spec: HostPoolSpec) -> Iterator[Problem]:
    """Problems of a pool of ``createPool``: its size, tags and selector."""
    if spec.size is not None and not 1 <= spec.size <= POOL_LIMIT:
        yield Problem("spec.size", f"{spec.size} is not between 1 and {POOL_LIMIT}")
    if spec.size is None and spec.mode == "Exclusive":
        yield Problem("spec.size", "missing, an Exclusive pool must say how many hosts it takes")
    tags = spec.tags or ()
    if len(tags) > TAG_LIMIT:
        yield Problem("spec.tags", f"{len(tags)} tags, at most {TAG_LIMIT} are allowed")
    for place, tag in enumerate(tags):
        if not tag or not LABEL_VALUE.fullmatch(tag):
            yield Problem(f"spec.tags[{place}]", f"{quote(tag)} is not a label value")
    yield from repeated("spec.tags", tags)
    if spec.selector is not None:
        yield from _selector(spec.selector)


def _selector(selector: LabelSelector) -> Iterator[Problem]:
    """Problems of a selector that the API server would refuse in node affinity, or the scheduler could not read."""
    path = "spec.selector.matchLabels"
    for key, value in (selector.match_labels or {}).items():
        yield from problems_of_key(key, path)
        if not LABEL_VALUE.fullmatch(value):
            yield Problem(f"{path}[{key}]", f"{quote(value)} is not a label value")
    for place, requirement in enumerate(selector.match_expressions or ()):
        path = f"spec.selector.matchExpressions[{place}]"
        yield from problems_of_key(requirement.key, f"{path}.key")
        yield from problems_of(requirement, path)
        yield from problems_of_values(requirement.values or (), f"{path}.values")
        if found := unreadable(requirement):
            message = f"{found} is no whole number of 64 bits, as the operator {requirement.operator} needs it"
            yield Problem(f"{path}.values", message)


def repeated(path: str, values: Iterable[str | int], field: str = "") -> Iterator[Problem]:
    """A problem for each value that is in the list ``path`` already; ``field`` is its path within an entry."""
    first: dict[str | int, int] = {}
    for place, value in enumerate(values):
        earlier = first.setdefault(value, place)
        if earlier != place:
            stated = quote(value) if isinstance(value, str) else value
            yield Problem(f"{path}[{place}]{field}", f"{stated} is also {path}[{earlier}]{field}")
