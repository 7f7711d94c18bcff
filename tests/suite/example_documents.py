"""The files of the example cluster, which some six hundred tests read as their snapshot: each is parsed once."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

CLUSTER: Final = Path(__file__).parents[2] / "examples" / "cluster"


@contextmanager
def example_documents_parsed_once() -> Iterator[None]:
    """Meanwhile the product gets the documents of these files as they were parsed first; it must not change them."""
    from webhook.cluster.snapshot import yaml_documents  # noqa: PLC0415 -- while the product is traced

    parsed = yaml_documents.documents
    kept = functools.cache(lambda content: [*parsed(content)])
    examples = {path.read_bytes() for path in CLUSTER.glob("*.yaml")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            yaml_documents, "documents", lambda content: iter(kept(content)) if content in examples else parsed(content)
        )
        yield
    assert [content for content in examples if kept(content) != [*parsed(content)]] == []
