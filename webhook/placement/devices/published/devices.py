"""All objects of a cluster that are about devices, in indexes: classes, slices, claims, templates and taint rules.

The watch of the cluster, or the loader of a snapshot, calls the methods ``put_...`` and ``drop_...`` for each object.
An update takes time by what changed.
"""

import copy
import enum
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, KeysView, Mapping, Sequence

from msgspec.structs import replace

from webhook.placement.devices.published.changes import Changes
from webhook.placement.devices.published.claims import ClaimName, ClaimTemplate, DeviceName, HeldDevice, ResourceClaim
from webhook.placement.devices.published.columns import SharedColumns
from webhook.placement.devices.published.device import Reach
from webhook.placement.devices.published.device_table import table_of
from webhook.placement.devices.published.marks import MarkIndex
from webhook.placement.devices.published.pools import PublishedPools
from webhook.placement.devices.published.slices import DevicePool, DeviceSlice
from webhook.placement.devices.published.taint_rules import TaintRule
from webhook.placement.objects.device_classes import DeviceClass, DeviceClasses


class DevicePart(enum.Enum):
    """The kinds of objects without all of which nothing about devices can be judged.

    DeviceTaintRules are not among them: few clusters serve them, and without them no device is less free.
    """

    CLASSES = "deviceclasses"
    SLICES = "resourceslices"
    CLAIMS = "resourceclaims"
    TEMPLATES = "resourceclaimtemplates"


class Devices:
    """The devices of a cluster and who holds them.

    ``version`` counts changes of everything. ``read`` tells that all objects of all parts are in; without it nothing
    about devices is judged. The caller that fills the collection reports each listed part by :meth:`listed`.
    """

    __slots__ = ("_claims", "_columns", "_holders", "_listed", "_local", "_made", "_odd", "_others", "_pools", "_rules",
                 "_shared", "_slices", "_templates", "_unread", "_wide", "changes", "classes", "marks",
                 "read")  # fmt: skip

    def __init__(self) -> None:
        self.read = False
        self.classes = DeviceClasses()
        self.changes = Changes()
        """Changes of what nodes have, whichever pod holds it: of slices and taint rules."""
        self._others = 0
        self._listed: set[DevicePart] = set()
        self._slices: dict[str, DeviceSlice] = {}
        self._columns = SharedColumns()
        self._pools = PublishedPools()
        self._local: dict[str, tuple[DevicePool, ...]] = {}
        """The pools of the slices of each node: mostly one, for which a tuple takes a quarter of a dict."""
        self._wide: dict[DevicePool, int] = {}
        """The pools that have slices that are not of one node."""
        self._shared: dict[DevicePool, int] = {}
        """The pools among them with a slice that has more than counters."""
        self._odd: dict[str, str] = {}
        """The slices of one node that are not known to be all of their pool, with the names of their nodes."""
        self.marks = MarkIndex()
        self._unread: dict[str, Reach | None] = {}
        """The slices that cannot be read, with the nodes that may use their devices."""
        self._claims: dict[str, ResourceClaim] = {}
        """Claims by ``namespace/name``, the key that watches use as well, so that it exists only once."""
        self._templates: dict[ClaimName, ClaimTemplate] = {}
        self._made: Counter[str] = Counter()
        """The number of templates that the controller created, by namespace."""
        self._rules: dict[str, TaintRule] = {}
        self._holders: dict[DeviceName, tuple[HeldDevice, ...]] = {}

    @property
    def version(self) -> int:
        """A number that grows with every change."""
        return self.classes.version + self.changes.version + self._others

    def listed(self, part: DevicePart, *, readable: bool) -> None:
        """All objects of that part are in, or they cannot be read."""
        if readable:
            self._listed.add(part)
        else:
            self._listed.discard(part)
        read = len(self._listed) == len(DevicePart)
        if read is not self.read:
            self.read = read
            self.changes.everywhere()

    def without_holders(self) -> "Devices":
        """A view in which no claim holds a device; callers must not change it."""
        view = copy.copy(self)
        view._holders = {}  # noqa: SLF001 -- of the same class
        return view

    # Classes

    def put_class(self, device_class: DeviceClass) -> None:
        """Add the DeviceClass, or replace the one with its name."""
        self.classes.put(device_class)

    def drop_class(self, name: str) -> None:
        """Remove the DeviceClass; an absent one changes nothing."""
        self.classes.drop(name)

    # Slices

    def put_slice(self, published: DeviceSlice) -> None:
        """Add the ResourceSlice, or replace the one with its name; an equal one changes nothing."""
        devices = table_of(published.devices, self._columns)
        published = replace(published, devices=devices)
        if self._slices.get(published.name) == published:
            devices.give_back(self._columns)
            return
        self.drop_slice(published.name)
        self._slices[published.name] = published
        self.marks.put(published, devices)
        if published.unread:
            self._unread[published.name] = published.reach
        pool = published.pool_name
        self._pools.put(pool, published)
        if published.reach and (published.unread or published.expected != 1):
            self._odd[published.name] = published.reach.node
        self._place(published, pool, 1)
        self._changed(pool)

    def drop_slice(self, name: str) -> None:
        """Remove the ResourceSlice; an absent one changes nothing."""
        removed = self._slices.pop(name, None)
        if removed is None:
            return
        pool = removed.pool_name
        self._unread.pop(name, None)
        self.marks.drop(name).give_back(self._columns)
        self._changed(pool)
        self._odd.pop(name, None)
        self._pools.drop(pool, name)
        self._place(removed, pool, -1)

    @property
    def empty(self) -> bool:
        """Whether no driver publishes a device."""
        return not self._slices

    @property
    def unread_slices(self) -> Mapping[str, Reach | None]:
        """The slices that cannot be read, by name, with the nodes that may use their devices."""
        return self._unread

    def slices_of(self, pool: DevicePool) -> Collection[DeviceSlice]:
        """The slices of the pool, of all generations."""
        return self._pools.slices(pool)

    def local_pools(self, node: str) -> Iterable[DevicePool]:
        """The pools that have slices of that node."""
        pools = self._local.get(node, ())
        return pools if len(pools) < 2 else dict.fromkeys(pools)  # noqa: PLR2004 -- one cannot be there twice

    def wide_pools(self) -> Iterable[DevicePool]:
        """The pools that have slices for several nodes, or counters."""
        return self._wide

    def shared_pools(self) -> Iterable[DevicePool]:
        """The pools that may have devices which several nodes can use."""
        return self._shared

    def odd_nodes(self) -> Iterator[str]:
        """The names of nodes, and empty ones, of which one slice alone does not tell what they have of a pool.

        It has several slices, or rules may taint it.
        """
        yield from self._odd.values()
        tainted = self.tainted_pools or ()
        ruled = [each for each in self._pools if each.pool in tainted] if tainted else []
        for pool in (*self._pools.parted(), *ruled):
            yield from (part.reach.node for part in self._pools.slices(pool) if part.reach)

    @property
    def wide(self) -> bool:
        """Whether what a node can use does not follow from its own slices alone, by shared pools or rules."""
        return bool(self._wide or self._rules)

    def _place(self, published: DeviceSlice, pool: DevicePool, by: int) -> None:
        """Count the slice where its devices are: of one node, or not."""
        if published.reach and published.reach.node and not published.counters:
            self._place_local(published.reach.node, pool, by)
            return
        _count(self._wide, pool, by)
        if published.devices or not published.counters:
            _count(self._shared, pool, by)

    def _place_local(self, node: str, pool: DevicePool, by: int) -> None:
        """Note one slice more, or one less, of the node."""
        pools = self._local.get(node, ())
        if by > 0:
            self._local[node] = (*pools, pool)
            return
        at = pools.index(pool)
        if len(pools) > 1:
            self._local[node] = pools[:at] + pools[at + 1 :]
        else:
            del self._local[node]

    def _changed(self, pool: DevicePool) -> None:
        """Record a change of the pool, for all nodes that may use it."""
        if pool in self._wide:
            self.changes.everywhere()
            return
        for node in {part.reach.node for part in self.slices_of(pool) if part.reach}:
            self.changes.on(node)

    # Claims

    def put_claim(self, claim: ResourceClaim) -> None:
        """Add the ResourceClaim, or replace the one with its namespace and name; an equal one changes nothing."""
        key = f"{claim.namespace}/{claim.name}"
        known = self._claims.get(key)
        if known == claim:
            return
        self._claims[key] = claim
        self._hold(_devices_of(known), _devices_of(claim))
        self._others += 1

    def drop_claim(self, namespace: str, name: str) -> None:
        """Remove the ResourceClaim, which gives back its devices; an absent one changes nothing."""
        removed = self._claims.pop(f"{namespace}/{name}", None)
        if removed is not None:
            self._hold(_devices_of(removed), ())
            self._others += 1

    def claim(self, name: ClaimName) -> ResourceClaim | None:
        """The claim of that namespace and name; ``None`` if there is none."""
        return self._claims.get("/".join(name))

    @property
    def claim_keys(self) -> KeysView[str]:
        """``namespace/name`` of all claims."""
        return self._claims.keys()

    def claims(self) -> Iterator[ResourceClaim]:
        """All claims."""
        yield from self._claims.values()

    def holders(self, device: DeviceName) -> Sequence[HeldDevice]:
        """What is allocated of the device; several allocations if claims share it, or have it for administration."""
        return self._holders.get(device, ())

    def _hold(self, before: tuple[HeldDevice, ...], after: tuple[HeldDevice, ...]) -> None:
        if before == after:
            return
        for allocated in before:
            others = list(self._holders[allocated.device])
            others.remove(allocated)
            if others:
                self._holders[allocated.device] = tuple(others)
            else:
                del self._holders[allocated.device]
        for allocated in after:
            there = self._holders.get(allocated.device, ())
            # A claim has mostly one device, and its own tuple says so.
            self._holders[allocated.device] = after if len(after) == 1 and not there else (*there, allocated)

    # Templates

    def put_template(self, template: ClaimTemplate) -> None:
        """Add the ResourceClaimTemplate, or replace the one with its name; an equal one changes nothing."""
        if self._templates.get((template.namespace, template.name)) == template:
            return
        self.drop_template(template.namespace, template.name)
        self._templates[template.namespace, template.name] = template
        if template.made:
            self._made[template.namespace] += 1
        self._others += 1

    def drop_template(self, namespace: str, name: str) -> None:
        """Remove the ResourceClaimTemplate; an absent one changes nothing."""
        removed = self._templates.pop((namespace, name), None)
        if removed is not None:
            self._others += 1
            self._made[namespace] -= removed.made
            if not self._made[namespace]:
                del self._made[namespace]

    def template(self, name: ClaimName) -> ClaimTemplate | None:
        """The template of that namespace and name; ``None`` if there is none."""
        return self._templates.get(name)

    def made_in(self, namespace: str) -> int:
        """How many templates of the namespace the controller made of descriptions."""
        return self._made[namespace]

    def made(self) -> Iterator[ClaimName]:
        """The names of all templates that the controller made of descriptions."""
        return (name for name, template in self._templates.items() if template.made)

    # Taints

    def put_rule(self, rule: TaintRule) -> None:
        """Add the DeviceTaintRule, or replace the one with its name."""
        self._rules[rule.name] = rule
        self.changes.everywhere()

    def drop_rule(self, name: str) -> None:
        """Remove the DeviceTaintRule; an absent one changes nothing."""
        if self._rules.pop(name, None):
            self.changes.everywhere()

    def rules(self) -> Iterable[TaintRule]:
        """All DeviceTaintRules."""
        return self._rules.values()

    @property
    def tainted_pools(self) -> frozenset[str] | None:
        """The names of the pools of which rules may taint devices; ``None`` if that may be any pool."""
        pools = frozenset(rule.pool for rule in self._rules.values() if rule.selects)
        return None if "" in pools else pools


def _devices_of(claim: ResourceClaim | None) -> tuple[HeldDevice, ...]:
    return claim.allocation.devices if claim and claim.allocation else ()


def _count(counts: dict[DevicePool, int], pool: DevicePool, by: int) -> None:
    counts[pool] = counts.get(pool, 0) + by
    if not counts[pool]:
        del counts[pool]
