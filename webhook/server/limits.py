"""Every bound on what a client may send, hold or keep waiting (``docs/operations.md``)."""

from msgspec import Struct

KIB = 1024
MIB = 1024 * KIB


class Limits(Struct, frozen=True, gc=False, kw_only=True):
    """Bounds of a listening port; sizes in bytes, times in seconds."""

    body: int = 8 * MIB
    """The API server sends an object and its old self, of up to 3 MiB each; 2 MiB are left for the envelope."""

    small_body: int = 64 * KIB
    """A body that is read without a reservation: honest reviews of pods have 4 to 50 KB. All connections together hold
    at most 64 MB of these."""

    bodies: int = 32 * MIB
    """All larger bodies that are read or decided about at a time. The one that is decided about is in memory three
    times, as bytes, as what was read of it and as an answer: some 60 MB in all."""

    share: int = 16 * MIB
    """What of it one address may take: two of the largest bodies."""

    room_seconds: float = 2.0
    """For how long a larger body waits for room: less than the 3 s that the API server waits for an answer, by the
    chart's default."""

    body_rate: int = 4 * MIB
    """Bytes a second that a larger body has to come with, once there is room for it and after one second of grace: it
    takes room from others meanwhile. A network of 100 Mbit/s carries three times as much."""

    read_ahead: int = 32 * KIB
    """Bytes of a body that are read before anybody asks for them: aiohttp stops at twice as many."""

    receive_buffer: int = 64 * KIB
    """Bytes of a connection that the kernel holds until they are read, and that are read at once. TLS keeps a buffer of
    that size as long as the connection lasts."""

    unsent: int = 64 * KIB
    """Bytes of answers that wait on a connection to be read, before it is not read any more either."""

    header_line: int = 8190
    """One header line, and one field of it: aiohttp's default. The API server's longest, User-Agent, is some 100."""

    header_fields: int = 64
    """Header fields of one request; the API server sends eight."""

    header: int = 32 * KIB
    """A whole header: the two limits above would allow half a mebibyte."""

    header_seconds: float = 10.0
    """From the opening of a connection, or the first byte of a later request, to the end of the header; and for how
    long a client may leave an answer unread. A third of the API server's longest time-out for webhooks, 30 s."""

    handshake_seconds: float = 10.0
    """For a TLS handshake, which takes two round trips: the same patience as for a header."""

    farewell_seconds: float = 2.0
    """For a client to take notice of a connection's end: TLS closure, and reading an early refusal while it sends."""

    connections: int = 1000
    """Open connections, handshakes among them; each costs about 60 KB with TLS, and once it was read from up to 130 KB
    more: 190 MB when all are taken."""

    patience_seconds: float = 1.0
    """For how long a client may keep others from connecting while its body arrives, when all connections are taken."""

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

    def arrival(self, size: int) -> float:
        """Seconds within which a larger body of so many bytes has to be there."""
        return 1.0 + size / self.body_rate

    def allowance(self, asked: float | None) -> float:
        """Seconds for a review whose caller waits ``asked`` seconds (``None``: did not say)."""
        limit = self.deadline_seconds if asked is None else min(asked, self.deadline_seconds)
        return limit - min(self.margin_seconds, limit / 2)


REVIEWS = Limits()
"""The bounds of the port for reviews."""

HEALTH = Limits(body=0, connections=100, keep_alive_seconds=75.0)
"""The bounds of the port for health: the kubelet's probes, and a few scrapers that ask every minute at most."""
