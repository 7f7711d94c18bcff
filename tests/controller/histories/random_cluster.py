"""What all that happens in a cluster has in common: the cluster, dice, and the story so far."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

from tests.apiserver.paths import pod_path, pool_path
from tests.apiserver.storage import Storage
from webhook.placement.text import keys

Json = dict[str, Any]


class RandomCluster:
    """``story`` tells what happened."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 -- repeatable, not secret
        self.kube = Storage()
        self.story: list[str] = []
        self.meddled: set[str] = set()
        """Uids of pools whose status people have edited."""
        self.disturbed: set[str] = set()
        """Nodes whose marks people have changed."""
        self._late: list[asyncio.Task[None]] = []

    def any(self, collection: str) -> Json | None:
        found = self.kube.all(collection)
        return self.random.choice(found) if found else None

    def soon(self, seconds: float, what: Callable[[], None]) -> None:
        async def later() -> None:
            await asyncio.sleep(seconds)
            what()

        task = asyncio.create_task(later())
        task.add_done_callback(self._late.remove)
        self._late.append(task)

    def tell(self, what: str) -> None:
        self.story.append(f"{asyncio.get_running_loop().time() - 1000:8.3f} {what}")

    def end(self) -> None:
        """What was to come later does not."""
        for task in self._late:
            task.cancel()


def path_of(found: Json) -> str:
    metadata = found["metadata"]
    made = pool_path if "containers" not in found.get("spec", {}) else pod_path
    return made(metadata["name"], metadata["namespace"])


def own_labels(node: Json) -> list[str]:
    return [key for key in node["metadata"]["labels"] if key.startswith(keys.MEMBERSHIP)]


def is_open(node: Json, own: str | None) -> bool:
    """Whether the scheduler puts pods there that tolerate at most their own pool's taint."""
    hard = (taint for taint in node["spec"]["taints"] if taint["effect"] != "PreferNoSchedule")
    closed = [taint for taint in hard if taint["key"] != keys.EXCLUSIVE or taint["value"] != own]
    return not closed and not node["spec"].get("unschedulable")
