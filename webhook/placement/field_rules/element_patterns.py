"""Regular expressions for texts in a Job and a ProcessingElement: paths, quantities, GitHub's URLs.

Each pattern is anchored at both ends, and has the same meaning in Go (the API server) and in Python.
"""

from typing import Final

ABSOLUTE_PATH: Final = "^/.*$"

_SEGMENT: Final = r"(?:[^/.][^/]*|\.[^/.][^/]*|\.\.[^/]+|\.)"

RELATIVE_PATH: Final = f"^{_SEGMENT}(?:/{_SEGMENT}?)*$"
"""A path that does not begin with ``/`` and has no element ``..``, as Kubernetes wants a ``subPath``."""

_EXPONENT: Final = "0*(?:[0-9]{1,2}|1[01][0-9]|12[0-8])"

QUANTITY: Final = rf"^\+?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[KMGTPE]i|[numkMGTPE]|[eE][-+]?{_EXPONENT})?$"
"""An amount that is not negative (Kubernetes, ``resource.Quantity``), with an exponent from -128 to 128."""

GITHUB_URL: Final = r"^https://[^/\s]+(?:/[^/\s]+)*/repos/[^/\s]+/[^/\s]+/contents/\S+\.sab$"
"""A bundle in a repository, as version 3 of GitHub's API has it."""
