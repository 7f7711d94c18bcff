"""Index of all HostPools of the cluster: by object, by SPL name and by namespace, with the hosts of each pool.

The index also knows which nodes carry membership labels, and which nodes exclusive pools close to strangers.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from webhook.placement.inventory.index import NodeIndex
from webhook.placement.kube.bits import Bits, union
from webhook.placement.objects.pool import Pool
from webhook.placement.text import keys

Name = tuple[str, str]
"""Namespace and name of an object."""


class PoolIndex(Mapping[Name, Pool]):
    """HostPools by namespace and object name; ``version`` counts changes."""

    __slots__ = (
        "_by_namespace",
        "_by_spl_name",
        "_claimed",
        "_exclusives",
        "_hosts",
        "_marked",
        "_nodes",
        "_places",
        "_pools",
        "members",
        "version",
    )

    def __init__(self, nodes: NodeIndex) -> None:
        self.version = 0
        self.members: dict[str, Name] = {}
        """The pool of each key of a membership label."""
        self._nodes = nodes
        self._pools: dict[Name, Pool] = {}
        self._by_namespace: dict[str, dict[str, Pool]] = {}
        self._places: dict[str, dict[str, int]] = {}
        self._by_spl_name: dict[Name, dict[str, Pool]] = {}
        self._hosts: dict[Name, dict[int, Bits]] = {}
        self._exclusives: dict[Name, Bits] | None = None
        self._claimed: Bits | None = None
        self._marked: tuple[tuple[int, int], Bits, Bits] = (-1, -1), 0, 0

    def __getitem__(self, name: Name) -> Pool:
        return self._pools[name]

    def __iter__(self) -> Iterator[Name]:
        return iter(self._pools)

    def __len__(self) -> int:
        return len(self._pools)

    def with_pools(self, pools: Iterable[Pool]) -> "PoolIndex":
        """A copy of the index in which these HostPools have been put; the index itself does not change."""
        index = PoolIndex(self._nodes)
        for pool in self._pools.values():
            index.put(pool)
        for pool in pools:
            index.put(pool)
        return index

    def put(self, pool: Pool) -> None:
        """Add the HostPool object, or replace the one with its name."""
        self.drop(pool.namespace, pool.name)
        self._exclusives = self._claimed = None
        self.version += 1
        self._pools[pool.namespace, pool.name] = pool
        self._by_namespace.setdefault(pool.namespace, {})[pool.name] = pool
        self._places.pop(pool.namespace, None)
        self._by_spl_name.setdefault((pool.namespace, pool.spl_name), {})[pool.name] = pool
        self.members[keys.membership(pool.namespace, pool.name)] = pool.namespace, pool.name

    def drop(self, namespace: str, name: str) -> None:
        """Remove the HostPool object, if it is known."""
        pool = self._pools.pop((namespace, name), None)
        if pool is None:
            return
        self._exclusives = self._claimed = None
        self.version += 1
        self._places.pop(namespace, None)
        of_namespace = self._by_namespace[namespace]
        del of_namespace[name]
        if not of_namespace:
            del self._by_namespace[namespace]
        named = self._by_spl_name[namespace, pool.spl_name]
        del named[name]
        if not named:
            del self._by_spl_name[namespace, pool.spl_name]
        del self.members[keys.membership(namespace, name)]
        self._hosts.pop((namespace, name), None)

    def forget_hosts(self) -> None:
        """Drop cached hosts: a node was added, removed, or replaced by a node of the same name."""
        self._hosts.clear()
        self._exclusives = self._claimed = None

    def of_namespace(self, namespace: str) -> Mapping[str, Pool]:
        """The pools of the namespace, by object name."""
        return self._by_namespace.get(namespace, {})

    def places(self, namespace: str) -> Mapping[str, int]:
        """The position of each pool of the namespace, from 0: pools that got their hosts first, then by creation."""
        places = self._places.get(namespace)
        if places is None:
            pools = self.of_namespace(namespace).values()
            order = sorted(pools, key=lambda pool: (not pool.served, pool.created, pool.name))
            places = self._places[namespace] = {pool.name: place for place, pool in enumerate(order)}
        return places

    def named(self, namespace: str, spl_name: str) -> list[Pool]:
        """The namespace's pools with that SPL name, sorted by object name."""
        named = self._by_spl_name.get((namespace, spl_name), {})
        return [named[name] for name in sorted(named)]

    def hosts(self, pool: Pool) -> dict[int, Bits]:
        """For each entry of ``status.hosts``, by index: its node as a set, empty if that node no longer exists.

        A node with the same name and another uid is another node.
        """
        name = pool.namespace, pool.name
        known = self._hosts.get(name) if self._pools.get(name) is pool else None
        if known is None:
            known = {host.index: self._node_of(host.name, host.uid) for host in pool.assigned}
            if self._pools.get(name) is pool:
                self._hosts[name] = known
        return known

    def marked(self) -> tuple[Bits, Bits]:
        """Nodes with the membership label of at least one pool, and nodes with the labels of several pools."""
        now = self._nodes.version, self.version
        if self._marked[0] != now:
            once = twice = 0
            for label in self.members:
                nodes = self._nodes.with_key(label)
                once, twice = once | nodes, twice | (once & nodes)
            self._marked = now, once, twice
        return self._marked[1:]

    def exclusives(self) -> dict[Name, Bits]:
        """The hosts of every exclusive pool, by its status."""
        if self._exclusives is None:
            self._exclusives = {
                name: union(self.hosts(pool).values()) for name, pool in self._pools.items() if pool.exclusive
            }
        return self._exclusives

    def exclusive(self) -> Bits:
        """Nodes that are closed to strangers: hosts in the status of an exclusive pool, and nodes with its taint."""
        if self._claimed is None:
            self._claimed = self.claimed(())
        return self._claimed | self._nodes.tainted.get(keys.EXCLUSIVE, 0)

    def claimed(self, apart_from: Collection[Name]) -> Bits:
        """Hosts in the status of exclusive pools other than ``apart_from``."""
        claimed = 0
        for name, hosts in self.exclusives().items():
            if name not in apart_from:
                claimed |= hosts
        return claimed

    def _node_of(self, name: str, uid: str) -> Bits:
        node = self._nodes.get(name)
        if node is None or (uid and node.uid and node.uid != uid):
            return 0
        return self._nodes.named(name)
