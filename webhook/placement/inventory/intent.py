"""An HPAIntent: hardware requirements of workloads, written apart from them (``docs/hardware.md``)."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from webhook.placement.annotations.hardware import Hardware
from webhook.placement.annotations.hardware_text import read_requirements
from webhook.placement.annotations.placement_text import SHOWN
from webhook.placement.annotations.yaml_text import Value, of_json
from webhook.placement.text.nearest import unknown
from webhook.placement.text.problem import Problem, quote

CONSUMER_LIMIT: Final = 64
"""Consumers of one intent (``docs/operations.md``, limits)."""

_APP: Final = ("app", "appName")
_SPEC: Final = (*_APP, "consumers")
_CONSUMER: Final = ("name", "consumer", "requirements", "metadata", "container")
_WORKLOAD: Final = ("apiVersion", "kind", "name", "container-name", "container")
_NEEDED: Final = ("apiVersion", "kind", "name")


class Consumer(Struct, frozen=True, gc=False):
    """A workload and the hardware that its pods need.

    ``group`` is the API group of its kind, ``owner`` its kind and name, such as ``Deployment/api-server``. With
    ``problems`` its pods cannot be made until they are gone.
    """

    name: str
    group: str
    owner: str
    hardware: tuple[Hardware, ...] = ()
    problems: tuple[Problem, ...] = ()


class Intent(Struct, frozen=True, gc=False):
    """An HPAIntent object; ``problems`` are those of its consumers, and of what belongs to none of them."""

    namespace: str
    name: str
    consumers: tuple[Consumer, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_intent(namespace: str, name: str, spec: object, where: str = "") -> Intent:
    """The intent that a ``spec`` as JSON describes, with all its problems; ``where`` begins their paths."""
    value = of_json(spec)
    if not isinstance(value, dict):
        return Intent(namespace, name, problems=(Problem(f"{where}spec", "must be a mapping with consumers"),))
    apps = [(f"{where}spec.{name}", word) for name in _APP if isinstance(word := value.get(name), str)]
    problems = [*_foreign(value, _SPEC, f"{where}spec"), *_odd(value, _APP, f"{where}spec"), *_contradicting(apps)]
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
    return Intent(namespace, name, tuple(consumers), tuple(problems[:SHOWN]))


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
    """Who gets what is allocatable, in any of the three places where it may stand; empty where nothing is said."""
    said = [
        (f"{path}.{place}", word)
        for place, word in (
            ("consumer.container-name", workload.get("container-name")),
            ("consumer.container", workload.get("container")),
            ("container", item.get("container")),
        )
        if isinstance(word, str)
    ]
    return said[0][1] if said else "", list(_contradicting(said))


def _foreign(value: Mapping[str, Value], known: tuple[str, ...], path: str) -> Iterator[Problem]:
    foreign = itertools.islice((name for name in value if name not in known), SHOWN)
    return (Problem(path, unknown("field", name, known)) for name in foreign)


def _odd(value: Mapping[str, Value], words: tuple[str, ...], path: str) -> Iterator[Problem]:
    """What must be one word and is a list or a mapping."""
    odd = (name for name in words if isinstance(value.get(name), list | dict))
    return (Problem(f"{path}.{name}", "must be one word") for name in odd)


def _contradicting(said: list[tuple[str, str]]) -> Iterator[Problem]:
    """Paths whose words all mean the same, and are not the same."""
    for path, word in said[1:]:
        if word != said[0][1]:
            message = f"is {quote(word)}, but {said[0][0]} is {quote(said[0][1])}, and both mean the same"
            yield Problem(path, message)


def _twice(consumers: list[Consumer], path: str) -> Iterator[Problem]:
    names = [consumer.name for consumer in consumers]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield Problem(path, f"{quote(name)} stands twice")


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
