"""Hardware requirements that HPAIntents have for a pod: the intents that it names, and those for its workload."""

import itertools
from collections.abc import Iterator
from typing import Final

from webhook.placement.annotations.hardware_text import Requirements
from webhook.placement.annotations.placement_text import SHOWN, annotation
from webhook.placement.kube.owner import owner_of, owners_of
from webhook.placement.kube.pod import Metadata
from webhook.placement.objects.consumer import Consumer
from webhook.placement.objects.intent import Intent, Intents
from webhook.placement.spl.placement import TEXT_LIMIT
from webhook.placement.spl.reader import unreadable
from webhook.placement.text import keys
from webhook.placement.text.nearest import nearest
from webhook.placement.text.problem import Fault, Problem, enumerated, quote

INTENT_LIMIT: Final = 16
"""Maximum number of HPAIntents named by one pod (``docs/operations.md``, limits)."""

_LISTED = 10
"""Maximum number of names listed in a message."""

Owners = tuple[str, tuple[str, ...]]
"""The API group of a pod's controller, and the workloads, as ``Kind/name``, that the pod is a replica of."""

_FIELD = annotation(keys.INTENT)


def owners(metadata: Metadata) -> Owners:
    """The workloads that the pod is a replica of; for a pod without a controller the pod itself, ``Pod/name``."""
    controller = next((reference for reference in metadata.owner_references or () if reference.controller), None)
    if controller is None:
        return "", (f"Pod/{metadata.name or metadata.generate_name or ''}",)
    group = controller.api_version.rpartition("/")[0]
    return group, tuple(owners_of(owner_of((controller,), metadata.labels)))


def consumes(metadata: Metadata, namespace: str, intents: Intents) -> bool:
    """Whether the pod gets hardware without asking: its namespace is enabled, and an intent is for its workload."""
    return namespace in intents.enabled and any(_own(owners(metadata), namespace, intents))


def intended(metadata: Metadata, namespace: str, text: str | None, intents: Intents) -> Requirements:
    """The requirements of the intents named in ``text`` and of those for the pod's workload, and all problems.

    An intent that the pod names and that has a single consumer counts whatever that consumer's workload is.
    """
    own = owners(metadata)
    consumers: list[Consumer] = []
    problems: list[Problem] = []
    names, unread = _names(text)
    problems += unread
    for name in names:
        intent = intents.named(namespace, name)
        if intent is None:
            problems.append(_missing(name, namespace, intents))
        else:
            matching = list(_of(intent, own)) or list(intent.consumers if len(intent.consumers) == 1 else ())
            consumers += matching
            problems += [] if matching else [_no_consumer(intent, own)]
    if namespace in intents.enabled:
        consumers += (consumer for consumer in _own(own, namespace, intents) if consumer not in consumers)
    problems += itertools.chain.from_iterable(consumer.problems for consumer in consumers)
    hardware = itertools.chain.from_iterable(consumer.hardware for consumer in consumers)
    return tuple(hardware), tuple(problems[:SHOWN])


def _names(text: str | None) -> tuple[list[str], list[Problem]]:
    """The names in the annotation, each once, and what is wrong with the annotation."""
    if text is None:
        return [], []
    if problem := unreadable(text, _FIELD, limit=TEXT_LIMIT):
        return [], [problem]
    names = list(dict.fromkeys(word.strip() for word in text.split(",")))
    if len(names) > INTENT_LIMIT:
        return [], [Problem(_FIELD, f"names {len(names)} HPAIntents, at most {INTENT_LIMIT} are allowed")]
    return names, []


def _own(own: Owners, namespace: str, intents: Intents) -> Iterator[Consumer]:
    """The consumers, in all intents of the namespace, that are the pod's workload."""
    for owner in own[1]:
        for intent in intents.holding(namespace, owner):
            yield from _of(intent, own)


def _of(intent: Intent, own: Owners) -> Iterator[Consumer]:
    """The consumers of the intent that are the pod's workload."""
    group, names = own
    return (consumer for consumer in intent.consumers if consumer.owner in names and consumer.group == group)


def _missing(name: str, namespace: str, intents: Intents) -> Problem:
    """The problem of a name for which the namespace has no HPAIntent."""
    names = sorted(intents.names(namespace))
    near = nearest(name, names[:100])
    hint = f", did you mean {near}?" if near else ";"
    there = f"known HPAIntents: {enumerated(names, _LISTED)}" if names else "there are none"
    return Problem(_FIELD, f"this namespace has no HPAIntent {quote(name)}{hint} {there}", fault=Fault.FORBIDDEN)


def _no_consumer(intent: Intent, own: Owners) -> Problem:
    """The problem of an intent that the pod names and that has no consumer for it."""
    if not intent.consumers:
        problem = next(iter(intent.problems), None)
        where = problem.field.removeprefix(f"HPAIntent {intent.name} ") if problem else ""
        message = f"is broken: {where}: {problem.message}" if problem else "has no consumers"
        return Problem(_FIELD, f"HPAIntent {intent.name} {message}", fault=Fault.FORBIDDEN)
    listed = enumerated(intent.consumers, _LISTED, lambda consumer: consumer.owner)
    message = f"no consumer of HPAIntent {intent.name} is {own[1][0]}; its consumers: {listed}"
    return Problem(_FIELD, message, fault=Fault.FORBIDDEN)
