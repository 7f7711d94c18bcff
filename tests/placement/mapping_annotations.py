"""Annotations of worker mapping, in the order in which people think of them."""

from webhook.placement.text import keys


def mapping(
    key: str | None = None,
    operator: str | None = None,
    values: str | None = None,
    *,
    on: str | None = "true",
    listed: str | None = None,
) -> dict[str, str]:
    """Mapping that is on, by one expression or a list of them; what is ``None`` is not there."""
    words = {
        keys.MAPPED: on,
        keys.MAPPING_KEY: key,
        keys.MAPPING_OPERATOR: operator,
        keys.MAPPING_VALUES: values,
        keys.MAPPING: listed,
    }
    return {name: word for name, word in words.items() if word is not None}


def path(key: str) -> str:
    """The path of an annotation in messages."""
    return f"metadata.annotations[{key}]"


SAME = {keys.UNIFORM: "all-same-node"}
SEPARATE = {keys.UNIFORM: "all-separate-nodes"}
WORKER = {"streams.ibm.com/worker": "true"}
"""The label by which workers know one another."""
