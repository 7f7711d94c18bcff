"""The changes that count as made, from the flags ``--drain``, ``--cordon``, ``--add-nodes`` and ``--remove-pod``.

:func:`changes_of` reads them, and says which flags do not go together.
"""

import argparse
import re
from typing import Final

from webhook.cli.arguments import given_settings
from webhook.cli.declarations.setting_flags import DEFAULT_NAMESPACE
from webhook.cli.exits import WrongUse
from webhook.placement.text.problem import escape, quote
from webhook.placementreview.review import AddedNodes, PodName, WhatIf
from webhook.settings import Settings

_ADDED: Final = re.compile(r"(?P<like>[^=]+)(?:=(?P<count>[1-9][0-9]{0,5}))?")
"""The name of a node, and how many nodes like it are added: one if it is not stated."""

_FIELD: Final = re.compile(
    r"\bspec\.whatIf\.(?P<field>drain|cordon|addNodes|removePods)\b(?:\[(?P<place>[0-9]{1,5})\])?[.\w]*"
)
"""A field of a review that a flag sets, in the text of an error."""

_SHOWN: Final = 80
"""Characters of a value that are repeated."""


def what_if(arguments: argparse.Namespace, namespace: str) -> WhatIf | None:
    """The changes, ``None`` if there are none; ``namespace`` is that of pods without one.

    Raises :class:`WrongUse` for a value that cannot be read.
    """
    changes = WhatIf(
        drain=tuple(arguments.what_if_drain),
        cordon=tuple(arguments.what_if_cordon),
        add_nodes=tuple(map(_added, arguments.what_if_add_nodes)),
        remove_pods=tuple(_pod(name, namespace) for name in arguments.what_if_remove_pod),
    )
    return None if changes == WhatIf() else changes


def namespace_of(arguments: argparse.Namespace, settings: Settings) -> str:
    """The namespace of objects that state none: with an API server that of the context, else ``default``."""
    if arguments.server:
        return given_settings.namespace(arguments, settings)
    return arguments.namespace or DEFAULT_NAMESPACE


def changes_of(arguments: argparse.Namespace, settings: Settings) -> WhatIf | None:
    """The changes that count as made; raises :class:`WrongUse` for flags that do not go together."""
    changes = what_if(arguments, namespace_of(arguments, settings))
    if not arguments.server and changes and settings.snapshot is None:
        raise WrongUse("--drain, --cordon, --add-nodes and --remove-pod need --server or --snapshot")
    if arguments.server and settings.snapshot is not None:
        raise WrongUse("--server asks an API server: leave out --snapshot, or --server")
    if (arguments.server or changes) and arguments.output in {"html", "review"}:
        raise WrongUse(f"a review has no form {arguments.output}: give -o text, json or yaml")
    return changes


def in_flags(text: str, changes: WhatIf | None) -> str:
    """The error in one line, with flags in place of fields: ``--drain node-x`` for ``spec.whatIf.drain[0]``."""
    line = "; ".join(text.splitlines())
    return _FIELD.sub(lambda match: _flag(match["field"], match["place"], changes or WhatIf()), line)


def _flag(field: str, place: str | None, changes: WhatIf) -> str:
    """The flag of that field, with its value at that place; without a place the flag alone."""
    flag, values = {
        "drain": ("--drain", changes.drain),
        "cordon": ("--cordon", changes.cordon),
        "addNodes": ("--add-nodes", [f"{added.like}={added.count}" for added in changes.add_nodes]),
        "removePods": ("--remove-pod", [f"{pod.namespace}/{pod.name}" for pod in changes.remove_pods]),
    }[field]
    value = values[int(place)] if place and int(place) < len(values) else ""
    return f"{flag} {escape(value[:_SHOWN])}" if value else flag


def _added(text: str) -> AddedNodes:
    match = _ADDED.fullmatch(text)
    if match is None:
        advice = "write node-a=3 for three more nodes like node-a"
        raise WrongUse(f"--add-nodes {quote(text)} is not NODE or NODE=COUNT: {advice}")
    return AddedNodes(count=int(match["count"] or 1), like=match["like"])


def _pod(text: str, namespace: str) -> PodName:
    stated, slash, name = text.rpartition("/")
    if not name or (slash and not stated) or "/" in stated:
        raise WrongUse(f"--remove-pod {quote(text)} is not NAME or NAMESPACE/NAME")
    return PodName(name=name, namespace=stated or namespace)
