"""Values of YAML texts that tests read: by the parser in C, which takes a tenth of the time."""

from collections.abc import Iterator
from typing import Any

import yaml


def loaded(text: str | bytes) -> Any:
    """The value of the only document."""
    return yaml.load(text, Loader=yaml.CSafeLoader)


def all_loaded(text: str | bytes) -> Iterator[Any]:
    """The values of all documents."""
    found: Iterator[Any] = yaml.load_all(text, Loader=yaml.CSafeLoader)
    return found
