"""The spec of a ParallelRegion, the object by which a parallel region of a Job is scaled (``docs/fusion.md``)."""

import hashlib
import re
from typing import Annotated, Final

from msgspec import Struct

from webhook.placement.field_rules.rules import NumberRule, TextRule, object_name
from webhook.placement.objects.jobs.job_operators import REGION_NAME, REGION_NAME_LIMIT, WIDTH_LIMIT
from webhook.placement.text.keys import LABEL_LIMIT

_DIGITS: Final = 6
"""Hexadecimal digits by which regions differ whose names are equal as names of objects."""

_PLAIN: Final = re.compile(r"[a-z0-9]+")
"""Names of regions that are parts of names of objects as they are."""


class ParallelRegionSpec(Struct, frozen=True, gc=False, forbid_unknown_fields=True, rename="camel"):
    """The spec; ``job_width`` is what the Job stated when the controller last took over its width."""

    job: Annotated[str, object_name("Job that has the parallel region.", LABEL_LIMIT, needed="a region has a Job")] = ""
    region: Annotated[
        str,
        TextRule(
            about="Name of the parallel region in the Job.",
            least=1,
            most=REGION_NAME_LIMIT,
            pattern=REGION_NAME,
            form="is not an identifier of SPL",
        ),
    ] = ""
    width: Annotated[int, NumberRule("Desired number of channels.", 1, WIDTH_LIMIT)] = 1
    max_width: Annotated[
        int | None, NumberRule("Largest number of channels; the controller copies it from the Job.", 1, WIDTH_LIMIT)
    ] = None
    job_width: Annotated[
        int | None,
        NumberRule("Width that the Job states; the controller sets width to it when it changes.", 1, WIDTH_LIMIT),
    ] = None


def region_object_name(job: str, region: str) -> str:
    """The name of the ParallelRegion object: the Job, and the region in lower case.

    What a name of an object cannot hold becomes a hyphen, and a hash is added then.
    """
    if _PLAIN.fullmatch(region):
        return f"{job}-{region}"
    text = re.sub(r"[^a-z0-9]+", "-", region.lower()).strip("-")
    return "-".join(filter(None, (job, text, hashlib.sha256(region.encode()).hexdigest()[:_DIGITS])))
