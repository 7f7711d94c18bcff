"""Reviews of Jobs of two elements that must be on two nodes."""

from tests.builders import Json, review
from webhook.cluster.judging.job_worker import LARGE as LARGE_BYTES

GROUP = "streams.ibm.com"
APART = 'hostExlocation("apart")'


def elements(*placements: str) -> Json:
    """A spec with an element for each placement."""
    found = [{"operators": [{"name": f"Op{at}", "placement": text}]} for at, text in enumerate(placements)]
    return {"bundle": {"name": "a.sab"}, "processingElements": found}


def job_review(spec: Json) -> bytes:
    """The review of a Job with that spec, which is created."""
    return review({"metadata": {"name": "parallel"}, "spec": spec}, kind="Job", group=GROUP)


TWO = job_review(elements(APART, APART))
"""Fits on two nodes."""

MANY = job_review(elements(APART, APART, *[""] * 28))
"""The same, with more elements that may be anywhere: too many for their rules to be checked at once."""

LARGE = TWO + b" " * LARGE_BYTES
"""The same as the first one, in a body that only the worker decodes."""
