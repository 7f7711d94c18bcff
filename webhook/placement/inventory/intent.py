"""HPAIntent objects: parser of their spec, the intents as values, and the index of all intents of the cluster.

An HPAIntent states hardware requirements of workloads, its consumers, apart from their pods (``docs/hpaintent.md``).
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from webhook.placement.annotations.hardware import Hardware
from webhook.placement.annotations.hardware_text import read_requirements
from webhook.placement.annotations.placement_text import SHOWN
from webhook.placement.annotations.yaml_text import Value, of_json
from webhook.placement.kube.numbers import integer
from webhook.placement.text.nearest import unknown
from webhook.placement.text.problem import Problem, quote

CONSUMER_LIMIT: Final = 64
"""Consumers of one intent (``docs/operations.md``, limits)."""

REPLICATION_LIMIT: Final = 1000
"""Clusters on which one app is to run, at most (``docs/clusters.md``)."""

_APP: Final = ("app", "appName")
_COUNT: Final = "replicationCount"
_SPEC: Final = (*_APP, _COUNT, "consumers")
_CONSUMER: Final = ("name", "consumer", "requirements", "metadata", "container")
_WORKLOAD: Final = ("apiVersion", "kind", "name", "container-name", "container")
_NEEDED: Final = ("apiVersion", "kind", "name")


class Consumer(Struct, frozen=True, gc=False):
    """A workload in an HPAIntent, and the hardware requirements of its pods.

    ``group`` is the API group of the workload's kind, ``owner`` its kind and name, such as ``Deployment/api-server``.
    Pods of a consumer with ``problems`` are refused.
    """

    name: str
    group: str
    owner: str
    hardware: tuple[Hardware, ...] = ()
    problems: tuple[Problem, ...] = ()


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
    apps = [(f"{where}spec.{name}", word) for name in _APP if isinstance(word := value.get(name), str)]
    problems = [*_foreign(value, _SPEC, f"{where}spec"), *_odd(value, _APP, f"{where}spec"), *_contradicting(apps)]
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
            consumer, wrong = _consumer(item, f"{where}spec.consumers[{at}]")
            consumers += [consumer] if consumer else []
            problems += wrong
        problems += _twice(consumers, f"{where}spec.consumers")
    app = apps[0][1] if apps else ""
    return Intent(namespace, name, tuple(consumers), tuple(problems[:SHOWN]), app, count)


def _replication(value: Value, path: str) -> tuple[int | None, list[Problem]]:
    """On how many clusters the app is to run, ``None`` if that is not said, and what is wrong with the number."""
    if value is None:
        return None, []
    count = integer(value) if isinstance(value, str) else None
    if count is None or not 1 <= count <= REPLICATION_LIMIT:
        stated = quote(value) if isinstance(value, str) else "it"
        return None, [Problem(path, f"{stated} is no whole number from 1 to {REPLICATION_LIMIT}")]
    return count, []


def _consumer(item: Value, path: str) -> tuple[Consumer | None, list[Problem]]:
    workload = item.get("consumer") if isinstance(item, dict) else None
    if not isinstance(item, dict) or not isinstance(workload, dict):
        sample = "{name, consumer: {apiVersion, kind, name, container-name}, requirements}"
        return None, [Problem(path, f"must be a consumer: {sample}")]
    problems = [*_foreign(item, _CONSUMER, path), *_foreign(workload, _WORKLOAD, f"{path}.consumer")]
    problems += [*_odd(item, ("name", "container"), path), *_odd(workload, _WORKLOAD, f"{path}.consumer")]
    missing = [field for field in _NEEDED if not workload.get(field)]
    problems += [Problem(f"{path}.consumer.{field}", "missing: says which workload it is") for field in missing]
    container, wrong = _container(item, workload, path)
    hardware: tuple[Hardware, ...] = ()
    if item.get("requirements"):
        hardware, more = read_requirements(item["requirements"], f"{path}.requirements", container)
        wrong += more
    problems += wrong
    words = {field: word for field, word in workload.items() if isinstance(word, str) and word}
    if not words.keys() >= set(_NEEDED):
        return None, problems
    group, name = words["apiVersion"].rpartition("/")[0], item.get("name")
    named = name if isinstance(name, str) else words["name"]
    return Consumer(named, group, f"{words['kind']}/{words['name']}", hardware, tuple(problems)), problems


def _container(item: Mapping[str, Value], workload: Mapping[str, Value], path: str) -> tuple[str, list[Problem]]:
    """The container of allocatable requirements, from any of three fields; empty if no field names one."""
    stated = [
        (f"{path}.{place}", word)
        for place, word in (
            ("consumer.container-name", workload.get("container-name")),
            ("consumer.container", workload.get("container")),
            ("container", item.get("container")),
        )
        if isinstance(word, str)
    ]
    return stated[0][1] if stated else "", list(_contradicting(stated))


def _foreign(value: Mapping[str, Value], known: tuple[str, ...], path: str) -> Iterator[Problem]:
    foreign = itertools.islice((name for name in value if name not in known), SHOWN)
    return (Problem(path, unknown("field", name, known)) for name in foreign)


def _odd(value: Mapping[str, Value], words: tuple[str, ...], path: str) -> Iterator[Problem]:
    """A problem for each of the fields ``words`` that is a list or a mapping and must be one word."""
    odd = (name for name in words if isinstance(value.get(name), list | dict))
    return (Problem(f"{path}.{name}", "must be one word") for name in odd)


def _contradicting(stated: list[tuple[str, str]]) -> Iterator[Problem]:
    """A problem for each path whose word differs from that of the first path; all paths mean the same field."""
    for path, word in stated[1:]:
        if word != stated[0][1]:
            message = f"is {quote(word)}, but {stated[0][0]} is {quote(stated[0][1])}, and both mean the same"
            yield Problem(path, message)


def _twice(consumers: list[Consumer], path: str) -> Iterator[Problem]:
    names = [consumer.name for consumer in consumers]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield Problem(path, f"{quote(name)} stands twice")


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
        """The intent with that name; ``None`` if there is no such intent."""
        return self._intents.get(namespace, {}).get(name)

    def names(self, namespace: str) -> Iterable[str]:
        """The names of the namespace's intents."""
        return self._intents.get(namespace, {})

    def holding(self, namespace: str, owner: str) -> Iterator[Intent]:
        """The intents of which the workload ``owner`` (kind and name) is a consumer, sorted by name."""
        found = self._by_owner.get((namespace, owner), {})
        yield from (found[name] for name in sorted(found))
