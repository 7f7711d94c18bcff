"""A Streams Job object as a plain value: its processing elements with their placement and resources."""

from msgspec import Struct

from webhook.placement.kube.pod import Resources


class Element(Struct, frozen=True, gc=False):
    """A processing element in a Job object: its name, and the placement texts of its operators."""

    name: str
    placements: tuple[tuple[str, str], ...] = ()
    """Pairs of operator name and placement text."""
    cpu_bound: bool = False
    """Whether the element's pod is to be bound to cpus."""
    resources: Resources | None = None
    """What the element's container gets where the Job itself states no resources."""


class StreamsJob(Struct, frozen=True, gc=False):
    """A Job object (``streams.ibm.com/v1``): its processing elements with their placement."""

    namespace: str
    name: str
    elements: tuple[Element, ...] = ()
    resources: Resources | None = None
    """What is divided among the elements."""
    deleting: bool = False
