"""Warnings about misspelt or misplaced keys: annotations and labels that resemble keys of this product.

Such a key has no effect, and without the warning nothing would show that: a key under a misspelt prefix is legal, and
the API server does not send a pod with only such keys to the webhook.
"""

import difflib
import itertools
from collections.abc import Collection, Iterator
from typing import Final, Literal

from webhook.placement.annotations.placement_text import SHOWN
from webhook.placement.text import keys
from webhook.placement.text.nearest import WORD_LIMIT, nearest

Field = Literal["annotations", "labels"]
"""The two fields of an object's metadata that hold keys."""

_DOMAIN: Final = keys.PREFIX.removesuffix("/")

_LIKE: Final = 0.88
"""Similarity (``difflib`` ratio) from which a prefix is taken for a misspelt ``streams.ibm.com``: about two letters may
be wrong. ``eventstreams.ibm.com``, which IBM Event Streams uses on its pods, has a ratio of 0.86."""

_FIELDS: Final[dict[str, Field]] = {
    **{key.removeprefix(keys.PREFIX): "annotations" for key in keys.ANNOTATIONS - {keys.INJECTED}},
    **{key.removeprefix(keys.PREFIX): "labels" for key in (keys.JOB, keys.PE)},
}
"""Names behind the prefix of keys that users write, and the field that each key belongs to."""


def stray_keys(
    annotations: Collection[str], labels: Collection[str], *, place: str = "metadata", pods: str = "metadata"
) -> Iterator[str]:
    """A warning for each key that resembles a key of this product, ten at most.

    ``place`` is the path of the metadata that has the keys, ``pods`` the path of the pod's metadata, where the keys
    belong.
    """
    written: tuple[tuple[Field, Collection[str]], ...] = (("annotations", annotations), ("labels", labels))
    advised = ((f"{place}.{field}[{key}]", _advice(key, field, pods)) for field, some in written for key in some)
    for path, advice in itertools.islice((stray for stray in advised if stray[1]), SHOWN):
        yield f"{path}: this key has no effect{advice}"


def _advice(key: str, field: Field, pods: str) -> str:
    """The end of the warning about the key; empty if the key is one of this product, or not like any of them."""
    prefix, _, name = key.partition("/")
    if prefix == _DOMAIN and name:
        misplaced = field == "labels" and _FIELDS.get(name) == "annotations"
        return _suggestion(name, pods) if misplaced else ""
    if prefix.startswith(_DOMAIN) and not name:  # for example streams.ibm.com.placement, or streams.ibm.com/
        return _suggestion(prefix.removeprefix(_DOMAIN).lstrip(".-_"), pods)
    near = len(prefix) <= WORD_LIMIT and difflib.get_close_matches(prefix.lower(), (_DOMAIN,), cutoff=_LIKE)
    return _suggestion(name, pods) if near else ""


def _suggestion(name: str, pods: str) -> str:
    """The suggestion of the known key with that name, or with the name most like it, and of its path."""
    known = nearest(name, _FIELDS)
    if known is None:
        return f", keys of this product begin with {keys.PREFIX}"
    return f", did you mean {pods}.{_FIELDS[known]}[{keys.PREFIX}{known}]?"
