"""Keys of annotations and labels that mean nothing and were probably meant to be keys of this product.

Nobody else tells: a misspelt prefix is another owner's, and the API server does not send such a pod to the webhook.
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
"""Likeness of a prefix to ours (``difflib``) from which it is taken for ours: about two letters may be wrong. That of
IBM Event Streams, ``eventstreams.ibm.com``, which is on pods of its own, has 0.86."""

_FIELDS: Final[dict[str, Field]] = {
    **{key.removeprefix(keys.PREFIX): "annotations" for key in keys.ANNOTATIONS - {keys.INJECTED}},
    **{key.removeprefix(keys.PREFIX): "labels" for key in (keys.JOB, keys.PE)},
}
"""The names behind the prefix that people write, and where."""


def stray_keys(
    annotations: Collection[str], labels: Collection[str], *, place: str = "metadata", pods: str = "metadata"
) -> Iterator[str]:
    """A warning for each key that was probably meant to be ours, no more than ten.

    ``place`` is the path of the metadata that the keys are in, ``pods`` that of the pod's metadata, where they belong.
    """
    written: tuple[tuple[Field, Collection[str]], ...] = (("annotations", annotations), ("labels", labels))
    found = ((f"{place}.{field}[{key}]", _advice(key, field, pods)) for field, some in written for key in some)
    for path, advice in itertools.islice((stray for stray in found if stray[1]), SHOWN):
        yield f"{path}: this key means nothing{advice}"


def _advice(key: str, field: Field, pods: str) -> str:
    """What was probably meant by the key; empty if it is not like ours, or is ours."""
    prefix, _, name = key.partition("/")
    if prefix == _DOMAIN and name:
        misplaced = field == "labels" and _FIELDS.get(name) == "annotations"
        return _meant(name, pods) if misplaced else ""
    if prefix.startswith(_DOMAIN) and not name:  # streams.ibm.com.placement, or nothing behind it at all
        return _meant(prefix.removeprefix(_DOMAIN).lstrip(".-_"), pods)
    near = len(prefix) <= WORD_LIMIT and difflib.get_close_matches(prefix.lower(), (_DOMAIN,), cutoff=_LIKE)
    return _meant(name, pods) if near else ""


def _meant(name: str, pods: str) -> str:
    """The key with that name, or the one most like it, and where it belongs."""
    known = nearest(name, _FIELDS)
    if known is None:
        return f", those of this product begin with {keys.PREFIX}"
    return f", did you mean {pods}.{_FIELDS[known]}[{keys.PREFIX}{known}]?"
