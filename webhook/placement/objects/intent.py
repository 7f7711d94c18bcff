"""HPAIntent objects: parser of their spec, the intents as values, and the index of all intents of the cluster.

An HPAIntent states hardware requirements of workloads, its consumers, apart from their pods (``docs/hpaintent.md``).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.annotations.placement_text import SHOWN
from webhook.placement.annotations.yaml_text import Value, of_json
from webhook.placement.field_rules.rules import NumberRule, TextRule
from webhook.placement.kube.names import NAME_LIMIT
from webhook.placement.kube.numbers import integer
from webhook.placement.objects.consumer import Consumer, contradicting, foreign, odd, read_consumer
from webhook.placement.text.problem import Problem, quote

CONSUMER_LIMIT: Final = 64
"""Consumers of one intent (``docs/operations.md``, limits)."""

REPLICATION_LIMIT: Final = 1000
"""Clusters on which one app is to run, at most (``docs/clusters.md``)."""

APPS: Final[Mapping[str, TextRule]] = {
    "app": TextRule(about="Application that the workloads belong to.", most=NAME_LIMIT),
    "appName": TextRule(about="Alias of app.", most=NAME_LIMIT),
}
"""The rules of the application, in both spellings."""

CLUSTERS: Final = NumberRule(
    "Number of clusters on which the application runs; 1 if absent.",
    1,
    REPLICATION_LIMIT,
    form=f"is not a whole number from 1 to {REPLICATION_LIMIT}",
)
"""The rule of ``replicationCount``."""

_APP: Final = tuple(APPS)
_COUNT: Final = "replicationCount"
_SPEC: Final = (*_APP, _COUNT, "consumers")


class Intent(Struct, frozen=True, gc=False):
    """An HPAIntent object; ``problems`` are those of the whole spec, including those of its consumers.

    ``app`` is the application that the consumers are parts of, empty if none is named, ``replication_count`` on how
    many clusters it is to run, ``None`` if that is not said.
    """

    namespace: str
    name: str
    consumers: tuple[Consumer, ...] = ()
    problems: tuple[Problem, ...] = ()
    app: str = ""
    replication_count: int | None = None


def read_intent(namespace: str, name: str, spec: object, where: str = "") -> Intent:
    """The intent with that ``spec`` (decoded JSON), with all its problems; ``where`` is a prefix of their paths."""
    value = of_json(spec)
    if not isinstance(value, dict):
        return Intent(namespace, name, problems=(Problem(f"{where}spec", "must be a mapping with consumers"),))
    apps: list[tuple[str, Value]] = [(f"{where}spec.{name}", value[name]) for name in _APP if name in value]
    problems = [*foreign(value, _SPEC, f"{where}spec"), *odd(value, _APP, f"{where}spec"), *contradicting(apps)]
    for path, word in apps:
        problems += APPS["app"].problems(path, word) if isinstance(word, str) else ()
    count, wrong = _replication(value.get(_COUNT), f"{where}spec.{_COUNT}")
    problems += wrong
    consumers: list[Consumer] = []
    listed = value.get("consumers")
    if listed is not None and not isinstance(listed, list):
        problems.append(Problem(f"{where}spec.consumers", "must be a list"))
    elif listed and len(listed) > CONSUMER_LIMIT:
        message = f"has {len(listed)} consumers, at most {CONSUMER_LIMIT} are allowed"
        problems.append(Problem(f"{where}spec.consumers", message))
    else:
        for at, item in enumerate(listed or ()):
            consumer, wrong = read_consumer(item, f"{where}spec.consumers[{at}]")
            consumers += [consumer] if consumer else []
            problems += wrong
        problems += _twice(consumers, f"{where}spec.consumers")
    app = next((word for _, word in apps if isinstance(word, str)), "")
    return Intent(namespace, name, tuple(consumers), tuple(problems[:SHOWN]), app, count)


def _replication(value: Value, path: str) -> tuple[int | None, list[Problem]]:
    """On how many clusters the app is to run, ``None`` if that is not said, and what is wrong with the number."""
    if value is None:
        return None, []
    count = integer(value) if isinstance(value, str) else None
    if count is None or next(CLUSTERS.problems(path, count), None) is not None:
        stated = quote(value) if isinstance(value, str) else "it"
        return None, [Problem(path, f"{stated} {CLUSTERS.form}")]
    return count, []


def _twice(consumers: list[Consumer], path: str) -> Iterator[Problem]:
    names = [consumer.name for consumer in consumers]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield Problem(path, f"{quote(name)} occurs twice")


class Intents:
    """Index of all HPAIntents, by name and by consumer; ``version`` counts changes."""

    __slots__ = ("_by_owner", "_intents", "enabled", "version")

    def __init__(self) -> None:
        self.version = 0
        self.enabled: set[str] = set()
        """Namespaces with the label ``streams.ibm.com/inject: enabled``: intents apply to all pods of consumers."""
        self._intents: dict[str, dict[str, Intent]] = {}
        self._by_owner: dict[tuple[str, str], dict[str, Intent]] = {}

    def __len__(self) -> int:
        """The number of intents."""
        return sum(map(len, self._intents.values()))

    def enable(self, namespace: str) -> None:
        """The namespace has the label ``streams.ibm.com/inject: enabled``."""
        self.version += namespace not in self.enabled
        self.enabled.add(namespace)

    def disable(self, namespace: str) -> None:
        """The namespace does not have the label, or is deleted."""
        self.version += namespace in self.enabled
        self.enabled.discard(namespace)

    def put(self, intent: Intent) -> None:
        """Add the intent, or replace the intent with its name."""
        self.drop(intent.namespace, intent.name)
        self.version += 1
        self._intents.setdefault(intent.namespace, {})[intent.name] = intent
        for consumer in intent.consumers:
            self._by_owner.setdefault((intent.namespace, consumer.owner), {})[intent.name] = intent

    def drop(self, namespace: str, name: str) -> None:
        """Remove the intent, if it is known."""
        of_namespace = self._intents.get(namespace, {})
        intent = of_namespace.pop(name, None)
        if intent is None:
            return
        self.version += 1
        if not of_namespace:
            del self._intents[namespace]
        for owner in {consumer.owner for consumer in intent.consumers}:
            named = self._by_owner[namespace, owner]
            del named[name]
            if not named:
                del self._by_owner[namespace, owner]

    def named(self, namespace: str, name: str) -> Intent | None:
        """The intent with that name; ``None`` if it does not exist."""
        return self._intents.get(namespace, {}).get(name)

    def described(self, namespace: str, template: str) -> DescribedDevices | None:
        """The devices that an intent of the namespace describes with the template of that name; ``None`` if none."""
        for intent in self._intents.get(namespace, {}).values():
            for consumer in intent.consumers:
                for one in consumer.hardware:
                    if one.device and one.device.described and one.device.template == template:
                        return one.device.described
        return None

    def names(self, namespace: str) -> Iterable[str]:
        """The names of the namespace's intents."""
        return self._intents.get(namespace, {})

    def holding(self, namespace: str, owner: str) -> Iterator[Intent]:
        """The intents of which the workload ``owner`` (kind and name) is a consumer, sorted by name."""
        by_name = self._by_owner.get((namespace, owner), {})
        yield from (by_name[name] for name in sorted(by_name))
