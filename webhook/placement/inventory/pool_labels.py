"""What labels a pool asks of its hosts: by its tags, and by its selector (``docs/hostpool.md``)."""

from collections.abc import Collection, Iterable
from typing import Final

from webhook.placement.inventory.objects import Pool
from webhook.placement.kube.pod import Requirement
from webhook.placement.kube.selector import requirements_of
from webhook.placement.text import keys

SETTABLE: Final = frozenset({"In", "Exists"})
"""Operators that a label can be set for: none that is set meets NotIn or DoesNotExist, and Gt and Lt say no value."""


def tag_requirements(tags: Collection[str], *, several: bool = False) -> tuple[Requirement, ...]:
    """Tags as node label requirements, sorted: one tag as a value of the shared key, several as a key each.

    ``several`` says that others count beside these: a key has one value, so then even one tag is a key of its own.
    """
    if not tags:
        return ()
    distinct = sorted(set(tags))
    if len(distinct) == 1 and not several:
        return (Requirement(keys.TAG, "In", (distinct[0],)),)
    return tuple(Requirement(keys.TAGS + tag, "Exists") for tag in distinct)


def labels_of(pool: Pool, *, several: bool = False) -> tuple[Requirement, ...]:
    """All of them, by tags and by selector; ``several`` as for the tags."""
    tags = tag_requirements(pool.tags, several=several)
    return (*tags, *requirements_of(pool.selector)) if pool.selector else tags


def tags_of(pool: Pool) -> str:
    """The pool's tags in words."""
    tags = sorted(set(pool.tags))
    return f"tag{'s' * (len(tags) != 1)} {', '.join(tags)}"


def labels_set(needs: Iterable[Requirement]) -> dict[str, str]:
    """The labels to set so that these requirements hold, as far as labels that are set can do it."""
    return {need.key: (need.values or ("true",))[0] for need in needs if need.operator in SETTABLE}


def setting(needs: Iterable[Requirement]) -> str:
    """The same in words."""
    return " and ".join(f"{key}={value}" for key, value in labels_set(needs).items())
