"""How long another's Lease has been seen without a renewal, by one's own clock."""

from msgspec import Struct

from webhook.controller.clock import Clock
from webhook.controller.leaderelection.lease import Record


class Observation(Struct):
    """What a candidate has seen; ``duration`` is for leases that do not say how long they are held."""

    clock: Clock
    duration: float
    _version: tuple[str, str] | None = None
    _since: float = 0.0
    _promised: float = 0.0

    def left(self, record: Record | None, identity: str) -> float:
        """Seconds until the lease, as it was just read, may be taken; ``None`` is one that is not there.

        A lease that somebody deletes is still led on for a while. So its absence is waited out like a holder, but for
        a candidate that has never seen it: the first one of an installation shall not wait.
        """
        version = record.version if record else ("", "")
        if version != self._version:
            # After the answer, not before the question: the holder may have renewed in between.
            self._version, self._since = version, self.clock()
        if record is not None:
            self._promised = record.duration or self.duration
            if record.holder in {"", identity}:
                return 0.0
        return self._since + self._promised - self.clock()
