"""The HPAIntents of a cluster, found by name and by the workloads they are for, and the namespaces they hold in."""

from collections.abc import Iterable, Iterator

from webhook.placement.inventory.intent import Intent


class Intents:
    """All that is known of HPAIntents; ``version`` counts changes."""

    __slots__ = ("_by_owner", "_intents", "enabled", "version")

    def __init__(self) -> None:
        self.version = 0
        self.enabled: set[str] = set()
        """Namespaces whose pods get what intents say of their workload without asking for it themselves."""
        self._intents: dict[str, dict[str, Intent]] = {}
        self._by_owner: dict[tuple[str, str], dict[str, Intent]] = {}

    def __len__(self) -> int:
        """How many there are."""
        return sum(map(len, self._intents.values()))

    def enable(self, namespace: str) -> None:
        """The namespace carries the label that has intents hold in it."""
        self.version += namespace not in self.enabled
        self.enabled.add(namespace)

    def disable(self, namespace: str) -> None:
        """It does not, or is gone."""
        self.version += namespace in self.enabled
        self.enabled.discard(namespace)

    def put(self, intent: Intent) -> None:
        """An intent was added or changed."""
        self.drop(intent.namespace, intent.name)
        self.version += 1
        self._intents.setdefault(intent.namespace, {})[intent.name] = intent
        for consumer in intent.consumers:
            self._by_owner.setdefault((intent.namespace, consumer.owner), {})[intent.name] = intent

    def drop(self, namespace: str, name: str) -> None:
        """An intent is gone."""
        there = self._intents.get(namespace, {})
        intent = there.pop(name, None)
        if intent is None:
            return
        self.version += 1
        if not there:
            del self._intents[namespace]
        for owner in {consumer.owner for consumer in intent.consumers}:
            named = self._by_owner[namespace, owner]
            del named[name]
            if not named:
                del self._by_owner[namespace, owner]

    def named(self, namespace: str, name: str) -> Intent | None:
        """The intent of that name."""
        return self._intents.get(namespace, {}).get(name)

    def names(self, namespace: str) -> Iterable[str]:
        """The names of the namespace's intents."""
        return self._intents.get(namespace, {})

    def holding(self, namespace: str, owner: str) -> Iterator[Intent]:
        """The intents of which that workload is a consumer, by name."""
        found = self._by_owner.get((namespace, owner), {})
        yield from (found[name] for name in sorted(found))
