"""The spec of a HostPool as a value, and its validation without looking at the cluster (``docs/hostpool.md``).

The CustomResourceDefinition has the same rules, and admission checks them as well. A pool that breaks them all the
same, from an older definition or from a file, is not used.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Final

from msgspec import Struct, field
from msgspec.structs import replace

from webhook.placement.annotations.described_devices import COUNT, TEXTS, DescribedDevices
from webhook.placement.annotations.expressions import problems_of_key
from webhook.placement.field_rules.hostpool_patterns import HOST, NAME, VALUE
from webhook.placement.field_rules.rules import (
    NumberRule,
    SwitchRule,
    TextListRule,
    TextMapRule,
    TextRule,
    broken,
)
from webhook.placement.kube.addresses import canonical
from webhook.placement.kube.names import NAME_LIMIT
from webhook.placement.kube.pod import LabelSelector
from webhook.placement.kube.selection.selector import problems_of, unreadable
from webhook.placement.objects.pool import Pool
from webhook.placement.text.keys import LABEL_LIMIT
from webhook.placement.text.problem import Problem, quote

POOL_LIMIT = 5000
"""Hosts of one pool, in its list or by its size (``docs/operations.md``, limits)."""

TAG_LIMIT = 64
"""Tags of one pool: as many as a placement text may have clauses. Each is an expression in node affinity of pods."""

KINDS_LIMIT: Final = 4
"""Entries of ``devices``: kinds of devices that each host has."""

MODES = ("Shared", "Exclusive")

EXPRESSION_LIMIT: Final = 64
"""Expressions of a selector: as many as a pool may have tags, because each tag becomes an expression, too."""

_VALUE_LIMIT: Final = 1000
"""Values of one expression: as many as a pod may have node selector terms. The API server needs a bound to compute the
cost of rules."""

LABEL: Final = TextRule(most=LABEL_LIMIT, pattern=VALUE, form="is not a label value")
LABELS: Final = TextMapRule("Labels that must match exactly.", LABEL, EXPRESSION_LIMIT)
"""The rule of ``matchLabels``."""
VALUES: Final = TextListRule(
    about="Values that the operator compares the label with.",
    entry=LABEL,
    kind="atomic",
    most=_VALUE_LIMIT,
    nouns="values",
)
"""The rule of ``values`` of an expression."""


_TAG: Final = TextRule(least=1, most=LABEL_LIMIT, pattern=VALUE, form="is not a label value")
_HOST: Final = TextRule(most=NAME_LIMIT, pattern=HOST, form="is neither an IP address nor a node name")
_NAME: Final = TextRule(
    about="Name of the pool in host(...); defaults to metadata.name.",
    most=LABEL_LIMIT,
    pattern=NAME,
    form=f"is not an SPL identifier or label value of at most {LABEL_LIMIT} characters",
)
_JOB: Final = TextRule(
    about="Only pods with this streams.ibm.com/job label may use the pool; if absent, any pod of the namespace.",
    most=LABEL_LIMIT,
    pattern=VALUE,
    form="is not a label value",
)
_HOSTS: Final = TextListRule(
    about="A literal pool: names and addresses of nodes in the order of their index; excludes every field below.",
    entry=_HOST,
    kind="set",
    most=POOL_LIMIT,
    nouns="hosts",
    least=1,
)
_SIZE: Final = NumberRule(
    "Number of hosts; if absent, every matching node.",
    1,
    POOL_LIMIT,
    form=f"is not between 1 and {POOL_LIMIT}",
)
_TAGS: Final = TextListRule(
    about="Tags; a host must carry all of them.", entry=_TAG, kind="set", most=TAG_LIMIT, nouns="tags"
)
_CLASS: Final = replace(TEXTS["class"], about="Name of the DeviceClass of the devices.", needed="a DeviceClass")
_NUMBER: Final = replace(COUNT, about="How many such devices each host has; 1 if absent.")
_SAME: Final = replace(TEXTS["sameAttribute"], about="Attribute of which these devices of a host have the same value.")
_MODE: Final = TextRule(about="Whether the hosts are reserved for this pool.", words=MODES, default=MODES[0])
_ELASTIC: Final = SwitchRule(
    "Whether nodes are added on demand, so that a pool without hosts is a warning, not a refusal.", default=False
)


class HostDevices(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """An entry of ``devices``: so many devices of a class, each of which meets the CEL expression ``selector``.

    All of them have the same value of ``same_attribute``.
    """

    device_class: Annotated[str, _CLASS] = field(default="", name="class")
    selector: Annotated[str | None, TEXTS["selector"]] = None
    count: Annotated[int | None, _NUMBER] = None
    same_attribute: Annotated[str | None, _SAME] = field(default=None, name="sameAttribute")

    @property
    def described(self) -> DescribedDevices:
        """The devices in the form in which requirements describe them."""
        return DescribedDevices(self.device_class, self.selector or "", self.count or 1, self.same_attribute or "")


class HostPoolSpec(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The fields of ``spec``. An unknown field is an error, because a mistyped constraint must not be ignored."""

    name: Annotated[str | None, _NAME] = None
    job: Annotated[str | None, _JOB] = None
    hosts: Annotated[tuple[str, ...] | None, _HOSTS] = None
    size: Annotated[int | None, _SIZE] = None
    tags: Annotated[tuple[str, ...] | None, _TAGS] = None
    selector: LabelSelector | None = None
    devices: tuple[HostDevices, ...] | None = None
    mode: Annotated[str | None, _MODE] = None
    elastic: Annotated[bool | None, _ELASTIC] = None


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
        devices=tuple(one.described for one in spec.devices or ()),
        mode="Exclusive" if spec.mode == "Exclusive" else "Shared",
        elastic=bool(spec.elastic),
    )


def problems_of_spec(spec: HostPoolSpec) -> Iterator[Problem]:
    """A problem for every rule that the spec breaks."""
    yield from broken(spec, "spec", "name", "job", "mode")
    yield from _created(spec) if spec.hosts is None else _literal(spec, spec.hosts)


def _literal(spec: HostPoolSpec, hosts: tuple[str, ...]) -> Iterator[Problem]:
    """Problems of a literal pool: it has hosts and no other field, except for values that are defaults."""
    others = {
        "size": spec.size is not None,
        "tags": bool(spec.tags),
        "selector": spec.selector is not None,
        "devices": bool(spec.devices),
        "mode Exclusive": spec.mode == "Exclusive",
        "elastic": bool(spec.elastic),
    }
    if any(others.values()):
        yield Problem("spec.hosts", f"excludes {', '.join(name for name, there in others.items() if there)}")
    yield from broken(spec, "spec", "hosts")
    yield from repeated("spec.hosts", [canonical(host) or host for host in hosts])


def _created(spec: HostPoolSpec) -> Iterator[Problem]:
    """Problems of a pool of ``createPool``: its size, tags, selector and devices."""
    yield from broken(spec, "spec", "size", "tags")
    if spec.size is None and spec.mode == "Exclusive":
        yield Problem("spec.size", "missing, an Exclusive pool must state how many hosts it takes")
    yield from repeated("spec.tags", spec.tags or ())
    if spec.selector is not None:
        yield from _selector(spec.selector)
    yield from _devices(spec)


def _selector(selector: LabelSelector) -> Iterator[Problem]:
    """Problems of a selector that the API server would refuse in node affinity, or the scheduler could not read."""
    path = "spec.selector.matchLabels"
    yield from LABELS.problems(path, selector.match_labels or {})
    for key in selector.match_labels or {}:
        yield from problems_of_key(key, path)
    expressions = selector.match_expressions or ()
    if len(expressions) > EXPRESSION_LIMIT:
        message = f"{len(expressions)} of them, at most {EXPRESSION_LIMIT} are allowed"
        yield Problem("spec.selector.matchExpressions", message)
    for place, requirement in enumerate(expressions):
        path = f"spec.selector.matchExpressions[{place}]"
        yield from problems_of_key(requirement.key, f"{path}.key")
        yield from problems_of(requirement, path)
        yield from VALUES.problems(f"{path}.values", requirement.values or ())
        if fault := unreadable(requirement):
            message = f"{fault} is not a 64-bit integer, as the operator {requirement.operator} needs it"
            yield Problem(f"{path}.values", message)


def _devices(spec: HostPoolSpec) -> Iterator[Problem]:
    """Problems of the devices: nodes have them when they become hosts, so there are hosts to be chosen."""
    stated = spec.devices or ()
    if stated and spec.size is None and spec.mode != "Exclusive":
        yield Problem("spec.size", "missing, a HostPool that selects devices must state how many hosts it takes")
    if len(stated) > KINDS_LIMIT:
        yield Problem("spec.devices", f"{len(stated)} entries, at most {KINDS_LIMIT} are allowed")
    for place, one in enumerate(stated):
        yield from broken(one, f"spec.devices[{place}]")


def repeated(path: str, values: Iterable[str | int], field: str = "") -> Iterator[Problem]:
    """A problem for each value that is in the list ``path`` already; ``field`` is its path within an entry."""
    if isinstance(values, Sequence) and len(set(values)) == len(values):  # nearly all lists
        return
    first: dict[str | int, int] = {}
    for place, value in enumerate(values):
        earlier = first.setdefault(value, place)
        if earlier != place:
            stated = quote(value) if isinstance(value, str) else value
            yield Problem(f"{path}[{place}]{field}", f"{stated} is also {path}[{earlier}]{field}")
