"""The node labels that a HostPool requires of its hosts, by its tags and its selector (``docs/hostpool.md``).

And those that people would set to make a node meet requirements, as messages name them.
"""

from collections.abc import Collection, Iterable
from typing import Final

from webhook.placement.kube.pod import Requirement
from webhook.placement.kube.selection.selector import requirements_of
from webhook.placement.objects.pool import Pool
from webhook.placement.text import keys

SETTABLE: Final = frozenset({"In", "Exists"})
"""Operators of requirements that can be met by setting a label with a known value."""

_KUBERNETES: Final = "kubernetes.io"
"""Labels under this domain and its subdomains say what a node is: kubelets write them, not people."""


def tag_requirements(tags: Collection[str], *, several: bool = False) -> tuple[Requirement, ...]:
    """Tags as requirements on node labels, sorted: one tag is a value of the key ``TAG``, several tags are a key each.

    ``several`` means that tags of other pools count as well, so that a single tag is a key, too.
    """
    if not tags:
        return ()
    distinct = sorted(set(tags))
    if len(distinct) == 1 and not several:
        return (Requirement(keys.TAG, "In", (distinct[0],)),)
    return tuple(Requirement(keys.TAGS + tag, "Exists") for tag in distinct)


def labels_of(pool: Pool, *, several: bool = False) -> tuple[Requirement, ...]:
    """All requirements of the pool on node labels; ``several`` is that of :func:`tag_requirements`."""
    tags = tag_requirements(pool.tags, several=several)
    return (*tags, *requirements_of(pool.selector)) if pool.selector else tags


def tags_of(pool: Pool) -> str:
    """The pool's tags in messages: ``tags blue, ib``."""
    tags = sorted(set(pool.tags))
    return f"tag{'s' * (len(tags) != 1)} {', '.join(tags)}"


def labels_set(needs: Iterable[Requirement]) -> dict[str, str]:
    """Labels that would make a node meet those of the requirements that setting a label can meet."""
    return {need.key: (need.values or ("true",))[0] for need in needs if need.operator in SETTABLE}


def settable(needs: Iterable[Requirement]) -> dict[str, str]:
    """The labels of :func:`labels_set`, but none if kubelets write one of these."""
    labels = labels_set(needs)
    return {} if any(f".{key.rpartition('/')[0]}".endswith(f".{_KUBERNETES}") for key in labels) else labels
