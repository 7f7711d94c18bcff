"""``HiddenNames``: names of nodes that a user may not list, kept out of what is made for the user.

Refusals name no node that the object itself does not name (``placement/decision/refusal/refusal.py``). A patch may:
a HostPool with a list of hosts, or a pod that is bound outright, is steered to nodes by name.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from webhook.admission.unstructured import Unstructured
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.addresses import canonical
from webhook.placement.text import keys
from webhook.placement.text.problem import counted
from webhook.placementreview.plans.document import PlanDocument

_WORD: Final = re.compile(r"[\w.:-]+")
"""A run of characters that names, labels and addresses of nodes consist of."""


class HiddenNames:
    """What of the nodes of an inventory is told; with ``visible`` all."""

    def __init__(self, inventory: Inventory, *, visible: bool) -> None:
        self.visible = visible
        self._nodes = inventory.nodes

    def patch(self, steps: Sequence[dict[str, Any]], manifest: Unstructured, warnings: Sequence[str]) -> dict[str, Any]:
        """The fields ``patch`` and ``warnings`` of a result: without the steps that name a node which is hidden.

        What the manifest itself says is known to the user.
        """
        if self.visible or not steps:
            return {"patch": tuple(steps)}
        known = set(_words(manifest))
        shown = tuple(
            step for step in steps if not any(word not in known and self._hidden(word) for word in _words(step))
        )
        hidden = len(steps) - len(shown)
        if not hidden:
            return {"patch": shown}
        said = (
            f"patch: {counted(hidden, 'operation')} left out: to see names of nodes, you need the right to list nodes"
        )
        return {"patch": shown, "warnings": (*warnings, said)}

    def plan(self, document: PlanDocument) -> dict[str, Any]:
        """The plan as JSON; with numbers for names of nodes, and without what nodes have, if these are hidden."""
        shown: dict[str, Any] = msgspec.to_builtins(document, str_keys=True)
        if self.visible:
            return shown
        number = {node["name"]: f"node-{at}" for at, node in enumerate(shown["nodes"], 1)}
        for node in shown["nodes"]:
            node |= {"name": number[node["name"]], "resources": [], "taints": [], "labels": {}}
        for subject in shown["subjects"]:
            for element in subject["elements"]:
                element["node"] = number.get(element["node"], "")
                element["placed"] = {number[name]: count for name, count in element["placed"].items()}
        for pool in shown["pools"]:
            for host in pool["hosts"]:
                host["node"] = number[host["node"]]
        return shown

    def _hidden(self, word: str) -> bool:
        """Whether the word is the name, the host name or an address of a node."""
        named = word in self._nodes.slot_of or bool(self._nodes.with_label(keys.HOSTNAME, (word,)))
        return named or canonical(word) in self._nodes.addresses


def _words(value: Any) -> Iterator[str]:  # noqa: ANN401 -- JSON
    """All words in the texts of a value, keys included, with and without marks at their ends."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _words(key)
            yield from _words(part)
    elif isinstance(value, list):
        for part in value:
            yield from _words(part)
    elif isinstance(value, str):
        for word in _WORD.findall(value):
            yield word
            yield word.strip(".:-")
