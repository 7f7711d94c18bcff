"""Every bound on what a client may send, hold or keep waiting (``docs/operations.md``)."""

from msgspec import Struct

MIB = 1024 * 1024


class Limits(Struct, frozen=True, gc=False, kw_only=True):
    """Bounds of a listening port; sizes in bytes, times in seconds."""

    body: int = 8 * MIB
    """The API server sends an object and its old self, of up to 3 MiB each; 2 MiB are left for the envelope."""

    header_line: int = 8190
    """One header line, and one field of it: aiohttp's default. The API server's longest, User-Agent, is some 100."""

    header_fields: int = 64
    """Header fields of one request; the API server sends eight."""

    header_seconds: float = 10.0
    """From the opening of a connection, or the first byte of a later request, to the end of the header; and for how
    long a client may leave an answer unread. A third of the API server's longest time-out for webhooks, 30 s."""

    handshake_seconds: float = 10.0
    """For a TLS handshake, which takes two round trips: the same patience as for a header."""

    farewell_seconds: float = 2.0
    """For a client to take notice of a connection's end: TLS closure, and reading an early refusal while it sends."""

    connections: int = 1000
    """Open connections, handshakes among them; each costs about 60 KB with TLS, so 60 MB when all are taken."""

    backlog: int = 1024
    """Connections the kernel holds until they are accepted."""

    keep_alive_seconds: float = 3630.0
    """How long an idle connection is kept. The API server closes its own after 90 s and proxies theirs after up to
    3,600 s; whoever closes first must be the client, or its next request races with the closing. 30 s are to spare."""

    deadline_seconds: float = 10.0
    """Longest time for one review: what the API server allows by default (``timeoutSeconds``)."""

    margin_seconds: float = 0.2
    """How much earlier than the API server this side gives up, so that the reason still reaches it."""

    finish_seconds: float = 20.0
    """For running requests when the process ends; with 5 s of draining it stays below Kubernetes' 30 s grace."""

    def allowance(self, asked: float | None) -> float:
        """Seconds for a review whose caller waits ``asked`` seconds (``None``: did not say)."""
        limit = self.deadline_seconds if asked is None else min(asked, self.deadline_seconds)
        return limit - min(self.margin_seconds, limit / 2)


REVIEWS = Limits()
"""The bounds of the port for reviews."""

HEALTH = Limits(body=0, connections=100, keep_alive_seconds=75.0)
"""The bounds of the port for health: the kubelet's probes, and a few scrapers that ask every minute at most."""
