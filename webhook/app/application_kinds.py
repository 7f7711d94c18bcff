"""The kinds of other operators' objects, read from the files that are installed with the package."""

import functools
from collections.abc import Iterator
from importlib.resources import files
from typing import Final

from webhook.cluster.snapshot.yaml_documents import documents
from webhook.placement import kinds as room
from webhook.placement.kinds.kind import Kinds, kinds_of

_FOLDER: Final = "data"
"""Where the files are, in the package of kinds."""


@functools.cache
def application_kinds() -> Kinds:
    """All kinds that there are files of."""
    return kinds_of(_contents())


def _contents() -> Iterator[tuple[str, object]]:
    """The name and the content of each file."""
    for file in sorted(files(room).joinpath(_FOLDER).iterdir(), key=lambda file: file.name):
        yield from ((file.name, content) for content in documents(file.read_bytes()))
