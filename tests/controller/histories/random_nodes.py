"""Nodes come, change and go, and people meddle with their marks."""

from typing import Any, Final

from tests.apiserver.paths import NODES, PODS, node_path
from tests.controller.histories.random_cluster import RandomCluster, own_labels, path_of
from webhook.placement.inventory.policy import CONTROL_PLANE
from webhook.placement.text import keys

Json = dict[str, Any]

NODE_NAMES: Final = [f"node-{letter}" for letter in "abcdefg"]
POOL_NAMES: Final = [("default", "p0"), ("default", "p1"), ("default", "p2"), ("other", "p0")]
TAG: Final = keys.TAG
FOREIGN_TAINT: Final = {"key": "dedicated", "value": "infra", "effect": "NoSchedule"}
SOFT_TAINT: Final = {"key": "example.com/soft", "effect": "PreferNoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}


class RandomNodes:
    """Things that happen to nodes."""

    def __init__(self, random_cluster: RandomCluster) -> None:
        self._random_cluster = random_cluster
        self._kube = random_cluster.kube
        self._dice = random_cluster.random

    def node_comes(self) -> None:
        name = self._dice.choice(NODE_NAMES)
        if node_path(name) not in self._kube.objects:
            self._make_node(name)

    def _make_node(self, name: str) -> None:
        labels = {"kubernetes.io/hostname": name, "example.com/zone": "a"}
        labels |= {TAG: "ib"} if self._dice.random() < 0.6 else {}
        labels |= {CONTROL_PLANE: ""} if self._dice.random() < 0.1 else {}
        taints = self._dice.choice([[], [], [], [SOFT_TAINT], [FOREIGN_TAINT]])
        address = {"type": "InternalIP", "address": f"10.0.0.{NODE_NAMES.index(name) + 1}"}
        status = {"allocatable": {"cpu": "8", "pods": "110"}, "addresses": [address]}
        self._kube.create(node_path(name), metadata={"labels": labels}, spec={"taints": taints}, status=status)
        self._random_cluster.disturbed.discard(name)
        self._random_cluster.tell(f"{name} comes with {labels} {taints}")

    def node_goes(self) -> None:
        if node := self._random_cluster.any(NODES):
            self.removed(node)

    def removed(self, node: Json) -> None:
        name = node["metadata"]["name"]
        self._random_cluster.tell(f"{name} goes")
        for pod in self._kube.all(PODS):
            if pod["spec"].get("nodeName") == name:
                self._kube.delete(path_of(pod))
        if node_path(name) in self._kube.objects:
            self._kube.change(node_path(name), {"metadata": {"finalizers": None}})
            if node_path(name) in self._kube.objects:
                self._kube.delete(node_path(name))

    def node_is_made_anew(self) -> None:
        if node := self._random_cluster.any(NODES):
            self.removed(node)
            self._make_node(node["metadata"]["name"])

    def node_is_about_to_go(self) -> None:
        if node := self._random_cluster.any(NODES):
            path = node_path(node["metadata"]["name"])
            self._kube.change(path, {"metadata": {"finalizers": ["example.com/drain"]}})
            self._kube.delete(path)
            self._random_cluster.tell(f"{path} is about to go")

    def node_is_cordoned(self, node: Json | None = None) -> None:
        if node := node or self._random_cluster.any(NODES):
            cordoned = not node["spec"].get("unschedulable")
            self._edit_node(node, {"spec": {"unschedulable": cordoned or None}}, f"cordoned: {cordoned}")

    def node_is_retagged(self, node: Json | None = None) -> None:
        if node := node or self._random_cluster.any(NODES):
            tag = None if TAG in node["metadata"]["labels"] else "ib"
            self._edit_node(node, {"metadata": {"labels": {TAG: tag}}}, f"tag: {tag}")

    def node_is_tainted(self, node: Json | None = None) -> None:
        if node := node or self._random_cluster.any(NODES):
            left = [taint for taint in node["spec"]["taints"] if taint["key"] != "dedicated"]
            taints = left if left != node["spec"]["taints"] else [FOREIGN_TAINT, *left]
            self._edit_node(node, {"spec": {"taints": taints}}, f"taints: {taints}")

    def address_moves(self) -> None:
        if node := self._random_cluster.any(NODES):
            address = self._dice.choice(["10.0.0.2", "10.0.0.77"])
            addresses = [{"type": "InternalIP", "address": address}]
            self._edit_node(node, {"status": {"addresses": addresses}}, address)

    def label_is_lost(self) -> None:
        if node := self._random_cluster.any(NODES):
            self._meddle(node, {"metadata": {"labels": dict.fromkeys(own_labels(node))}})

    def taint_is_lost(self) -> None:
        if node := self._random_cluster.any(NODES):
            left = [taint for taint in node["spec"]["taints"] if taint["key"] != keys.EXCLUSIVE]
            self._meddle(node, {"spec": {"taints": left}})

    def label_is_set(self) -> None:
        if node := self._random_cluster.any(NODES):
            label = keys.membership(*self._dice.choice([*POOL_NAMES, ("nobody", "x")]))
            self._meddle(node, {"metadata": {"labels": {label: self._dice.choice(["0", "1", "7", "01", "yes", ""])}}})

    def taint_is_set(self) -> None:
        if node := self._random_cluster.any(NODES):
            value = keys.exclusive(*self._dice.choice([*POOL_NAMES, ("nobody", "x")]))
            left = [taint for taint in node["spec"]["taints"] if taint["key"] != keys.EXCLUSIVE]
            effect = self._dice.choice(["NoSchedule", "NoExecute"])
            self._meddle(node, {"spec": {"taints": [*left, {"key": keys.EXCLUSIVE, "value": value, "effect": effect}]}})

    def _meddle(self, node: Json, patch: Json) -> None:
        self._random_cluster.disturbed.add(node["metadata"]["name"])
        self._edit_node(node, patch, f"meddled with: {patch}")

    def _edit_node(self, node: Json, patch: Json, what: str) -> None:
        self._kube.change(node_path(node["metadata"]["name"]), patch)
        self._random_cluster.tell(f"{node['metadata']['name']} {what}")
