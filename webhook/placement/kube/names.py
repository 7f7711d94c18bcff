"""Names that Kubernetes accepts: of objects, of namespaces, of labels, and label values.

Sources: Kubernetes, "Object Names and IDs" and "Labels and Selectors"; apimachinery, ``util/validation``. The patterns
for schemas have the same meaning in Go (the API server) and in Python.
"""

import re
from typing import Final

from webhook.placement.text.keys import LABEL_LIMIT

NAME_LIMIT: Final = 253
"""Characters of an object's name, which is a DNS subdomain."""

KEY_LIMIT: Final = NAME_LIMIT + 1 + LABEL_LIMIT
"""Characters of a label key: the prefix, a slash, the name."""

_PART: Final = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"

DNS_SUBDOMAIN: Final = rf"{_PART}(?:\.{_PART})*"
"""A DNS subdomain in lower case (RFC 1123), not anchored; its length is checked apart from it."""

OBJECT_NAME: Final = f"^{DNS_SUBDOMAIN}$"
"""The name of an object, for schemas."""

DNS_LABEL: Final = "[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
"""The name of a namespace: a DNS label of at most 63 characters (RFC 1123), not anchored."""

_LABEL_NAME: Final = "[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"

LABEL_NAME: Final = re.compile(_LABEL_NAME, re.ASCII)
"""The name in a label key or in a resource name, and a label value that is not empty; for use with ``fullmatch``."""

LABEL_VALUE: Final = re.compile(f"(?:{_LABEL_NAME})?", re.ASCII)
"""Label values, including the empty one; for use with ``fullmatch``."""

_DNS_SUBDOMAIN: Final = re.compile(DNS_SUBDOMAIN, re.ASCII)
_DNS_LABEL: Final = re.compile(DNS_LABEL, re.ASCII)


def is_object_name(text: str) -> bool:
    """Whether an object, such as a node, can have the name: a DNS subdomain of at most 253 characters."""
    return len(text) <= NAME_LIMIT and _DNS_SUBDOMAIN.fullmatch(text) is not None


def is_namespace(text: str) -> bool:
    """Whether a namespace can have the name: a DNS label of at most 63 characters."""
    return _DNS_LABEL.fullmatch(text) is not None
