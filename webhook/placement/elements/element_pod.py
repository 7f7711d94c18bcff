"""The pod of a processing element, as far as the state machine looks at it."""

from typing import Final

from msgspec import Struct

_TERMINAL: Final = frozenset({"Succeeded", "Failed"})


class ElementPod(Struct, frozen=True, gc=False, kw_only=True):
    """A pod whose controller is a ProcessingElement: ``element``, of the uid ``owner``.

    ``version`` is its resourceVersion as a number. ``launch`` is part of its name, 0 if the name is another one.
    ``disruption`` is the reason of a true condition DisruptionTarget: the pod was evicted or preempted, or its node is
    lost. ``exit_code``, ``reason`` and ``message`` are those of the container that ended the pod. ``trouble`` says what
    a container waits for, such as an image. ``started`` and ``finished`` are seconds since 1970, 0 if not known.
    """

    namespace: str
    name: str
    uid: str
    element: str
    owner: str
    version: int = 0
    launch: int = 0
    content_id: str = ""
    phase: str = "Pending"
    node: str = ""
    deleting: bool = False
    disruption: str = ""
    exit_code: int | None = None
    reason: str = ""
    message: str = ""
    trouble: str = ""
    ready: bool = False
    unready: str = ""
    unscheduled: str = ""
    """The scheduler's words while the pod has no node."""
    started: float = 0.0
    finished: float = 0.0

    @property
    def terminal(self) -> bool:
        """Whether all of its containers have ended and none is started again."""
        return self.phase in _TERMINAL

    @property
    def failed(self) -> bool:
        """Whether it ended in a failure: of its own, or as it was evicted, preempted, or lost with its node."""
        return self.terminal and (self.phase == "Failed" or bool(self.disruption))

    def ran(self, now: float) -> float:
        """Seconds from its start to its end, or to ``now``."""
        return max(0.0, (self.finished or now) - self.started) if self.started else 0.0
